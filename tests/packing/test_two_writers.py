"""One writer per target: a second one is told who the first is, and nothing is mixed up."""

import errno
import fcntl
import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from packing.samples import ListSource, mixed_source
from penstock.errors import PackError
from penstock.packing import disk
from penstock.packing.disk import TargetLock
from penstock.packing.index import Tables
from penstock.packing.pack import pack
from penstock.packing.shards import open_packed
from penstock.packing.unpack import unpack
from penstock.packing.verify import verify
from penstock.packing.write import PackWriter
from python_child import run_python

pytestmark = pytest.mark.usefixtures("fake_codec")


class Interrupting(ListSource):
    """Does something after a number of samples were handed out."""

    def doing(self, action, after=3):
        self.action, self.after = action, after
        return self

    def items(self, start=0):
        for number, item in enumerate(self.listed[start:], start):
            if number == self.after:
                self.action()
            yield item


def interrupting(action, **options):
    source = mixed_source()
    whole = Interrupting(source.listed, source.columns, source.classes, source.box_classes)
    return whole.doing(action, **options)


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("shards", [1, 2])
def test_a_second_writer_is_told_who_the_first_is(tmp_path, monkeypatch, shards, resume):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/penstock", "pack", "my photos", "a.pen"])
    target, told = tmp_path / "a.pen", []

    def pack_too():
        with pytest.raises(PackError) as caught:
            pack(mixed_source(), target, shards=shards, resume=resume)
        told.append(str(caught.value))

    pack(interrupting(pack_too), target, shards=shards, resume=resume)
    assert f"{target}: another process is writing it: pid {os.getpid()} on " in told[0]
    assert socket.gethostname() in told[0]
    assert ", since 20" in told[0]
    assert "(penstock pack 'my photos' a.pen)" in told[0]
    assert "Wait until it is done" in told[0]
    assert verify(target).intact
    assert os.listdir(tmp_path) == ["a.pen"]


def test_two_ways_to_a_target_are_one(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for first, second, shards in [("real/a.pen", "link/a.pen", 1), ("real", "link", 2)]:

        def pack_too(second=second, shards=shards):
            with pytest.raises(PackError, match="another process is writing it"):
                pack(mixed_source(), tmp_path / second, shards=shards, resume=True)

        pack(interrupting(pack_too), tmp_path / first, shards=shards, resume=True)
        assert verify(tmp_path / first).intact


def test_another_target_is_free(tmp_path):
    source = interrupting(lambda: pack(mixed_source(), tmp_path / "b.pen"))
    pack(source, tmp_path / "a.pen")
    assert (tmp_path / "a.pen").read_bytes() == (tmp_path / "b.pen").read_bytes()


@pytest.mark.parametrize("shards", [1, 2])
def test_what_a_killed_writer_left_does_not_lock(tmp_path, shards):
    target = tmp_path / "a.pen"
    child = os.fork()
    if child == 0:
        try:
            source = interrupting(lambda: os.kill(os.getpid(), signal.SIGKILL))
            pack(source, target, shards=shards, threads=1)
        finally:
            os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert (tmp_path / "a.pen.lock").exists()

    pack(mixed_source(), target, shards=shards, resume=True)
    assert os.listdir(tmp_path) == ["a.pen"]
    assert verify(target).intact


def test_a_process_forked_meanwhile_does_not_keep_the_lock(tmp_path):
    started = []

    def fork():
        child = os.fork()
        if child == 0:
            signal.pause()
        started.append(child)

    try:
        with TargetLock(str(tmp_path / "a.pen")):
            fork()
        pack(mixed_source(), tmp_path / "a.pen")
    finally:
        for child in started:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_a_lock_that_was_just_removed_is_not_taken_for_one(tmp_path, monkeypatch):
    """Its holder ended between our opening the file and our locking it."""
    real, tries = disk.try_lock, []

    def remove_first(file):
        tries.append(file)
        if len(tries) == 1:
            os.remove(file.name)
        return real(file)

    monkeypatch.setattr(disk, "try_lock", remove_first)
    with TargetLock(str(tmp_path / "a.pen")):
        assert len(tries) == 2
        assert os.listdir(tmp_path) == ["a.pen.lock"]


@pytest.fixture
def no_locks(monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize("shards", [1, 2])
def test_without_locks_the_file_is_the_lock(tmp_path, shards):
    target = tmp_path / "a.pen"

    def pack_too():
        told = rf"pid {os.getpid()} on .*has no locks.*If it does not, remove {target}\.lock"
        with pytest.raises(PackError, match=told):
            pack(mixed_source(), target, shards=shards, resume=True)

    pack(interrupting(pack_too), target, shards=shards)
    assert os.listdir(tmp_path) == ["a.pen"]


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"\xff\0",
        b"[" * 5000,
        b"7",
        b'{"pid": 1}',
        json.dumps({"pid": "\ud800", "host": [], "since": 9**999, "command": "\x1b[2J"}).encode(),
    ],
)
def test_a_lock_may_say_anything(tmp_path, monkeypatch, note):
    monkeypatch.setattr(disk, "_NOTE_WAIT_S", 0)
    path = tmp_path / "a.pen.lock"
    path.write_bytes(note)
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(PackError, match="another process is writing it"):
            pack(mixed_source(), tmp_path / "a.pen")
    assert path.read_bytes() == note
    pack(mixed_source(), tmp_path / "a.pen")


