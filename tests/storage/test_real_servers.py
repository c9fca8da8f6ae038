"""Batches from real servers: Ceph's S3 gateway, Azurite and nginx, also behind a bad network.

They come from Debian's packages and from npm, unpacked into build/ when these tests first run;
where they cannot be had, the tests say why and are skipped.
"""

import os
from contextlib import contextmanager

import numpy as np
import pytest

import penstock as ps
from packing.samples import ListSource, image_file
from penstock import transforms as T
from penstock.analysis.advice import CACHE, MORE_REQUESTS, WINDOW
from penstock.analysis.measure import Effort
from penstock.errors import StorageError
from penstock.packing.items import LABEL, PackItem
from penstock.results.records import Verdict
from servers import azurite, ceph, nginx
from servers.faulty_proxy import Faults, FaultyProxy

pytestmark = pytest.mark.slow

TRANSFORM = T.Compose([T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.RandAugment(2, 9)])
QUICK = ps.StorageOptions(first_backoff_s=0.02, longest_backoff_s=0.2, stall_s=2, request_s=20)


@pytest.fixture(scope="module")
def pen(tmp_path_factory):
    items = [
        PackItem(f"{n}.jpg", image_file(n, (100 + n % 150, 200), quality=95), {"label": n % 7})
        for n in range(300)
    ]
    path = tmp_path_factory.mktemp("real") / "train.pen"
    ps.pack(ListSource(items, (LABEL,)), path)
    return path


def require(server):
    why = server.install()
    if why is not None:
        pytest.skip(f"{server.__name__.rpartition('.')[2]} cannot be had here: {why}")


@contextmanager
def variables(values):
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def put(address, content, **options):
    import obstore

    container, _, name = address.rpartition("/")
    store = obstore.store.from_url(container, client_options={"allow_http": True}, **options)
    obstore.put(store, name, content)


@pytest.fixture(scope="module")
def s3(pen, tmp_path_factory):
    require(ceph)
    server = ceph.Ceph(tmp_path_factory.mktemp("ceph") / "cluster")
    try:
        server.make_bucket("bucket")
        with variables(server.environment()):
            put("s3://bucket/sets/train.pen", pen.read_bytes())
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def az(pen, tmp_path_factory):
    require(azurite)
    server = azurite.Azurite(tmp_path_factory.mktemp("azurite"))
    try:
        with variables(server.environment()):
            server.make_container("container")
            put("az://container/train.pen", pen.read_bytes())
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def web(pen, tmp_path_factory):
    require(nginx)
    server = nginx.Nginx(pen.parent, tmp_path_factory.mktemp("nginx") / "state")
    yield server
    server.close()


WAYS = {
    "global": {},
    "window": {"sampling": ps.WindowShuffle(blocks=2)},
    "in order": {"shuffle": False},
}


def epoch_of(data, **options):
    defaults = {"batch_size": 32, "transform": TRANSFORM, "shuffle": True, "threads": 2}
    loader = ps.Loader(data, **{**defaults, **options})
    found = [(images.numpy().copy(), labels.numpy().copy()) for images, labels in loader]
    loader.close()
    return found


def assert_same(some, others):
    for (images, labels), (other_images, other_labels) in zip(some, others, strict=True):
        np.testing.assert_array_equal(labels, other_labels)
        np.testing.assert_array_equal(images, other_images)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rate", [0.0, 0.01, 0.1])
def test_s3_by_ceph(s3, pen, way, rate):
    with (
        FaultyProxy(s3.port, Faults(rate, latency_s=(0.02, 0.05), seed=5)) as proxy,
        variables(s3.environment(proxy.address)),
    ):
        got = epoch_of("s3://bucket/sets/train.pen", storage=QUICK, **WAYS[way])
    assert_same(got, epoch_of(pen, **WAYS[way]))


def test_s3_with_a_cache(s3, pen, tmp_path):
    with variables(s3.environment()):
        for _ in range(2):
            got = epoch_of("s3://bucket/sets/train.pen", cache=tmp_path, cache_limit="1 GB")
            assert_same(got, epoch_of(pen))


def test_analyze_names_reading_behind_a_latency(s3, monkeypatch):
    """The server computes on this machine, so that it counts as another program."""
    monkeypatch.setattr("penstock.analysis.analyze.busy_banner", lambda _: "")
    monkeypatch.setattr("penstock.analysis.rates.contradiction", lambda *_: "")
    few = ps.StorageOptions(in_flight=4, gap_bytes=0)
    with (
        FaultyProxy(s3.port, Faults(latency_s=(0.05, 0.05))) as proxy,
        variables(s3.environment(proxy.address)),
        ps.Loader("s3://bucket/sets/train.pen", batch_size=10, shuffle=True, threads=1,
                  transform=T.RandomResizedCrop(24), storage=few) as loader,
    ):  # fmt: skip
        effort = Effort(rounds=1, seconds=0.5)
        found = ps.analyze(loader, device="emulated:100000", effort=effort, cores=[1])
    assert found.verdict is Verdict.READ
    assert "Reading from the store (an answer takes" in found.sentence
    assert found.store.latency_ms >= 50
    assert 5 <= found.store.requests_per_batch <= 10  # neighbours are read together
    gains = {change.change: change for change in found.what_ifs}
    for what in (CACHE, WINDOW, MORE_REQUESTS):
        assert gains[what].pipeline > found.store.images_per_s


def test_what_s3_refuses_is_said(s3):
    wrong = {**s3.environment(), "AWS_SECRET_ACCESS_KEY": "wrong"}
    with variables(wrong), pytest.raises(StorageError, match="refuses access"):
        ps.open_data("s3://bucket/sets/train.pen")
    with variables(s3.environment()), pytest.raises(StorageError, match="no such object"):
        ps.open_data("s3://bucket/sets/other.pen")


def test_a_replaced_object_in_s3_is_an_error(s3, pen):
    with variables(s3.environment()):
        put("s3://bucket/replaced.pen", pen.read_bytes())
        loader = ps.Loader("s3://bucket/replaced.pen", batch_size=4, prefetch=0, shuffle=True,
                           transform=TRANSFORM)  # fmt: skip
        batches = iter(loader)
        next(batches)
        put("s3://bucket/replaced.pen", pen.read_bytes()[::-1])
        with pytest.raises(StorageError, match="was replaced while it was open"):
            list(batches)
        loader.close()


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_azure_by_azurite(az, pen, rate):
    with (
        FaultyProxy(az.port, Faults(rate, seed=5)) as proxy,
        variables(az.environment(proxy.port)),
    ):
        got = epoch_of("az://container/train.pen", storage=QUICK)
    assert_same(got, epoch_of(pen))


def test_https_by_nginx(web, pen):
    with variables(web.environment()):
        got = epoch_of(f"https://localhost:{web.port}/train.pen")
    assert_same(got, epoch_of(pen))


def test_a_certificate_that_nobody_signed_is_refused(web):
    options = ps.StorageOptions(attempts=2, first_backoff_s=0.01)
    with pytest.raises(StorageError, match="could not be read in 2 attempts"):
        ps.open_data(f"https://localhost:{web.port}/train.pen", storage=options)


def test_http_by_nginx_at_a_tenth_of_faults(web, pen):
    with FaultyProxy(web.plain_port, Faults(0.1, seed=2)) as proxy:
        got = epoch_of(f"{proxy.address}/train.pen", storage=QUICK)
    assert_same(got, epoch_of(pen))
