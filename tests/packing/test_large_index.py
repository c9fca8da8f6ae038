"""Opening takes milliseconds and little memory, however many samples there are."""

import subprocess
import sys
import zlib

import numpy as np
import pytest

from penstock.packing.format import (
    BLOCK,
    BLOCK_COLUMNS,
    SAMPLE,
    SYSTEM,
    SYSTEM_COLUMNS,
    Entry,
    Header,
    Tail,
    aligned,
    id_of,
    padding,
    row_bytes,
)
from penstock.packing.items import BOXES, LABEL
from penstock.packing.read import PackFile

SAMPLES = 10_000_000
MOST_MB = 50

OPEN = """
import resource, sys
from penstock.packing.shards import open_packed
def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6
before = resident_mb()
packed = open_packed(sys.argv[1])
sample = packed.sample(len(packed) - 1)
boxes = packed.value("boxes", len(packed) // 2)
print(len(packed), sample.height, len(boxes), resident_mb() - before)
"""


def make_large(path, samples):
    """Write a file whose columns are holes: zeros that take no room, except for the last sample."""
    records_end = 64 + 64 * samples
    place = records_end
    entries = []
    columns = [(SYSTEM, column) for column in SYSTEM_COLUMNS] + [(SAMPLE, LABEL), (SAMPLE, BOXES)]
    columns += [(BLOCK, column) for column in BLOCK_COLUMNS]
    for role, column in columns:
        fixed = column.kind == "fixed"
        count = samples if role != BLOCK else samples // 64
        size = count * row_bytes(column) if fixed else (count + 1) * 8
        values_offset = 0 if fixed else place + aligned(size)
        entries.append(Entry(role, column, count, place, size, values_offset, 0, 0, 0))
        place += aligned(size)
    directory = b"".join(entry.to_bytes() for entry in entries)
    file_id = id_of(directory)
    places = (place, len(directory), samples, records_end, len(entries))
    tail = Tail(*places, zlib.crc32(directory), file_id)
    with path.open("wb") as file:
        file.write(Header(0, file_id).to_bytes())
        for entry in entries:
            last = {
                "offset": 64 * samples,
                "size": 64,
                "height": 480,
                "width": 640,
                "orientation": 1,
            }
            value = last.get(entry.column.name)
            if value is not None and entry.role == SYSTEM:
                width = row_bytes(entry.column)
                file.seek(entry.offset + entry.size - width)
                file.write(value.to_bytes(width, "little"))
        file.seek(place)
        file.write(directory + padding(len(directory)) + tail.to_bytes())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and needs files with holes")
def test_ten_million_samples_open_at_once(tmp_path):
    path = tmp_path / "large.pen"
    make_large(path, SAMPLES)
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(path)], capture_output=True, text=True, check=True
    )
    samples, height, boxes, resident_mb = map(float, done.stdout.split())
    assert (samples, height, boxes) == (SAMPLES, 480, 0)
    assert resident_mb < MOST_MB


def test_the_index_is_read_from_its_own_memory(tmp_path):
    path = tmp_path / "large.pen"
    make_large(path, 100)
    labels = PackFile(path).columns["label"].values
    assert labels.shape == (100,)
    assert not labels.flags.owndata
    assert not labels.flags.writeable
    np.testing.assert_array_equal(labels, 0)
