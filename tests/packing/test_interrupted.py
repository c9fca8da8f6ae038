"""A pack that is interrupted, however and whenever, can be resumed to the very same file."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from packing.samples import ListSource, mixed_source
from penstock.errors import DecodeError, PackError
from penstock.packing import disk, parts
from penstock.packing import write as write_module
from penstock.packing.items import PackItem
from penstock.packing.pack import pack
from penstock.packing.read import PackFile
from penstock.packing.shards import MANIFEST
from penstock.packing.verify import verify
from python_child import run_python

pytestmark = pytest.mark.usefixtures("fake_codec")

OPERATIONS = ("write_all", "sync", "truncate", "rename", "remove")
SAMPLES = 9


class Crash(BaseException):
    """Ends the program there and then: nothing in the package catches it."""


def source():
    listed = mixed_source(SAMPLES)
    listed.listed[4] = PackItem("broken\udcff.jpg", b"no image", listed.listed[4].columns)
    return listed


@pytest.fixture
def undisturbed(tmp_path, monkeypatch):
    """The bytes of the file when nothing happens.

    Syncs come often, so that all kinds are met; and blocks are small, so that there are several.
    """
    monkeypatch.setattr(parts, "BLOCK_BYTES", 2000)
    monkeypatch.setitem(write_module.PackWriter.__init__.__kwdefaults__, "sync_bytes", 1500)
    pack(source(), tmp_path / "whole.pen", on_error="skip")
    assert len(PackFile(tmp_path / "whole.pen").blocks["first"]) > 2
    return (tmp_path / "whole.pen").read_bytes()


def crash_at(monkeypatch, moment, *, halfway):
    """Crash in the given disk operation, before it or with half of the bytes written."""
    count = 0

    def wrap(name, real):
        def operate(*args):
            nonlocal count
            count += 1
            if count == moment:
                if halfway and name == "write_all":
                    real(args[0], args[1][: len(args[1]) // 2])
                raise Crash
            real(*args)

        return operate

    for name in OPERATIONS:
        monkeypatch.setattr(disk, name, wrap(name, getattr(disk, name)))


@pytest.mark.slow
@pytest.mark.parametrize("halfway", [False, True])
def test_a_crash_at_any_operation_can_be_resumed(tmp_path, monkeypatch, undisturbed, halfway):
    target = tmp_path / "a.pen"
    moment = 0
    while True:
        moment += 1
        with monkeypatch.context() as patch:
            crash_at(patch, moment, halfway=halfway)
            try:
                pack(source(), target, on_error="skip")
            except Crash:
                assert not target.exists() or target.read_bytes() == undisturbed
            else:
                break
        summary = pack(source(), target, on_error="skip", resume=True)
        assert target.read_bytes() == undisturbed, moment
        assert len(summary.skipped) == 1
        assert sorted(os.listdir(tmp_path)) == ["a.pen", "whole.pen"]
        target.unlink()
    assert moment > 3 * SAMPLES


def test_a_resume_may_crash_too(tmp_path, monkeypatch, undisturbed):
    """Each attempt gets a little further than the one before."""
    target = tmp_path / "a.pen"
    for moment in range(1, 400):
        with monkeypatch.context() as patch:
            crash_at(patch, 6 + moment // 2, halfway=moment % 2 == 0)
            try:
                pack(source(), target, on_error="skip", resume=True)
                break
            except Crash:
                continue
    assert target.read_bytes() == undisturbed


def test_records_lost_in_a_power_failure_are_written_again(tmp_path, monkeypatch, undisturbed):
    """The journal may reach the disk before the records it tells of."""
    target = tmp_path / "a.pen"
    with monkeypatch.context() as patch:
        patch.setitem(write_module.PackWriter.__init__.__kwdefaults__, "sync_bytes", 1 << 30)
        crash_at(patch, 22, halfway=False)
        with pytest.raises(Crash):
            pack(source(), target, on_error="skip")
    partial = Path(f"{target}.partial")
    partial.write_bytes(partial.read_bytes()[:-128] + bytes(128))
    pack(source(), target, on_error="skip", resume=True)
    assert target.read_bytes() == undisturbed


def test_a_full_disk_is_told_and_can_be_resumed(tmp_path, monkeypatch, undisturbed):
    target = tmp_path / "a.pen"
    real, room = disk.write_all, 4000

    def write_until_full(file, data):
        nonlocal room
        if room < len(data):
            real(file, data[:room])
            raise OSError(errno.ENOSPC, "No space left on device")
        room -= len(data)
        real(file, data)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "write_all", write_until_full)
        with pytest.raises(PackError, match=r"disk is full: about .* needed, .* free.*--resume"):
            pack(source(), target, on_error="skip")
    assert not target.exists()
    pack(source(), target, on_error="skip", resume=True)
    assert target.read_bytes() == undisturbed


def test_a_bad_file_can_be_mended_and_resumed(tmp_path):
    listed = source()
    with pytest.raises(DecodeError, match=r"broken.*: not an image.*--on-error=skip"):
        pack(listed, tmp_path / "a.pen")
    mended = mixed_source(SAMPLES)
    mended.listed[4] = PackItem("broken\udcff.jpg", mended.listed[4].data, mended.listed[4].columns)
    pack(mended, tmp_path / "a.pen", resume=True)
    assert mended.started == [0]  # those before, too, to see that they are what they were
    pack(mended, tmp_path / "b.pen")
    assert (tmp_path / "a.pen").read_bytes() == (tmp_path / "b.pen").read_bytes()


def test_shards_can_be_resumed(tmp_path, monkeypatch):
    pack(mixed_source(7), tmp_path / "whole", shards=3)
    for moment in (1, 12, 40, 60, 80):
        with monkeypatch.context() as patch:
            crash_at(patch, moment, halfway=True)
            with pytest.raises(Crash):
                pack(mixed_source(7), tmp_path / "set", shards=3)
        assert not (tmp_path / "set" / MANIFEST).exists()
        pack(mixed_source(7), tmp_path / "set", shards=3, resume=True)
        names = sorted(os.listdir(tmp_path / "whole"))
        assert sorted(os.listdir(tmp_path / "set")) == names
        for name in names:
            whole = (tmp_path / "whole" / name).read_bytes()
            assert (tmp_path / "set" / name).read_bytes() == whole
        shutil.rmtree(tmp_path / "set")


def test_what_cannot_be_resumed_is_refused(tmp_path, monkeypatch):
    target = tmp_path / "a.pen"
    with monkeypatch.context() as patch:
        crash_at(patch, 14, halfway=False)
        with pytest.raises(Crash):
            pack(mixed_source(), target)
    with pytest.raises(PackError, match="an unfinished pack is there"):
        pack(mixed_source(), target)
    with pytest.raises(PackError, match="begun with other columns, classes or settings"):
        pack(mixed_source(), target, resume=True, quality=50)
    other = mixed_source()
    other.listed.insert(0, other.listed.pop())
    with pytest.raises(PackError, match=r"sample 0 was class0/0.jpg, and is class1/5.jpeg now"):
        pack(other, target, resume=True)
    pack(mixed_source(), target, resume=True)
    with pytest.raises(PackError, match="exists already"):
        pack(mixed_source(), target)
    with pytest.raises(PackError, match="finished, but with other columns"):
        pack(ListSource([]), target, resume=True)


@pytest.mark.slow
def test_fifty_kills_at_random_moments(tmp_path):
    """The real thing: kill -9, in a process of its own that starts and kills others."""
    script = Path(__file__).with_name("kill_packers.py")
    told = run_python(script, tmp_path, 50)
    assert "50 killed" in told
    assert verify(tmp_path / "whole.pen").intact


def failing_source():
    listed = source()
    listed.listed.insert(0, listed.listed.pop(4))
    return listed


@pytest.mark.parametrize("shards", [1, 3])
def test_a_pack_that_fails_at_its_first_sample_leaves_nothing(tmp_path, shards):
    target = tmp_path / "a.pen"
    with pytest.raises(DecodeError, match=r"broken.*: not an image"):
        pack(failing_source(), target, shards=shards)
    assert os.listdir(tmp_path) == []
    assert pack(failing_source(), target, shards=shards, on_error="skip").samples == SAMPLES - 1


def test_a_row_that_cannot_be_read_first_leaves_nothing(tmp_path):
    listed = mixed_source()
    listed.listed[0] = PackItem("a.jpg", listed.listed[0].data, {})  # its columns are missing
    with pytest.raises(PackError, match=r"a\.jpg"):
        pack(listed, tmp_path / "a.pen")
    assert os.listdir(tmp_path) == []


def test_an_unfinished_folder_of_shards_is_told_from_a_finished_one(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        crash_at(patch, 40, halfway=False)
        with pytest.raises(Crash):
            pack(mixed_source(7), tmp_path / "set", shards=3)
    with pytest.raises(PackError, match="an unfinished pack is there"):
        pack(mixed_source(7), tmp_path / "set", shards=3)


@pytest.mark.parametrize("shards", [1, 2])
def test_a_folder_that_does_not_exist_is_not_made(tmp_path, shards):
    with pytest.raises(PackError, match=r"no folder .*typo to write it to"):
        pack(mixed_source(), tmp_path / "typo" / "a.pen", shards=shards)
    assert not (tmp_path / "typo").exists()
