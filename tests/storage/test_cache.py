import errno
import os
import signal
import subprocess
import sys
import textwrap
import warnings

import pytest

from penstock.errors import StorageError
from penstock.storage import cache_folder
from penstock.storage.cache import BlockCache, block_name
from penstock.storage.cache_folder import SUBFOLDER
from penstock.storage.counts import Counter


def bytes_in(folder):
    sizes = []
    for entry in os.scandir(folder / SUBFOLDER):
        try:
            sizes.append(entry.stat().st_size)
        except FileNotFoundError:
            continue
    return sum(sizes)


def block(number, size=10_000):
    return memoryview((b"%d " % number * size)[:size])


def put(cache, number, size=10_000):
    cache.put(block_name("object", number), block(number, size))


def get(cache, number):
    found = cache.get(block_name("object", number))
    return None if found is None else found.tobytes()


def test_what_was_put_is_found_again_also_by_others(tmp_path):
    put(BlockCache(str(tmp_path), 10**6), 1)

    assert get(BlockCache(str(tmp_path), 10**6), 1) == block(1).tobytes()


def test_the_block_used_longest_ago_goes_first_and_the_limit_holds(tmp_path):
    cache = BlockCache(str(tmp_path), 45_000)
    for number in range(4):
        put(cache, number)
        os.utime(tmp_path / SUBFOLDER / f"{block_name('object', number)}.block", (number, number))
    assert get(cache, 0) is not None  # used just now
    put(cache, 4)

    assert bytes_in(tmp_path) <= 45_000
    assert [get(cache, number) is not None for number in range(5)] == [
        True, False, True, True, True
    ]  # fmt: skip


def test_the_limit_is_exact_to_the_byte(tmp_path):
    put(BlockCache(str(tmp_path), 10**6), 0)
    needed = bytes_in(tmp_path)

    fits, too_small = tmp_path / "fits", tmp_path / "small"
    put(BlockCache(str(fits), needed), 0)
    put(BlockCache(str(too_small), needed - 1), 0)
    assert bytes_in(fits) == needed
    assert get(BlockCache(str(too_small), needed - 1), 0) is None


def test_a_smaller_limit_makes_room_at_once(tmp_path):
    cache = BlockCache(str(tmp_path), 10**6)
    for number in range(20):
        put(cache, number)

    BlockCache(str(tmp_path), 50_000)
    assert bytes_in(tmp_path) <= 50_000


def test_a_damaged_block_is_counted_thrown_away_and_not_delivered(tmp_path):
    counter = Counter()
    cache = BlockCache(str(tmp_path), 10**6, counter)
    put(cache, 1)
    path = tmp_path / SUBFOLDER / f"{block_name('object', 1)}.block"
    stored = bytearray(path.read_bytes())
    for place in (0, 10, 30, 5_000, len(stored) - 1):
        changed = bytearray(stored)
        changed[place] ^= 1
        path.write_bytes(changed)
        assert get(cache, 1) is None
        if place:  # a file that does not begin as ours do is left alone
            assert not path.exists()
    assert counter.read().cache_damaged == 5


def test_a_block_of_another_checksum_is_not_delivered(tmp_path):
    cache = BlockCache(str(tmp_path), 10**6)
    put(cache, 1)

    assert cache.get(block_name("object", 1), 10_000, crc=123) is None


def test_files_of_others_are_neither_counted_nor_removed(tmp_path):
    cache = BlockCache(str(tmp_path), 45_000)
    foreign = {
        "notes.txt": b"x" * 100_000,
        "a.block": b"y" * 100_000,
        f"{block_name('foreign')}.block": b"z" * 1_000,  # a name as ours, but not what is in it
    }
    for name, content in foreign.items():
        (tmp_path / SUBFOLDER / name).write_bytes(content)
    (tmp_path / "beside.bin").write_bytes(b"w" * 100_000)
    os.symlink(tmp_path / "beside.bin", tmp_path / SUBFOLDER / f"{block_name('link')}.block")
    for number in range(30):
        put(cache, number)

    for name, content in foreign.items():
        assert (tmp_path / SUBFOLDER / name).read_bytes() == content
    assert (tmp_path / "beside.bin").stat().st_size == 100_000
    assert (tmp_path / SUBFOLDER / f"{block_name('link')}.block").is_symlink()
    assert get(cache, 29) is not None


