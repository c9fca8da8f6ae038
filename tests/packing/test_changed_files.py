"""A packed file that is cut short or overwritten while it is read is an error, never a fault."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from packing.samples import mixed_source
from penstock.errors import PackError
from penstock.packing.pack import pack
from penstock.packing.read import PackFile
from penstock.packing.shards import open_packed

PROGRAM = Path(__file__).with_name("change_files.py")


@pytest.mark.parametrize("what", ["load", "use"])
def test_changes_while_a_file_is_read_are_errors_that_name_it(tmp_path, what):
    """In a process of its own, which a fault would end; see change_files.py for the cases."""
    done = subprocess.run(
        [sys.executable, PROGRAM, what, tmp_path],
        env={**os.environ, "PYTHONPATH": str(PROGRAM.parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr[-3000:]}"
    assert len(done.stdout.splitlines()) >= 50


@pytest.fixture
def packed(tmp_path):
    path = tmp_path / "small.pen"
    pack(mixed_source(4), path)
    os.utime(path, (1_000_000, 1_000_000))
    return path


def test_a_file_that_was_only_touched_is_read_on(packed):
    file = PackFile(packed)
    os.utime(packed)
    file.check_unchanged([0, 1, 2, 3])


def test_a_file_that_grew_has_changed(packed):
    file = PackFile(packed)
    with packed.open("ab") as more:
        more.write(bytes(64))
    with pytest.raises(PackError, match=r"small\.pen: was written to while it was open"):
        file.check_unchanged()


def test_a_column_that_was_written_to_has_changed(packed):
    file = PackFile(packed)
    entry = file.entries[-1]
    with packed.open("r+b") as other:
        other.seek(entry.offset)
        other.write(b"\x07")
    with pytest.raises(PackError, match="was written to"):
        file.check_unchanged()


def test_only_the_records_that_were_read_must_be_as_they_were(packed):
    file = PackFile(packed)
    with packed.open("r+b") as other:
        other.seek(file.sample(2).offset)
        other.write(b"\x07\x08")
    file.check_unchanged([0, 1, 3])
    with pytest.raises(PackError, match="was written to"):
        file.check_unchanged([2])


def test_shards_are_told_apart(tmp_path):
    pack(mixed_source(6), tmp_path / "set", shards=2)
    data = open_packed(tmp_path / "set")
    os.truncate(data.files[1].path, 100)
    data.check_unchanged(np.array([0, 1]))
    with pytest.raises(PackError, match=r"00001-of-00002\.pen: was cut short while it was open"):
        data.check_unchanged()


def test_pipes_folders_and_empty_files_are_named(tmp_path):
    os.mkfifo(tmp_path / "pipe.pen")
    with pytest.raises(PackError, match=r"pipe\.pen: cannot be opened \(it is a FIFO"):
        PackFile(tmp_path / "pipe.pen")
    with pytest.raises(PackError, match=r"cannot be opened \(it is a folder"):
        PackFile(tmp_path)
    with pytest.raises(PackError, match="cannot be opened"):
        PackFile("a\0b.pen")


def test_files_stay_open_only_as_long_as_they_are_used(packed, tmp_path):
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    before = descriptors()
    values = PackFile(packed).facts("height")
    assert descriptors() == before + 1
    shutil.move(packed, tmp_path / "moved.pen")
    assert values.tolist() == [12] * 4
    del values
    assert descriptors() == before
