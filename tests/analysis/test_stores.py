"""Data in a store: that reading limits a training is said, and what would change it."""

import json

import pytest

import penstock as ps
from analysis_samples import measurements
from penstock import transforms as T
from penstock.analysis.advice import CACHE, MORE_REQUESTS, WINDOW
from penstock.analysis.measure import Effort
from penstock.analysis.sweeps.stores import Demand
from penstock.analysis.verdict import judge
from penstock.cli.user_object import is_object
from penstock.costs.costs import Cost, Costs
from penstock.costs.store_costs import READING
from penstock.report.html import draw_page
from penstock.results.from_json import analysis_from_dict
from penstock.results.records import StoreReading, Verdict
from penstock.storage.speed import Speed
from slow_store import SlowStore, pack_photos

ADDRESS = "s3://bucket/train.pen"
STORE = StoreReading(
    address=ADDRESS,
    reads="records",
    reasons=("reads records: there is no cache.",),
    images_per_s=500.0,
    waiting_us=3500.0,
    latency_ms=50.0,
    megabytes_per_s=80.0,
    requests_per_batch=64.0,
    bytes_per_batch=7e6,
    least_bytes_per_batch=7e6,
)
COSTS = Costs(
    (Cost("read", READING, 3.5e-3, "store"), Cost("decode", "decode", 5e-4, "core")), store=STORE
)


@pytest.fixture(scope="module")
def pen(tmp_path_factory):
    return pack_photos(tmp_path_factory.mktemp("store") / "train.pen", 120)


@pytest.fixture
def far_loader(pen, monkeypatch):
    """A loader that cannot be fast: each of two requests at a time takes 20 ms for one image."""
    SlowStore(pen.read_bytes(), latency_s=0.02).install(monkeypatch)
    loader = ps.Loader(
        ADDRESS,
        batch_size=4,
        transform=T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip()]),
        shuffle=True,
        threads=1,
        storage=ps.StorageOptions(in_flight=2, gap_bytes=0),
    )
    yield loader
    loader.close()


def test_reading_is_named_with_what_was_measured_of_the_store(far_loader):
    found = ps.analyze(far_loader, device="emulated:100000", effort=Effort(1, 0.2), cores=[1])

    assert found.verdict is Verdict.READ
    assert found.sentence.startswith("Reading from the store (an answer takes ")
    store = found.store
    assert store.reads == "records"
    assert store.latency_ms >= 20
    assert store.requests_per_batch == pytest.approx(4, rel=0.3)
    assert store.bytes_per_batch == pytest.approx(store.least_bytes_per_batch, rel=0.4)
    assert found.first_epoch is None  # no files of this machine to forget
    assert found.ops[0].name == READING
    assert found.ops[0].share > 0.5
    changes = {change.change: change for change in found.what_ifs}
    for what in (CACHE, WINDOW, MORE_REQUESTS):
        assert changes[what].pipeline > 2 * store.images_per_s  # measured, all of them
    lines = "\n".join(advice.line for advice in found.advice)
    assert 'cache="FOLDER", cache_limit="' in lines
    assert "sampling=penstock.WindowShuffle(" in lines
    assert "storage=penstock.StorageOptions(in_flight=8)" in lines
    checked = [check.what for check in found.predictions]
    assert f"the pipeline alone, {CACHE}" in checked
    assert analysis_from_dict(json.loads(json.dumps(found.to_dict()))).store == store
    page = draw_page(found)
    assert '<section id="store">' in page


def test_a_cache_that_has_everything_is_not_advised_again(pen, monkeypatch, tmp_path):
    SlowStore(pen.read_bytes(), latency_s=0.001).install(monkeypatch)
    with ps.Loader(
        ADDRESS, batch_size=8, transform=T.RandomResizedCrop(32), shuffle=True, threads=1,
        cache=tmp_path, cache_limit="1 GB",
    ) as loader:  # fmt: skip
        list(loader)
        found = ps.analyze(loader, device="emulated:100000", effort=Effort(1, 0.05), cores=[1])
    assert found.store.reads == "blocks"
    assert found.store.hits == 1
    assert found.store.requests_per_batch == 0
    assert not {CACHE, WINDOW, MORE_REQUESTS} & {change.change for change in found.what_ifs}


def test_the_sentence_says_how_fast_the_store_is():
    finding = judge(measurements(4000, 500, 480, costs=COSTS, worker_kind="threads"))

    assert finding.verdict is Verdict.READ
    assert (
        "an answer takes 50 ms, one request brings 80 MB/s, a batch takes 64 requests and 7 MB"
        in finding.sentence
    )
    assert "reads records: there is no cache." in finding.evidence


@pytest.mark.parametrize(
    ("demand", "images_per_s"),
    [
        (Demand(requests=0, bytes_read=0, in_flight=1), 4000),  # two cores, 500 µs each
        (Demand(requests=1, bytes_read=0, in_flight=64), 1280),  # 64 answers every 50 ms
        (Demand(requests=1, bytes_read=0, in_flight=256), 4000),
        (Demand(requests=0.03, bytes_read=1e6, in_flight=64, full_rate=8), 640),  # of 80 MB/s
    ],
)
def test_the_scarcest_thing_decides_what_is_predicted(demand, images_per_s):
    assert demand.rate(COSTS, STORE, cores=2) == pytest.approx(images_per_s)


def test_an_address_is_no_object_of_a_module():
    assert not is_object(ADDRESS)
    assert is_object("train.py:loader")


@pytest.mark.parametrize(
    ("latency_s", "bytes_per_s", "size", "way"),
    [(0.001, 1e9, (64, 96), "whole records"), (0.001, 1e5, (900, 900), "only rows")],
)
def test_explain_says_by_which_figures_rows_or_records_are_read(
    tmp_path, monkeypatch, latency_s, bytes_per_s, size, way
):
    content = pack_photos(tmp_path / "train.pen", 6, size).read_bytes()
    SlowStore(content, 0.0).install(monkeypatch)

    def note(speed, count, _, noted=Speed.note):
        noted(speed, count, latency_s + count / bytes_per_s)  # as if nothing else were done here

    monkeypatch.setattr(Speed, "note", note)
    # So that even a small index has a small and a large part, and tells latency and bandwidth.
    monkeypatch.setattr("penstock.storage.speed._SMALL_BYTES", 1024)
    monkeypatch.setattr("penstock.data.remote._TELLING_BYTES", 1024)
    monkeypatch.setattr("penstock.packing.remote_index.SUFFIX_BYTES", 1024)
    with ps.Loader(ADDRESS, transform=T.RandomResizedCrop(32), shuffle=True) as loader:
        told = str(loader.explain())
    assert way in told
    assert "MB/s each (measured; an answer took" in told