def test_a_folder_that_is_not_a_cache_is_refused(tmp_path):
    (tmp_path / SUBFOLDER).mkdir()
    (tmp_path / SUBFOLDER / "thesis.doc").write_text("mine")

    with pytest.raises(StorageError, match="is left alone"):
        BlockCache(str(tmp_path), 10**6)
    assert (tmp_path / SUBFOLDER / "thesis.doc").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be used"):
        BlockCache(str(tmp_path / "file"), 10**6)


def test_a_full_disk_is_told_once_and_what_is_there_is_read(tmp_path, monkeypatch):
    cache = BlockCache(str(tmp_path), 10**6)
    put(cache, 1)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("penstock.storage.cache.os.write", full)
        with pytest.warns(UserWarning, match="its disk is full"):
            put(cache, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        put(cache, 3)
    assert get(cache, 1) is not None
    assert get(cache, 2) is None
    assert not list((tmp_path / SUBFOLDER).glob("*.part"))


def test_a_writer_that_is_killed_leaves_nothing_that_counts(tmp_path):
    script = textwrap.dedent(
        """
        import os, signal, sys
        from penstock.storage import cache
        def die(file, piece):
            os.pwrite(file, bytes(piece[:20]), 0)
            os.kill(os.getpid(), signal.SIGKILL)
        kept = cache.BlockCache(sys.argv[1], 45_000)
        cache.os.write = die
        kept.put(cache.block_name("object", 1), memoryview(bytes(10_000)))
        """
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert list((tmp_path / SUBFOLDER).glob("*.part"))

    cache = BlockCache(str(tmp_path), 45_000)
    assert not list((tmp_path / SUBFOLDER).glob("*.part"))
    assert get(cache, 1) is None
    for number in range(4):
        put(cache, number)
    assert [get(cache, number) is not None for number in range(4)] == [True] * 4


def test_what_a_living_writer_writes_is_left_alone_and_counted(tmp_path):
    cache = BlockCache(str(tmp_path), 45_000)
    reserved = cache._folder.reserve(block_name("object", 9), 30_000)
    other = BlockCache(str(tmp_path), 45_000)
    put(other, 1)
    put(other, 2)

    assert os.path.exists(reserved.path)
    assert get(other, 1) is None  # there was room for one only
    os.close(reserved.file)
    cache._folder.give_up(reserved)
    put(other, 1)
    assert get(other, 1) is not None


WORKER = """
import random, sys
from penstock.storage.cache import BlockCache, block_name
draw, cache = random.Random(int(sys.argv[2])), BlockCache(sys.argv[1], 300_000)
print("ready", flush=True)
while True:
    number = draw.randrange(60)
    size = 5_000 + number * 200
    content = (b"%d " % number * size)[:size]
    found = cache.get(block_name("object", number), size)
    if found is None:
        cache.put(block_name("object", number), memoryview(content))
    else:
        assert found.tobytes() == content
"""


def test_the_limit_holds_under_processes_that_share_it_and_are_killed(tmp_path):
    def start(seed):
        command = [sys.executable, "-c", WORKER, str(tmp_path), str(seed)]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE)
        worker.stdout.readline()
        return worker

    workers, most = [start(seed) for seed in range(2)], 0
    for turn in range(6):
        for _ in range(150):
            most = max(most, bytes_in(tmp_path))
        victim = workers[turn % 2]
        assert victim.poll() is None, "a worker failed by itself"
        victim.kill()
        victim.communicate()
        workers[turn % 2] = start(10 + turn)
    for worker in workers:
        worker.kill()
        worker.communicate()
    assert 200_000 < most <= 300_000

    folder = BlockCache(str(tmp_path), 300_000)._folder
    with folder.locked() as lock:
        assert folder.used(lock) == bytes_in(tmp_path)
    assert not list((tmp_path / SUBFOLDER).glob("*.part"))


def test_a_damaged_sum_is_made_anew(tmp_path):
    cache = BlockCache(str(tmp_path), 45_000)
    put(cache, 1)
    (tmp_path / SUBFOLDER / "lock").write_bytes(b"nonsense")
    for number in range(2, 8):
        put(cache, number)

    assert bytes_in(tmp_path) <= 45_000
    assert cache_folder.CONTROL_BYTES < 45_000
