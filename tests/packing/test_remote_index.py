"""Of a large index in a store, only what is needed is read; all that is read is checked."""

import numpy as np
import pytest

import penstock as ps
from packing.samples import ListSource, image_file
from penstock.errors import PackError
from penstock.packing import remote_index
from penstock.packing.items import LABEL, PackItem
from penstock.packing.read import PackFile
from penstock.packing.remote import Access, open_remote
from servers.range_server import RangeServer

SAMPLES = 300
EXACT = ps.StorageOptions(gap_bytes=0)  # what lies between is not read along


@pytest.fixture(scope="module")
def pen(tmp_path_factory):
    items = [
        PackItem(f"a_name_{n:05}.jpg", image_file(n, (40, 60 + n % 7)), {"label": n % 3})
        for n in range(SAMPLES)
    ]
    path = tmp_path_factory.mktemp("index") / "train.pen"
    ps.pack(ListSource(items, (LABEL,), classes=("a", "b", "c")), path)
    return path


@pytest.fixture
def server(pen):
    with RangeServer({"/train.pen": pen.read_bytes()}) as running:
        yield running


@pytest.fixture(params=[1024, 6 << 10], ids=["without directory", "with directory"])
def large(request, monkeypatch):
    """Make a small index count as a large one, whose end is so many bytes."""
    monkeypatch.setattr(remote_index, "SUFFIX_BYTES", request.param)
    monkeypatch.setattr(remote_index, "_WHOLE_BYTES", 0)


def index_bytes(pen):
    file = PackFile(pen)
    return file.file_bytes - file.tail.records_end


def load(data, **options):
    with ps.Loader(data, batch_size=8, transform=ps.transforms.RandomResizedCrop(16), shuffle=True,
                   **options) as loader:  # fmt: skip
        return [(images.numpy().copy(), labels.numpy().copy()) for images, labels in loader]


@pytest.mark.usefixtures("large")
def test_a_part_of_the_index_is_enough_for_the_batches_of_the_local_file(pen, server):
    access = Access(EXACT)
    there = open_remote(server.address + "/train.pen", access)
    assert access.counter.read().bytes_read < index_bytes(pen) / 2
    for mine, other in zip(load(pen), load(server.address + "/train.pen"), strict=True):
        np.testing.assert_array_equal(mine[0], other[0])
        np.testing.assert_array_equal(mine[1], other[1])

    here = PackFile(pen)
    assert [there.files[0].name(n) for n in range(SAMPLES)] == [
        here.name(n) for n in range(SAMPLES)
    ]
    assert there.sample(7) == here.sample(7)
    parts = [(file.system["parts"][9]).tolist() for file in (here, there.files[0])]
    assert parts[0] == parts[1]


@pytest.mark.usefixtures("large")
def test_a_column_is_read_once(pen, server):
    del pen
    access = Access()
    there = open_remote(server.address + "/train.pen", access).files[0]
    there.name(3)
    asked = access.counter.read().requests
    there.name(4)
    assert access.counter.read().requests == asked


@pytest.mark.usefixtures("large")
def test_what_was_read_comes_from_the_cache_the_next_time(server, tmp_path):
    far = {"cache": tmp_path, "cache_limit": "100 MB"}
    before = load(server.address + "/train.pen", **far)
    server.requests.clear()
    after = load(server.address + "/train.pen", **far)
    assert all((a[0] == b[0]).all() for a, b in zip(before, after, strict=True))
    ranges = [asked for _, _, asked in server.requests]
    assert len(ranges) <= 2, ranges  # the end, and the directory if it is not in it


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("name", ["size", "name", "parts"])
def test_damage_is_found_when_a_column_is_read(pen, server, name):
    file = PackFile(pen)
    entry = next(entry for entry in file.entries if entry.column.name == name and entry.role == 0)
    content = bytearray(pen.read_bytes())
    content[(entry.values_offset or entry.offset) + 3] ^= 1
    server.objects["/damaged.pen"] = bytes(content)
    with pytest.raises(PackError, match=f"column '{name}' is damaged"):
        open_remote(server.address + "/damaged.pen").files[0].system[name]


def test_whoever_reads_everything_reads_the_index_at_once(pen, server, monkeypatch):
    monkeypatch.setattr(remote_index, "SUFFIX_BYTES", 6 << 10)
    monkeypatch.setattr(remote_index, "_WHOLE_BYTES", 0)
    access = Access(from_front_to_back=True)
    open_remote(server.address + "/train.pen", access)
    counts = access.counter.read()
    assert (counts.requests, counts.bytes_read) == (2, index_bytes(pen))
