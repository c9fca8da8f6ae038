"""Shards by actors of a Ray cluster: the same bytes, whatever is killed."""

import os
import random
import signal
import threading
from pathlib import Path

import pytest

from packing.bucket_samples import upload, write_photos
from packing.dying_source import DyingSource
from packing.samples import mixed_source
from packing.test_crews import contents
from penstock.errors import DecodeError
from penstock.packing import far_files
from penstock.packing.crews import crew
from penstock.packing.pack import pack

SAMPLES, SHARDS = 40, 8


def test_actors_give_the_same_bytes(tmp_path, cluster):
    source = mixed_source(SAMPLES)
    pack(source, tmp_path / "whole", shards=SHARDS)
    summary = pack(source, tmp_path / "set", shards=SHARDS, engine="ray")

    assert contents(tmp_path / "set") == contents(tmp_path / "whole")
    assert summary.samples == SAMPLES
    assert cluster.is_initialized()  # as it was before


@pytest.mark.usefixtures("cluster")
def test_actors_that_are_killed_are_replaced(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    source = mixed_source(SAMPLES)
    pack(source, tmp_path / "whole", shards=SHARDS)
    dying = DyingSource(
        *(source.listed, source.columns, source.classes, source.box_classes),
        dies_at=(0, 13, 14, 39),
        marks=marks,
    )
    summary = pack(dying, tmp_path / "set", shards=SHARDS, engine="ray", workers=3)

    assert contents(tmp_path / "set") == contents(tmp_path / "whole")
    assert any("4 times a worker died" in remark for remark in summary.remarks)


@pytest.mark.usefixtures("cluster")
def test_errors_of_actors_are_those_of_files(tmp_path):
    source = mixed_source(6)
    source.listed[4] = type(source.listed[4])("bad.jpg", b"nothing", source.listed[4].columns)
    with pytest.raises(DecodeError, match=r"bad\.jpg.*--on-error=skip"):
        pack(source, tmp_path / "set", shards=3, engine="ray", workers=2)


@pytest.mark.usefixtures("cluster")
def test_from_bucket_to_bucket_whatever_is_killed(tmp_path, bucket_server, monkeypatch):
    """Actors are hit while they upload; images are fetched by actors alone."""
    for name, value in bucket_server.environment().items():
        monkeypatch.setenv(name, value)
    names = [f"class{number % 3}/{number:02}.jpg" for number in range(SAMPLES)]
    upload(bucket_server, write_photos(tmp_path / "photos", names), "bucket/photos")
    pack(tmp_path / "photos", tmp_path / "whole", shards=SHARDS)
    killed, doomed = [], {"00001-of-00008.pen", "00004-of-00008.pen.done"}

    def kill(name):
        last = name.rpartition("/")[2]
        if last in doomed:
            doomed.remove(last)
            for worker in pack_workers():
                killed.append(worker)
                os.kill(worker, signal.SIGKILL)

    def refuse(_):
        raise AssertionError("the leader fetches images")

    monkeypatch.setattr(far_files.FarFile, "read", refuse)
    monkeypatch.setattr(bucket_server, "before_put", kill)
    summary = pack("s3://bucket/photos", "s3://bucket/set", shards=SHARDS, engine="ray", workers=2)

    assert bucket_server.below("bucket/set") == contents(tmp_path / "whole")
    assert not doomed
    assert len(killed) >= 2
    assert any("times a worker died" in remark for remark in summary.remarks)


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_twenty_kills_at_random_moments(tmp_path, monkeypatch):
    """Wherever a process is hit, while it starts, reads, writes or says that it is done."""
    monkeypatch.setattr(crew, "MOST_DEATHS", 50)
    source = mixed_source(1500)
    pack(source, tmp_path / "whole", shards=SHARDS)
    dice, killed, over = random.Random(3), [], threading.Event()

    def kill():
        while len(killed) < 20 and not over.wait(dice.uniform(0.05, 0.6)):
            workers = pack_workers()
            if workers:
                killed.append(dice.choice(workers))
                os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    rounds = 0
    while len(killed) < 20:
        target = tmp_path / f"set{rounds}"
        pack(source, target, shards=SHARDS, engine="ray", workers=4)
        assert contents(target) == contents(tmp_path / "whole")
        rounds += 1
    over.set()
    thread.join()


def pack_workers():
    """Return the processes of the actors that pack, as `ps` would name them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if "_RayWorker" in (folder / "cmdline").read_text():
                found.append(int(folder.name))
        except (OSError, UnicodeDecodeError):
            continue  # it has just ended
    return found
