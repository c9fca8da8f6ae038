"""Files that are cut short while they are packed are errors that name them, and no faults."""

import pytest

from python_child import run_python

PROGRAM = """
import os, sys
from penstock.errors import SourceError
from penstock.packing.datasets.files import MappedInput
from penstock.packing.datasets.recordio import image_records
from penstock.packing.datasets.tfrecord import tf_records

def check(what, read, path):
    whole = open(path, "rb").read()
    for kept in (0, 5_000, len(whole) // 2):
        open(path, "wb").write(whole)
        items = iter(read(path))
        next(items)
        os.truncate(path, kept)
        try:
            for _ in items:
                pass
        except SourceError as error:
            assert path in str(error) and "cut short" in str(error), error
        else:
            raise AssertionError((what, kept))

def slices(path):
    data = MappedInput(path)
    for start in range(0, len(data), 4096):
        yield data[start : start + 4096]

open("plain", "wb").write(bytes(range(256)) * 1000)
check("slices", slices, "plain")
"""
RECORDIO = """
import struct
header = struct.pack("<IfQQ", 0, 1.0, 0, 0)
record = header + bytes(4072)
frame = struct.pack("<II", 0xCED7230A, len(record)) + record
open("a.rec", "wb").write(frame * 50)
check("recordio", image_records, "a.rec")
"""
TFRECORD = """
import struct
import google_crc32c
def masked(data):
    crc = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
body = bytes(range(256)) * 16
length = struct.pack("<Q", len(body))
frame = length + struct.pack("<I", masked(length)) + body + struct.pack("<I", masked(body))
open("a.tfrecord", "wb").write(frame * 50)
check("checked", tf_records, "a.tfrecord")
check("surveyed", lambda path: map(touch, tf_records(path, check_data=False)), "a.tfrecord")
"""
TOUCH = """
def touch(found):
    return bytes(found[2])
"""


@pytest.mark.parametrize("part", ["", RECORDIO, TOUCH + TFRECORD], ids=["any", "rec", "tfrecord"])
def test_a_file_cut_while_it_is_read_is_an_error_and_no_fault(tmp_path, part):
    """In a process of its own, which a fault would end."""
    if "google_crc32c" in part:
        pytest.importorskip("google_crc32c")
    run_python("-c", PROGRAM + part, cwd=tmp_path, timeout_s=60)
