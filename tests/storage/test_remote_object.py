import multiprocessing
import pickle
import threading
import time

import pytest

from penstock.errors import LoaderError, StorageError
from penstock.storage.address import read_address
from penstock.storage.options import StorageOptions
from penstock.storage.remote_object import RemoteObject
from servers.faulty_proxy import KINDS, Faults

QUICK = StorageOptions(
    first_backoff_s=0.01, longest_backoff_s=0.05, stall_s=1, request_s=5, gap_bytes=1_000
)


def open_at(server, options=QUICK, name="train.pen"):
    return RemoteObject(read_address(f"{server.address}/bucket/{name}"), options)


def scattered(content, count=40, size=20_000):
    return [(start, start + size) for start in range(0, len(content) - size, len(content) // count)]


def test_the_end_comes_in_one_request_and_tells_the_size(server, content):
    remote = open_at(server)

    assert bytes(remote.open_end(1_000)) == content[-1_000:]
    assert remote.size == len(content)
    assert len(server.requests) == 1


def test_an_object_smaller_than_the_suffix_comes_whole(server):
    server.objects["/bucket/small.pen"] = b"abc"

    assert bytes(open_at(server, name="small.pen").open_end(1_000)) == b"abc"


def test_ranges_are_joined_and_large_ones_are_cut(server, content):
    remote = open_at(server, StorageOptions(gap_bytes=100, most_bytes=500_000))
    wanted = [(10, 20), (100, 150), (2_000_000, 2_900_000), (5, 12)]

    assert [bytes(one) for one in remote.read(wanted)] == [content[a:b] for a, b in wanted]
    ranges = [asked for _, _, asked in server.requests if asked and not asked.endswith("-0")]
    assert sorted(ranges)[-3:] == [
        "bytes=2000000-2449999", "bytes=2450000-2899999", "bytes=5-149"
    ]  # fmt: skip


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.1])
def test_bytes_are_right_at_every_rate_of_faults(behind_proxy, content, rate):
    proxy = behind_proxy(Faults(rate, seed=3))
    remote = open_at(proxy)
    wanted = scattered(content)

    for _ in range(3):
        assert [bytes(one) for one in remote.read(wanted)] == [content[a:b] for a, b in wanted]
    # A busy machine may be too late by itself.
    assert remote.counter.read().retries >= sum(proxy.counts[kind] for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_fault_ends_in_a_clear_error_if_it_never_passes(behind_proxy, server, kind):
    remote = open_at(server, StorageOptions(attempts=3, first_backoff_s=0.01, stall_s=0.5))
    remote.open_end(10)
    remote.address = read_address(f"{behind_proxy(Faults(1.0, (kind,))).address}/bucket/train.pen")
    remote._backend = None

    with pytest.raises(StorageError, match=r"bytes 0 to 100,000 could not be read in 3 attempts"):
        remote.read([(0, 100_000)])
    assert remote.counter.read().retries == 2


def test_a_read_ends_at_its_deadline(behind_proxy):
    proxy = behind_proxy(Faults(1.0, ("stall",)))
    options = StorageOptions(stall_s=60, request_s=60, deadline_s=0.3)
    begin = time.monotonic()

    with pytest.raises(StorageError, match=r"within 0\.3 s"):
        open_at(proxy, options).open_end(10)
    assert time.monotonic() - begin < 30  # far less; no timing is judged


def test_whoever_waits_can_leave(behind_proxy, server):
    remote = open_at(server)
    remote.open_end(1)
    remote.address = read_address(f"{behind_proxy(Faults(1.0, ('stall',))).address}/bucket/t.pen")
    remote._backend, left = None, threading.Event()

    def check():
        left.set()
        raise LoaderError("The loader was closed.")

    with pytest.raises(LoaderError, match="closed"):
        remote.read([(0, 10)], check)
    assert left.is_set()


def test_a_replaced_object_is_an_error_and_never_a_mixture(server, content):
    remote = open_at(server)
    remote.open_end(10)
    server.objects["/bucket/train.pen"] = content[::-1]

    with pytest.raises(StorageError, match="was replaced while it was open"):
        remote.read([(0, 10)])


def test_without_etags_the_size_still_tells(server, content):
    server.etags = False
    remote = open_at(server)
    remote.open_end(10)
    assert bytes(remote.read([(7, 9)])[0]) == content[7:9]
    server.objects["/bucket/train.pen"] = content + b"more"

    with pytest.raises(StorageError, match="was replaced"):
        remote.read([(0, 10)])


def test_a_missing_object_is_named(server):
    with pytest.raises(StorageError, match=r"bucket/other\.pen: there is no such object"):
        open_at(server, name="other.pen").open_end(10)


def test_a_server_that_is_gone_is_an_error_after_all_attempts(server):
    address = read_address(f"{server.address}/bucket/train.pen")
    server.close()
    with pytest.raises(StorageError, match="in 2 attempts"):
        RemoteObject(address, StorageOptions(attempts=2, first_backoff_s=0.01)).open_end(10)


def test_bytes_outside_are_refused_before_they_are_asked_for(server, content):
    remote = open_at(server)
    remote.open_end(1)
    before = len(server.requests)

    with pytest.raises(StorageError, match="were asked for"):
        remote.read([(10, len(content) + 1)])
    assert len(server.requests) == before


def test_a_copy_reads_the_same_object_or_nothing(server, content):
    remote = open_at(server)
    remote.open_end(1)
    copy = pickle.loads(pickle.dumps(remote))  # noqa: S301
    assert bytes(copy.read([(5, 9)])[0]) == content[5:9]
    server.objects["/bucket/train.pen"] = content[::-1]

    with pytest.raises(StorageError, match="was replaced"):
        copy.read([(5, 9)])


def _read_in_child(remote, queue):
    try:
        queue.put(bytes(remote.read([(5, 9)])[0]))
    except StorageError as error:
        queue.put(str(error))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_is_refused_and_told_the_way_out(server):
    remote = open_at(server)
    remote.open_end(1)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_read_in_child, args=(remote, queue))
    child.start()

    assert "'spawn'" in queue.get()
    child.join()


def test_other_schemes_are_left_to_fsspec(content):
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe_file("/bucket/train.pen", content)
    remote = RemoteObject(read_address("memory://bucket/train.pen"))

    assert bytes(remote.open_end(10)) == content[-10:]
    assert bytes(remote.read([(3, 9)])[0]) == content[3:9]


def test_an_unknown_scheme_is_named():
    pytest.importorskip("fsspec")
    with pytest.raises(StorageError, match="nosuch:// is unknown"):
        RemoteObject(read_address("nosuch://bucket/train.pen")).open_end(10)


@pytest.mark.parametrize("library", ["obstore", "fsspec"])
def test_a_missing_library_is_named_with_what_to_type(monkeypatch, library):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    text = "s3://bucket/t.pen" if library == "obstore" else "hf://datasets/a/b/t.pen"

    with pytest.raises(StorageError, match="pip install"):
        RemoteObject(read_address(text)).open_end(10)