def test_a_full_disk_leaves_no_lock(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk, "write_all", fail)
    with pytest.raises(PackError, match=r"a\.pen\.lock: the disk is full"):
        pack(mixed_source(), tmp_path / "a.pen")
    assert os.listdir(tmp_path) == []


def test_an_unfinished_file_has_one_writer_even_if_the_lock_is_gone(tmp_path):
    target = str(tmp_path / "a.pen")
    tables = Tables(None, None, ())
    with PackWriter(target, [], tables) as first:
        with pytest.raises(PackError, match=r"a\.pen\.partial: another process is writing it"):
            PackWriter(target, [], tables, resume=True)
        first.finish()
    assert verify(target).intact


def test_an_unfinished_file_that_was_replaced_does_not_get_the_name(tmp_path):
    def replace():
        (tmp_path / "a.pen.partial").unlink()
        (tmp_path / "a.pen.partial").write_bytes(b"somebody else's")

    with pytest.raises(PackError, match="removed or replaced while it was written"):
        pack(interrupting(replace), tmp_path / "a.pen")
    assert not (tmp_path / "a.pen").exists()


@pytest.mark.parametrize("resume", [False, True])
def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path, resume):
    target = tmp_path / "a.pen"
    source = interrupting(lambda: target.write_bytes(b"somebody else's"))
    with pytest.raises(PackError, match="somebody else made it while it was packed"):
        pack(source, target, resume=resume)
    assert target.read_bytes() == b"somebody else's"
    target.unlink()
    pack(mixed_source(), target, resume=True)
    assert verify(target).intact


def test_who_reads_the_old_file_goes_on_reading_it(tmp_path):
    pack(mixed_source(3), tmp_path / "a.pen")
    old = open_packed(tmp_path / "a.pen")
    before = [old.files[0].record(index) for index in range(3)]
    (tmp_path / "a.pen").unlink()
    pack(mixed_source(6), tmp_path / "a.pen")
    assert [old.files[0].record(index) for index in range(3)] == before
    assert len(open_packed(tmp_path / "a.pen")) == 6


def test_two_unpackers_do_not_share_a_tar(tmp_path):
    pack(mixed_source(), tmp_path / "a.pen")
    with (
        TargetLock(str(tmp_path / "a.tar")),
        pytest.raises(PackError, match=r"a\.tar: another process is writing it"),
    ):
        unpack(tmp_path / "a.pen", tmp_path / "a.tar")


def test_packs_at_the_same_time_some_of_them_killed(tmp_path):
    """The real thing, in processes: what is there at the end is whole, or the test fails."""
    script = Path(__file__).with_name("two_packers.py")
    told = run_python(script, tmp_path, 2)
    assert "4 rounds" in told
