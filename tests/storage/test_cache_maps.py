import ctypes
import os
from zlib import crc32

import numpy as np
import pytest

from penstock.errors import StorageError
from penstock.storage import cache_maps
from penstock.storage.cache import SPARE_BYTES, BlockCache, CachedPart, block_name
from penstock.storage.cache_folder import SUBFOLDER
from penstock.storage.cache_maps import MappedBlocks, check_lent
from penstock.storage.counts import Counter

NAME = block_name("object", 0)


def content(size=20_000):
    return np.random.default_rng(1).integers(0, 256, size, np.uint8).tobytes()


@pytest.fixture
def counter():
    return Counter()


@pytest.fixture
def cache(tmp_path, counter):
    cache = BlockCache(str(tmp_path), 10**6, counter)
    cache.put(NAME, memoryview(content()))
    return cache


def path_in(folder):
    return folder / SUBFOLDER / f"{NAME}.block"


def part(start, size, *, block_bytes=20_000):
    return CachedPart(NAME, block_bytes, start, size, crc32(content()[start : start + size]))


def get(cache, start, size):
    return cache.lend([part(start, size)])[0]


def behind(block, start, size):
    """The bytes at a part's address, and the spare ones that follow it."""
    return ctypes.string_at(block.address + start, size + SPARE_BYTES)


def write_at(path, place, text):
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(text)


def test_parts_lie_in_the_file_and_are_counted(cache, counter):
    places = [(0, 100), (5_000, 7_000), (0, 20_000)]
    found = cache.lend([part(*place) for place in places])

    assert len(set(found)) == 1  # one block, mapped once
    for block, (start, size) in zip(found, places, strict=True):
        assert block.part(start, size).tobytes() == content()[start : start + size]
        assert behind(block, start, size)[:size] == content()[start : start + size]
        assert not block.part(start, size).flags.writeable
    assert counter.read().cache_hits == 3
    assert counter.read().cache_bytes_read == 27_100
    check_lent(found)


@pytest.mark.parametrize("size", range(8_000, 8_192, 8))
def test_what_follows_a_part_can_be_read(tmp_path, size):
    cache = BlockCache(str(tmp_path), 10**6)
    cache.put(NAME, memoryview(content(size)))
    wanted = CachedPart(NAME, size, 16, size - 16, crc32(content(size)[16:]))
    (found,) = cache.lend([wanted])

    assert behind(found, 16, size - 16) == content(size)[16:] + bytes(SPARE_BYTES)
    write_at(path_in(tmp_path), 100, b"damage")
    with pytest.raises(StorageError, match="somebody wrote to this file of the cache"):
        check_lent([found])
    os.truncate(path_in(tmp_path), 50)
    assert behind(found, 16, size - 16)[-SPARE_BYTES:] == bytes(SPARE_BYTES)


def test_a_part_that_is_not_there_is_none(cache, counter):
    other = part(0, 100)._replace(name=block_name("object", 1))

    assert cache.lend([other, part(0, 100)])[0] is None
    assert counter.read().cache_damaged == 0


@pytest.mark.parametrize("wanted", [part(0, 100, block_bytes=19_000), part(19_990, 100)])
def test_a_part_of_another_block_is_not_delivered(cache, counter, wanted):
    assert cache.lend([wanted]) == [None]
    assert counter.read().cache_damaged == 1


def test_damage_after_a_part_was_used_is_found(tmp_path, cache, counter):
    assert get(cache, 0, 100) is not None
    write_at(path_in(tmp_path), 100, b"damage")  # behind the head, in the first bytes

    assert get(cache, 0, 100) is None
    assert counter.read().cache_damaged == 1
    assert not path_in(tmp_path).exists()


def test_damage_elsewhere_leaves_the_other_parts_right(tmp_path, cache):
    assert get(cache, 0, 100) is not None
    write_at(path_in(tmp_path), 15_000, b"damage")

    assert get(cache, 0, 100).part(0, 100).tobytes() == content()[:100]
    assert get(cache, 14_000, 2_000) is None


def test_a_file_written_to_while_a_part_is_used_is_an_error(tmp_path, cache):
    used = [get(cache, 0, 100)]
    write_at(path_in(tmp_path), 50, b"damage")

    with pytest.raises(StorageError, match="somebody wrote to this file of the cache"):
        check_lent(used)


def test_a_file_cut_short_while_a_part_is_used_is_an_error(tmp_path, cache):
    used = [get(cache, 0, 20_000)]
    os.truncate(path_in(tmp_path), 100)

    assert len(used[0].part(0, 20_000).tobytes()) == 20_000  # zeros, and no end of the process
    with pytest.raises(StorageError, match="somebody wrote to this file of the cache"):
        check_lent(used)
    assert get(cache, 0, 100) is None


def test_a_block_that_another_process_removed_stays_right_while_it_is_used(tmp_path, cache):
    used = [get(cache, 0, 100)]
    os.unlink(path_in(tmp_path))

    check_lent(used)
    assert used[0].part(0, 100).tobytes() == content()[:100]
    assert get(cache, 0, 100) is None


def open_inodes(path):
    with open("/proc/self/maps") as maps:
        return [line for line in maps if str(path) in line]


def test_blocks_that_are_gone_are_let_go(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(cache_maps, "_LOOK_S", 0.0)
    assert get(cache, 0, 100) is not None
    assert open_inodes(path_in(tmp_path))
    os.unlink(path_in(tmp_path))
    cache.lend([])

    assert not open_inodes(path_in(tmp_path))


def test_using_a_block_is_noted_and_is_no_change(tmp_path, cache):
    path = path_in(tmp_path)
    written = os.stat(path).st_mtime_ns
    os.utime(path, ns=(0, written))
    used = [get(cache, 0, 100)]

    assert os.stat(path).st_atime_ns > 0
    assert os.stat(path).st_mtime_ns == written
    check_lent(used)


def test_only_so_many_are_mapped(tmp_path):
    maps = MappedBlocks(most=3)
    for number in range(5):
        path = tmp_path / f"{number}"
        path.write_bytes(b"block")
        descriptor = os.open(path, os.O_RDONLY)
        maps.add(f"block {number}", str(path), descriptor, 0, 64)
        os.close(descriptor)

    found = maps.get([f"block {number}" for number in range(5)])
    assert [block is not None for block in found] == [False, False, True, True, True]
    assert ctypes.string_at(found[4].address, 5) == b"block"
