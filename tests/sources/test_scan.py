"""A scan is remembered while it holds, and only then."""

import hashlib
import io
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from penstock.sources import scan as remembered_scan
from penstock.sources.scan import Scan, find_images

Make = Callable[..., Path]
Age = Callable[[Path], None]


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the roots that were really scanned, in order."""
    done: list[str] = []
    scan_folder = remembered_scan.scan_folder

    def counted(root: str, *, progress: bool | None = None) -> Scan:
        done.append(root)
        return scan_folder(root, progress=progress)

    monkeypatch.setattr(remembered_scan, "scan_folder", counted)
    return done


def names(scan: Scan) -> list[str]:
    return list(scan.files)


def test_the_second_time_nothing_is_scanned(make_files: Make, age: Age, scans: list[str]) -> None:
    root = make_files("a/1.jpg", "a/sub/2.jpg", "b/3.jpg")
    age(root)
    first = find_images(str(root))
    second = find_images(str(root))
    assert len(scans) == 1
    assert names(first) == names(second) == ["a/1.jpg", "a/sub/2.jpg", "b/3.jpg"]
    assert second.file_counts.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "a" / "new.jpg").touch(),
        lambda root: (root / "a" / "sub" / "2.jpg").unlink(),
        lambda root: (root / "b" / "3.jpg").rename(root / "b" / "4.jpg"),
        lambda root: (root / "c").mkdir(),
        lambda root: (root / "b").rename(root / "z"),
    ],
    ids=["added", "removed", "renamed", "new folder", "renamed folder"],
)
def test_any_change_is_noticed(
    make_files: Make, age: Age, scans: list[str], change: Callable[[Path], object]
) -> None:
    root = make_files("a/1.jpg", "a/sub/2.jpg", "b/3.jpg")
    age(root)
    find_images(str(root))
    change(root)
    found = find_images(str(root))
    assert len(scans) == 2
    assert sorted(names(found)) == sorted(str(p.relative_to(root)) for p in root.rglob("*.jpg"))


def test_refresh_scans_again(make_files: Make, age: Age, scans: list[str]) -> None:
    root = make_files("a/1.jpg")
    age(root)
    find_images(str(root))
    find_images(str(root), refresh=True)
    assert len(scans) == 2


def test_a_folder_changed_just_now_is_not_remembered(make_files: Make, cache: Path) -> None:
    """A second change in the same tick of the file system's clock would go unseen."""
    find_images(str(make_files("a/1.jpg")))
    assert not list(cache.rglob("*.scan"))


def test_a_link_pointed_elsewhere_is_another_folder(make_files: Make, age: Age) -> None:
    one, two = make_files("a/1.jpg", root="one"), make_files("a/2.jpg", root="two")
    age(one)
    age(two)
    link = one.parent / "link"
    link.symlink_to(one)
    assert names(find_images(str(link))) == ["a/1.jpg"]
    link.unlink()
    link.symlink_to(two)
    assert names(find_images(str(link))) == ["a/2.jpg"]


def test_a_damaged_cache_only_costs_a_scan(
    make_files: Make, age: Age, cache: Path, scans: list[str]
) -> None:
    """Whatever is cut off, and whichever bit flips."""
    root = make_files(*(f"a/{i}.jpg" for i in range(5)))
    age(root)
    expected = names(find_images(str(root)))
    (kept,) = cache.rglob("*.scan")
    whole = kept.read_bytes()
    damaged = [b"", whole[:100], whole[:-30], b"\0" * len(whole), b"\x93NUMPY" + whole, whole * 2]
    for place in range(len(whole)):
        flipped = whole[place] ^ 1 << place % 8
        damaged.append(whole[:place] + bytes([flipped]) + whole[place + 1 :])
    for data in damaged:
        assert recalled(kept, data, root) is None
    kept.write_bytes(damaged[-1])
    assert names(find_images(str(root))) == expected
    assert len(scans) == 2
    assert kept.read_bytes() == whole  # made good


def recalled(kept: Path, data: bytes, root: Path) -> Scan | None:
    kept.write_bytes(data)
    return remembered_scan._recall(kept, os.fsencode(os.path.realpath(root)))


