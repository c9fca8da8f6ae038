"""Packs to and from real servers: Ceph's S3 gateway and Azurite, also behind a bad network.

Where these servers cannot be had, the tests say why and are skipped.
"""

import random
import signal
import time

import obstore
import pytest

import penstock as ps
from packing.bucket_samples import QUICK, contents, penstock, write_photos
from penstock.errors import PackError, StorageError
from penstock.storage import folder as store_folder
from servers import azurite, ceph
from servers.faulty_proxy import KINDS, Faults, FaultyProxy
from storage.test_real_servers import put, require, variables

pytestmark = pytest.mark.slow

SAMPLES, SHARDS = 60, 6
NAMES = [f"class{number % 3}/ü {number:02}#.jpg" for number in range(SAMPLES)]


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return write_photos(tmp_path_factory.mktemp("photos"), NAMES)


@pytest.fixture(scope="module")
def whole(photos, tmp_path_factory):
    target = tmp_path_factory.mktemp("whole") / "set"
    ps.pack(photos, target, shards=SHARDS)
    return contents(target)


@pytest.fixture(scope="module")
def s3(photos, tmp_path_factory):
    require(ceph)
    server = ceph.Ceph(tmp_path_factory.mktemp("ceph") / "cluster")
    try:
        server.make_bucket("bucket")
        with variables(server.environment()):
            for name in NAMES:
                put(f"s3://bucket/photos/{name}", (photos / name).read_bytes())
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def az(photos, tmp_path_factory):
    require(azurite)
    server = azurite.Azurite(tmp_path_factory.mktemp("azurite"))
    try:
        server.make_container("container")
        with variables(server.environment()):
            for name in NAMES:
                put(f"az://container/photos/{name}", (photos / name).read_bytes())
        yield server
    finally:
        server.close()


def below(address):
    store = obstore.store.from_url(address, client_options={"allow_http": True})
    listed = [one["path"] for page in obstore.list(store) for one in page]
    return {name: bytes(obstore.get(store, name).bytes()) for name in listed}


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.1])
def test_s3_by_ceph(s3, whole, rate):
    target = f"s3://bucket/sets/{rate}"
    with (
        FaultyProxy(s3.port, Faults(rate, seed=3)) as proxy,
        variables(s3.environment(proxy.address)),
    ):
        ps.pack("s3://bucket/photos", target, shards=SHARDS, storage=QUICK)
    with variables(s3.environment()):
        assert below(target) == whole
        assert ps.verify(target).intact


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_azure_by_azurite(az, whole, rate):
    target = f"az://container/sets/{rate}"
    kinds = tuple(kind for kind in KINDS if kind != "stall")  # Azurite is slow without them
    with (
        FaultyProxy(az.port, Faults(rate, kinds, seed=3)) as proxy,
        variables(az.environment(proxy.port)),
    ):
        ps.pack("az://container/photos", target, shards=SHARDS, storage=QUICK)
    with variables(az.environment()):
        assert below(target) == whole
        assert ps.verify(target).intact


@pytest.mark.parametrize("store", ["s3", "az"])
def test_in_parts_of_several_processes_and_one_file(store, photos, whole, tmp_path, request):
    server = request.getfixturevalue(store)
    root = {"s3": "s3://bucket", "az": "az://container"}[store]
    with variables(server.environment()):
        for part in (1, 2):
            options = {"engine": "processes", "workers": 2, "part": f"{part}/2"}
            ps.pack(f"{root}/photos", f"{root}/parts", shards=SHARDS, **options)
        assert below(f"{root}/parts") == whole
        ps.pack(f"{root}/photos", f"{root}/one.pen")
        ps.pack(photos, tmp_path / "one.pen")
        ps.unpack(f"{root}/one.pen", tmp_path / "out")
        for name in NAMES:
            assert (tmp_path / "out" / name).read_bytes() == (photos / name).read_bytes()
        with pytest.raises(PackError, match="exists already"):
            ps.pack(photos, f"{root}/one.pen")


@pytest.mark.parametrize("store", ["s3", "az"])
def test_large_shards_go_in_parts(store, photos, tmp_path, monkeypatch, request):
    monkeypatch.setattr(store_folder, "ONE_PUT_BYTES", 1)
    server = request.getfixturevalue(store)
    target = {"s3": "s3://bucket/large.pen", "az": "az://container/large.pen"}[store]
    with variables(server.environment()):
        ps.pack(photos, target)
        ps.pack(photos, tmp_path / "here.pen")
        assert ps.verify(target).intact
        put(target, b"foreign")
        with pytest.raises(PackError, match="exists already"):
            ps.pack(photos, target)


def test_packs_that_are_killed_at_any_time_are_gone_on_with(s3, whole, tmp_path):
    """The command ends with its workers, between any two requests; nothing foreign is touched."""
    dice, target, killed = random.Random(1), "s3://bucket/killed", 0
    elsewhere = {"TMPDIR": str(tmp_path)}  # what is killed leaves its folder there
    with FaultyProxy(s3.port) as proxy, variables({**s3.environment(proxy.address), **elsewhere}):
        put("s3://bucket/killed2/foreign.txt", b"foreign")
        while True:
            words = ("pack", "s3://bucket/photos", target, "--shards", SHARDS, "--resume")
            packing = penstock(*words, "--engine", "processes", "--workers", 2)
            last = proxy.counts["requests"] + (dice.randint(5, 50) if killed < 4 else 10**6)
            while packing.poll() is None and proxy.counts["requests"] < last:
                time.sleep(0.001)
            packing.kill()
            told, _ = packing.communicate()
            if packing.returncode == 0:
                break
            assert packing.returncode == -signal.SIGKILL, told
            killed += 1
        assert below(target) == whole
        assert below("s3://bucket/killed2") == {"foreign.txt": b"foreign"}
    assert killed == 4


def test_what_s3_refuses_is_said(s3, photos, tmp_path):
    wrong = {**s3.environment(), "AWS_SECRET_ACCESS_KEY": "wrong"}
    with variables(wrong):
        for source, target in (
            (photos, "s3://bucket/x.pen"),
            ("s3://bucket/photos", tmp_path / "x.pen"),
        ):
            with pytest.raises(StorageError, match="refuses access"):
                ps.pack(source, target)
    with variables(s3.environment()):
        with pytest.raises(StorageError, match="no such bucket"):
            ps.pack(photos, "s3://nowhere/train", shards=2)
        with pytest.raises(ps.errors.SourceError, match="there is nothing below"):
            ps.pack("s3://bucket/nothing", tmp_path / "x.pen")
