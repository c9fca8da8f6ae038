"""Files that a pack writes are its own: it writes through no link, and to no pipe or device."""

import os
import stat

import pytest

from packing.samples import mixed_source
from packing.test_changed_source import interrupt
from penstock.errors import PackError
from penstock.packing.pack import pack
from penstock.packing.unpack import unpack

pytestmark = pytest.mark.usefixtures("fake_codec")

KINDS = ("symlink", "dangling", "hardlink", "fifo", "folder", "null")


def plant(path, kind, victim):
    if kind == "symlink":
        path.symlink_to(victim)
    elif kind == "dangling":
        path.symlink_to(victim.with_name("not there"))
    elif kind == "hardlink":
        path.hardlink_to(victim)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/null")


@pytest.fixture
def victim(tmp_path):
    """Somebody's file, which must stay as it is."""
    path = tmp_path / "precious"
    path.write_bytes(b"precious")
    yield path
    assert path.read_bytes() == b"precious"
    assert not (tmp_path / "not there").exists()


def kind_of(path):
    return stat.S_IFMT(path.lstat().st_mode)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".partial", ".journal", ".lock"])
@pytest.mark.parametrize("resume", [False, True])
def test_a_file_of_that_name_that_is_not_ours_is_not_written_to(
    tmp_path, victim, kind, suffix, resume
):
    folder = tmp_path / "packs"
    folder.mkdir()
    planted = folder / f"a.pen{suffix}"
    plant(planted, kind, victim)
    before = kind_of(planted)
    with pytest.raises(PackError):
        pack(mixed_source(), folder / "a.pen", resume=resume)
    assert os.listdir(folder) == [planted.name]
    assert kind_of(planted) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".partial", ".journal"])
@pytest.mark.parametrize("shards", [1, 2])
def test_what_was_left_is_looked_at_before_it_is_resumed(tmp_path, victim, kind, suffix, shards):
    target = tmp_path / "a.pen"
    interrupt(target, shards, stop=3)
    left = target if shards == 1 else target / "00000-of-00002.pen"
    planted = left.with_name(left.name + suffix)
    saved = tmp_path / "saved"
    planted.rename(saved)
    plant(planted, kind, victim)
    with pytest.raises(PackError, match="not a file that an interrupted pack left behind"):
        pack(mixed_source(9), target, shards=shards, resume=True)
    planted.rmdir() if kind == "folder" else planted.unlink()
    saved.rename(planted)
    pack(mixed_source(9), target, shards=shards, resume=True)


@pytest.mark.parametrize("kind", ["symlink", "dangling", "fifo", "null"])
def test_other_files_of_a_pack(tmp_path, victim, kind):
    target = tmp_path / "set"
    interrupt(target, 2)
    planted = target / "manifest.json.partial"
    plant(planted, kind, victim)
    with pytest.raises(PackError, match="not a file that an interrupted pack left behind"):
        pack(mixed_source(9), target, shards=2, resume=True)
    planted.unlink()
    pack(mixed_source(9), target, shards=2, resume=True)

    for name in ("a.tar.partial", "a.tar.lock", "a.tar"):
        plant(tmp_path / name, kind, victim)
        with pytest.raises(PackError):
            unpack(target, tmp_path / "a.tar")
        (tmp_path / name).unlink()
    unpack(target, tmp_path / "a.tar")


def test_a_dangling_link_is_no_free_name(tmp_path, victim):
    plant(tmp_path / "a.pen", "dangling", victim)
    plant(tmp_path / "out", "dangling", victim)
    with pytest.raises(PackError, match="exists already"):
        pack(mixed_source(), tmp_path / "a.pen")
    pack(mixed_source(), tmp_path / "b.pen")
    with pytest.raises(PackError, match="exists already"):
        unpack(tmp_path / "b.pen", tmp_path / "out")
