"""Batches from a store are those of the local file, whatever happens on the way."""

import pickle
import threading
import time
from itertools import islice

import numpy as np
import pytest

import penstock as ps
from packing.samples import ListSource, image_file
from penstock import transforms as T
from penstock.errors import LoaderError, PenstockError, StorageError
from penstock.packing.items import LABEL, PackItem
from servers.faulty_proxy import Faults, FaultyProxy
from servers.range_server import RangeServer

QUICK = ps.StorageOptions(
    first_backoff_s=0.01, longest_backoff_s=0.05, stall_s=0.5, request_s=5, deadline_s=30
)
CROPS = T.Compose([T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.RandAugment(2, 9)])
SAMPLES = 150


@pytest.fixture(scope="module")
def pen(tmp_path_factory):
    """A packed file with records of every storage, in several blocks."""
    rng = np.random.default_rng(1)
    items = []
    for number in range(SAMPLES):
        size = tuple(rng.integers(40, 260, 2).tolist())
        format = "PNG" if number % 10 == 3 else "JPEG"
        options = {} if format == "PNG" else {"quality": 95, "progressive": number % 7 == 0}
        file = image_file(number, size, format, "L" if number % 11 == 5 else "RGB", **options)
        name = f"{number:03d}.{format.lower()}"
        items.append(PackItem(name, file, {"label": number // 15}))
    path = tmp_path_factory.mktemp("remote") / "train.pen"
    classes = tuple("abcdefghij")
    ps.pack(ListSource(items, (LABEL,), classes=classes), path)
    return path


@pytest.fixture(scope="module")
def server(pen):
    with RangeServer({"/bucket/train.pen": pen.read_bytes()}) as running:
        yield running


def load(data, **options):
    defaults = {"batch_size": 16, "transform": CROPS, "shuffle": True, "seed": 3, "threads": 2}
    if str(data).startswith("http"):
        defaults["storage"] = QUICK
    return ps.Loader(data, **{**defaults, **options})


def batches(loader, epochs=2):
    got = [(x.numpy().copy(), y.numpy().copy()) for _ in range(epochs) for x, y in loader]
    loader.close()
    return got


def assert_same(some, others):
    assert len(some) == len(others)
    for (images, labels), (other_images, other_labels) in zip(some, others, strict=True):
        np.testing.assert_array_equal(labels, other_labels)
        np.testing.assert_array_equal(images, other_images)


WAYS = {
    "global": {},
    "in order": {"shuffle": False},
    "window": {"sampling": ps.WindowShuffle(blocks=2)},
    "one by one": {"batch_size": 1},
    "other size": {"batch_size": 97, "prefetch": 0},
    "views": {"transform": T.MultiView([CROPS, T.Resize((20, 30))])},
    "python": {"transform": T.Compose([T.Resize((30, 30)), lambda image: image.rotate(90)])},
    "whole": {"transform": T.Resize((25, 25))},
    "reuse": {"reuse": ps.Reuse(times=2)},
}


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_batches_are_those_of_the_local_file(pen, server, tmp_path, way, cached):
    far = {"cache": tmp_path, "cache_limit": "1 GB"} if cached else {}
    remote = load(server.address + "/bucket/train.pen", **WAYS[way], **far)

    assert_same_views(remote, load(pen, **WAYS[way]))


def test_a_name_that_only_looks_like_an_archives(pen, server, monkeypatch):
    monkeypatch.setitem(server.objects, "/bucket/a.target.pen", pen.read_bytes())

    found = batches(load(server.address + "/bucket/a.target.pen"), epochs=1)

    assert_same(found, batches(load(pen), epochs=1))


def assert_same_views(remote, local):
    """Two epochs of images, or of several views of each, and labels."""

    def flat(loader):
        found = []
        for _ in range(2):
            for delivered, labels in loader:
                images = delivered if isinstance(delivered, list) else [delivered]
                found.append(([image.numpy().copy() for image in images], labels.numpy().copy()))
        loader.close()
        return found

    for (images, labels), (others, other_labels) in zip(flat(local), flat(remote), strict=True):
        np.testing.assert_array_equal(labels, other_labels)
        for image, other in zip(images, others, strict=True):
            np.testing.assert_array_equal(image, other)


def read_rows(monkeypatch):
    """Make loaders read rows where they would read records."""
    monkeypatch.setattr("penstock.data.remote._ROWS_COST_S", 0.0)


@pytest.mark.parametrize("way", ["global", "other size", "views", "python", "whole", "reuse"])
@pytest.mark.parametrize("fidelity", ["exact", "fast"])
def test_rows_alone_give_the_same_batches(pen, server, monkeypatch, way, fidelity):
    read_rows(monkeypatch)
    options = {**WAYS[way], "fidelity": fidelity}
    remote = load(server.address + "/bucket/train.pen", **options)

    assert remote.source.reading.value == "rows"
    assert_same_views(remote, load(pen, **options))


def test_rows_alone_are_fewer_bytes(pen, server, monkeypatch):
    monkeypatch.setattr("penstock.storage.speed.Speed.bytes_per_s", lambda *_: None)
    options = {"transform": T.CenterCrop(16), "storage": ps.StorageOptions(gap_bytes=0)}
    whole = load(server.address + "/bucket/train.pen", **options)
    list(whole)
    read_rows(monkeypatch)
    rows = load(server.address + "/bucket/train.pen", **options)
    list(rows)

    assert rows.io.bytes_read < 0.9 * whole.io.bytes_read
    whole.close()
    rows.close()


def test_rows_at_a_tenth_of_faults_and_with_damage(pen, server, monkeypatch):
    read_rows(monkeypatch)
    with FaultyProxy(server.port, Faults(0.1, seed=1)) as proxy:
        remote = load(f"{proxy.address}/bucket/train.pen")
        assert_same_views(remote, load(pen))
    content = bytearray(pen.read_bytes())
    content[100_000] ^= 1
    with RangeServer({"/bucket/train.pen": bytes(content)}) as damaged:
        loader = load(damaged.address + "/bucket/train.pen", transform=T.Resize((8, 8)))
        with pytest.raises(StorageError, match=r"sample [\d,]+ \(.*bytes [\d,]+ to [\d,]+"):
            list(loader)
        loader.close()


@pytest.mark.parametrize("rate", [0.01, 0.1])
@pytest.mark.parametrize("way", ["global", "window"])
def test_batches_are_right_at_every_rate_of_faults(pen, server, rate, way):
    with FaultyProxy(server.port, Faults(rate, latency_s=(0.0, 0.01), seed=1)) as proxy:
        remote = load(f"{proxy.address}/bucket/train.pen", **WAYS[way])
        assert_same(batches(remote), batches(load(pen, **WAYS[way])))


def test_a_store_that_fails_for_good_is_a_clear_error_and_no_sample_is_skipped(server):
    with FaultyProxy(server.port) as proxy:
        options = ps.StorageOptions(attempts=2, first_backoff_s=0.01)
        loader = load(f"{proxy.address}/bucket/train.pen", on_error="skip", storage=options)
        proxy.faults.rate, proxy.faults.kinds = 1.0, ("error",)
        with pytest.raises(StorageError, match=r"train\.pen: bytes .* in 2 attempts; .*503"):
            list(loader)
    loader.close()


def test_index_and_records_are_read_by_few_requests(pen, server):
    server.requests.clear()
    loader = load(server.address + "/bucket/train.pen", shuffle=False)
    opened = len(server.requests)
    size = pen.stat().st_size
    assert opened <= 2
    list(loader)
    counts = loader.io
    loader.close()
    assert counts.requests == len(server.requests)
    # Planning looks at some records; then each block is read once, with 64 bytes behind it.
    assert counts.bytes_read <= 2.2 * size


def test_with_a_cache_nothing_is_read_twice(pen, server, tmp_path):
    far = {"cache": str(tmp_path), "cache_limit": "1 GB"}
    first = load(server.address + "/bucket/train.pen", **far)
    before = batches(first, epochs=1)
    server.requests.clear()
    again = load(server.address + "/bucket/train.pen", **far)
    assert_same(batches(again, epochs=1), before)

    assert len(server.requests) == 1  # for the etag, and the end
    assert again.io.cache_hits >= SAMPLES


def test_a_damaged_cache_is_read_again(pen, server, tmp_path):
    far = {"cache": str(tmp_path), "cache_limit": "1 GB"}
    before = batches(load(server.address + "/bucket/train.pen", **far), epochs=1)
    blocks = sorted(tmp_path.glob("*/*.block"))
    for block in blocks:
        content = bytearray(block.read_bytes())
        content[len(content) // 2] ^= 16
        block.write_bytes(content)
    again = load(server.address + "/bucket/train.pen", **far)

    assert_same(batches(again, epochs=1), before)
    assert again.io.cache_damaged >= 1


def test_a_cache_that_is_too_small_changes_no_batch(pen, server, tmp_path):
    far = {"cache": str(tmp_path), "cache_limit": 200_000}
    remote = load(server.address + "/bucket/train.pen", **far)

    assert_same(batches(remote), batches(load(pen)))
    assert sum(file.stat().st_size for file in tmp_path.glob("*/*")) <= 200_000


def test_a_replaced_object_is_an_error(pen):
    content = pen.read_bytes()
    with RangeServer({"/bucket/train.pen": content}) as server:
        loader = load(server.address + "/bucket/train.pen", batch_size=4, prefetch=0)
        iterator = iter(loader)
        next(iterator)
        server.objects["/bucket/train.pen"] = bytes(bytearray(content))
        with pytest.raises(StorageError, match="was replaced while it was open"):
            list(iterator)
        loader.close()


def test_a_damaged_object_is_an_error_that_names_sample_and_range(pen):
    content = bytearray(pen.read_bytes())
    content[100_000] ^= 1
    with RangeServer({"/bucket/train.pen": bytes(content)}) as server:
        loader = load(server.address + "/bucket/train.pen", transform=T.Resize((8, 8)))
        with pytest.raises(StorageError, match=r"(block|sample) [\d,]+.*bytes [\d,]+ to [\d,]+"):
            list(loader)
        loader.close()


def test_every_changed_byte_of_the_index_is_found(pen):
    content = pen.read_bytes()
    source = ps.open_data(pen)
    end = source.packed.files[0].tail.records_end
    rng = np.random.default_rng(0)
    with RangeServer() as server:
        for place in rng.integers(end, len(content), 60).tolist():
            changed = bytearray(content)
            changed[place] ^= 1 << int(rng.integers(8))
            server.objects["/bucket/train.pen"] = bytes(changed)
            try:
                opened = ps.open_data(server.address + "/bucket/train.pen", storage=QUICK)
            except PenstockError:
                continue
            padding = opened.packed.files[0].entries
            assert not any(e.offset <= place < e.offset + e.size for e in padding)


def test_closing_is_prompt_though_the_store_stalls(server):
    with FaultyProxy(server.port) as proxy:
        loader = load(f"{proxy.address}/bucket/train.pen", storage=ps.StorageOptions(stall_s=60))
        proxy.faults.rate, proxy.faults.kinds = 1.0, ("stall",)
        raised = []

        def ask():
            try:
                next(iter(loader))
            except LoaderError as error:
                raised.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        while proxy.counts["stall"] < 1:
            time.sleep(0.01)
        loader.close()
        asking.join(20)
        assert not asking.is_alive()
        assert len(raised) == 1


def test_two_epochs_at_the_same_time_do_not_wait_for_each_other(pen, server):
    remote = load(server.address + "/bucket/train.pen", batch_size=2)
    pairs = list(islice(zip(remote, remote, strict=True), 30))
    local = load(pen, batch_size=2)
    others = list(islice(zip(local, local, strict=True), 30))
    for (a, b), (c, d) in zip(pairs, others, strict=True):
        np.testing.assert_array_equal(a[0], c[0])
        np.testing.assert_array_equal(b[0], d[0])
    remote.close()
    local.close()


def test_resuming_and_ranks(pen, server):
    for options in ({}, {"sampling": ps.WindowShuffle(blocks=1)}):
        remote = load(server.address + "/bucket/train.pen", rank=1, world_size=2, **options)
        iterator = iter(remote)
        next(iterator)
        state = remote.state_dict()
        again = load(pen, rank=1, world_size=2, **options)
        again.load_state_dict(state)
        for (images, labels), (others, other_labels) in zip(iterator, again, strict=True):
            np.testing.assert_array_equal(images, others)
            np.testing.assert_array_equal(labels, other_labels)
        remote.close()
        again.close()


def test_a_source_can_be_pickled_and_opens_the_same_object(server):
    source = ps.open_data(server.address + "/bucket/train.pen", storage=QUICK)
    copy = pickle.loads(pickle.dumps(source))  # noqa: S301

    assert len(copy) == SAMPLES
    assert copy.open(3).read() == source.open(3).read()


def test_explain_says_what_is_read_and_why(server, tmp_path):
    address = server.address + "/bucket/train.pen"
    far = {"cache": str(tmp_path), "cache_limit": "1 GB"}
    for options, said in (
        ({}, "samples come from everywhere and there is no cache"),
        ({"shuffle": False}, "each block is read once in an epoch"),
        ({"sampling": ps.WindowShuffle()}, "each block is read once in an epoch"),
        (far, "each block is read once at all"),
    ):
        loader = load(address, **options)
        assert said in str(loader.explain())
        loader.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cache": "folder"}, "cache=: for data in a store"),
        ({"cache_limit": "1 GB"}, "cache_limit=: for data in a store"),
        ({"storage": QUICK}, "storage=: for data in a store"),
    ],
)
def test_what_is_for_stores_is_refused_for_files(pen, options, said):
    with pytest.raises(LoaderError, match=said):
        load(pen, **options)


def test_what_is_said_of_a_store_is_checked(server):
    address = server.address + "/bucket/train.pen"
    with pytest.raises(LoaderError, match=r"cache_limit='1 GB' without cache="):
        load(address, cache_limit="1 GB")
    with pytest.raises(LoaderError, match="must be a number of bytes"):
        load(address, cache="x", cache_limit="much")
    with pytest.raises(PenstockError, match="labels cannot be said of it"):
        load(address, labels="x.csv")