@pytest.mark.parametrize(
    "arrays",
    [
        {"file_offsets": np.array([0, 99], np.int64)},
        {"file_offsets": np.array([0, 5, 3, 7], np.int64)},
        {"file_offsets": np.zeros((2, 2), np.int64)},
        {"file_counts": np.array([0, -1], np.int64)},
        {"file_counts": np.array([0.5, 0.5])},
        {"stamps": np.zeros(7, np.int64)},
        {"directory_blob": np.frombuffer(b"\0", np.uint8)},
        {"file_blob": np.array([{}], object)},
        {"root": np.frombuffer(b"/elsewhere", np.uint8)},
    ],
    ids=lambda arrays: next(iter(arrays)),
)
def test_a_cache_with_wrong_arrays_only_costs_a_scan(
    make_files: Make, age: Age, cache: Path, scans: list[str], arrays: dict[str, object]
) -> None:
    """Written by another version, say: the checksum is right."""
    root = make_files("a/1.jpg")
    age(root)
    find_images(str(root))
    (kept,) = cache.rglob("*.scan")
    begin = len(remembered_scan.MAGIC) + remembered_scan.DIGEST_BYTES
    with np.load(io.BytesIO(kept.read_bytes()[begin:])) as stored:
        content = dict(stored)
    body = io.BytesIO()
    np.savez(body, **{**content, **arrays})
    digest = hashlib.sha256(body.getvalue()).digest()
    kept.write_bytes(remembered_scan.MAGIC + digest + body.getvalue())
    assert names(find_images(str(root))) == ["a/1.jpg"]
    assert len(scans) == 2


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "another user's"])
def test_a_cache_file_of_another_kind_only_costs_a_scan(
    make_files: Make,
    age: Age,
    cache: Path,
    scans: list[str],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = make_files("a/1.jpg")
    age(root)
    find_images(str(root))
    (kept,) = cache.rglob("*.scan")
    moved = kept.rename(kept.with_name("moved"))
    if kind == "link":
        kept.symlink_to(moved)
    elif kind == "fifo":
        os.mkfifo(kept)
    elif kind == "folder":
        kept.mkdir()
    else:
        moved.rename(kept)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert names(find_images(str(root))) == ["a/1.jpg"]
    assert len(scans) == 2
    assert not list(cache.rglob("*.tmp"))


def next_tick(folder: Path) -> None:
    """Let the file system's clock move on."""
    probe = folder.parent / "tick"
    probe.touch()
    before_ns = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before_ns:
        probe.touch()


def test_a_file_added_under_a_restored_time_is_seen(
    make_files: Make, age: Age, scans: list[str]
) -> None:
    """As after tar or rsync, which put back the times of folders."""
    root = make_files("a/1.jpg")
    age(root)
    find_images(str(root))
    before = (root / "a").stat()
    next_tick(root)
    make_files(*(f"a/{i}.jpg" for i in range(2, 62)))
    os.utime(root / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (root / "a").stat().st_mtime_ns == before.st_mtime_ns
    assert len(find_images(str(root)).files) == 61
    assert len(scans) == 2


def test_a_folder_in_anothers_place_is_scanned(
    make_files: Make, age: Age, scans: list[str], tmp_path: Path
) -> None:
    root = make_files("a/1.jpg")
    other = make_files("2.jpg", root="other")
    for folder in (root, other):
        age(folder)
    find_images(str(root))
    (root / "a").rename(tmp_path / "old")
    other.rename(root / "a")
    age(root)
    assert names(find_images(str(root))) == ["a/2.jpg"]
    assert len(scans) == 2


def test_a_file_system_without_times_is_scanned_each_time(
    make_files: Make, age: Age, cache: Path
) -> None:
    root = make_files("a/1.jpg")
    age(root)
    os.utime(root / "a", ns=(0, 0))
    find_images(str(root))
    assert not list(cache.rglob("*.scan"))


def test_two_processes_write_the_cache_at_once(make_files: Make, age: Age, cache: Path) -> None:
    root = make_files(*(f"a/{i}.jpg" for i in range(30)))
    age(root)
    find_images(str(root))
    (kept,) = cache.rglob("*.scan")
    whole = kept.read_bytes()
    scan = find_images(str(root))
    real_root = os.fsencode(os.path.realpath(root))

    def write() -> None:
        for _ in range(20):
            remembered_scan._remember(scan, kept, real_root)

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert remembered_scan._recall(kept, real_root) is not None
    assert kept.read_bytes() == whole
    assert list(cache.rglob("*.tmp")) == []


def test_a_cache_that_cannot_be_written_is_no_error(
    make_files: Make, age: Age, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_files("a/1.jpg")
    age(root)
    (tmp_path / "file").touch()
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "file" / "below"))
    assert names(find_images(str(root))) == ["a/1.jpg"]


def test_a_full_disk_leaves_no_half_written_file(
    make_files: Make, age: Age, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_files("a/1.jpg")
    age(root)

    def no_space(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    find_images(str(root))
    assert not [file for file in cache.rglob("*") if file.is_file()]


def test_what_killed_processes_left_is_removed(make_files: Make, age: Age, cache: Path) -> None:
    folder = make_files("a/1.jpg")
    age(folder)
    find_images(str(folder))
    (kept,) = cache.rglob("*.scan")
    left, fresh = (kept.with_name(f"{name}.tmp") for name in ("left", "fresh"))
    for file in (left, fresh):
        file.touch()
    long_ago_s = time.time() - 7200
    os.utime(left, (long_ago_s, long_ago_s))
    find_images(str(folder), refresh=True)
    assert not left.exists()
    assert fresh.exists()


def test_an_interruption_leaves_no_half_written_file(
    make_files: Make, age: Age, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_files("a/1.jpg")
    age(folder)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        find_images(str(folder))
    assert not [file for file in cache.rglob("*") if file.is_file()]


def test_twenty_thousand_files(make_files: Make, age: Age, scans: list[str]) -> None:
    root = make_files(*(f"{c:02}/{i:04}.jpg" for c in range(20) for i in range(1000)))
    age(root)
    first = find_images(str(root))
    again = find_images(str(root))
    assert len(scans) == 1
    assert len(first.files) == len(again.files) == 20_000
    assert again.files[12_345] == "12/0345.jpg"


def test_a_long_scan_shows_a_bar_when_asked(
    make_files: Make, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("penstock.progress.QUIET_FOR_S", 0.0)
    root = make_files("a/1.jpg", "a/2.jpg")
    find_images(str(root))
    assert capfd.readouterr().err == ""
    find_images(str(root), progress=True)
    assert "2 files" in capfd.readouterr().err


def test_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.user_cache import user_cache_folder

    monkeypatch.setenv("PENSTOCK_CACHE", "/x/y")
    assert user_cache_folder() == Path("/x/y")
    monkeypatch.delenv("PENSTOCK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert user_cache_folder() == Path("/xdg/penstock")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert user_cache_folder() == Path.home() / ".cache" / "penstock"
    for wrong in ("", "not/absolute"):
        monkeypatch.setenv("HOME", wrong)
        assert user_cache_folder() is None


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"HOME": "/nonexistent"},
        {"HOME": "/proc"},
        {"XDG_CACHE_HOME": "/dev/full"},
        {"XDG_CACHE_HOME": "relative", "HOME": ""},
        {"PENSTOCK_CACHE": "~nobody_of_this_name/cache", "HOME": "/nonexistent"},
    ],
    ids=str,
)
def test_a_user_without_name_and_home_opens_a_folder(
    make_files: Make, age: Age, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    """As in a container that runs under a number."""

    def unknown(_: object) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.setattr("pwd.getpwnam", unknown)
    for name in ("PENSTOCK_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    root = make_files("a/1.jpg", "b/2.jpg")
    age(root)
    monkeypatch.chdir(root.parent)
    for _ in range(2):
        assert names(find_images(str(root))) == ["a/1.jpg", "b/2.jpg"]
