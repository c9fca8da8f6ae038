"""Packs in a bucket: the bytes of a pack on a disk, complete or not there, and nothing foreign."""

import json
import os
import signal
import threading

import pytest

import penstock as ps
from packing.bucket_samples import QUICK, contents, penstock, write_photos
from packing.dying_source import DyingSource
from packing.samples import ListSource, mixed_source
from penstock.cli.main import main
from penstock.errors import DecodeError, PackError, StorageError
from penstock.packing.items import PackItem
from penstock.storage import folder as store_folder
from servers.faulty_proxy import KINDS, Faults, FaultyProxy
from servers.s3_server import S3Server

SAMPLES, SHARDS = 23, 5
TARGET = "s3://bucket/sets/train"


@pytest.fixture
def server(monkeypatch):
    with S3Server(page=4) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    names = [f"class{number % 3}/{number:02}.jpg" for number in range(SAMPLES)]
    return write_photos(tmp_path_factory.mktemp("photos"), names)


@pytest.fixture(scope="module")
def whole(photos, tmp_path_factory):
    """What a pack on a disk gives."""
    target = tmp_path_factory.mktemp("whole") / "set"
    ps.pack(photos, target, shards=SHARDS)
    return contents(target)


@pytest.fixture(autouse=True)
def staging(tmp_path, monkeypatch):
    """The folder of temporary files, in which nothing may be left."""
    folder = tmp_path / "staging"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert not [path for path in folder.iterdir() if path.name.startswith("penstock-staging")]


def shard_puts(server):
    return [name for method, name, _ in server.requests if method == "PUT" and name[-4:] == ".pen"]


@pytest.mark.parametrize("options", [{}, {"engine": "processes", "workers": 2}])
def test_a_folder_of_shards(server, photos, whole, tmp_path, options):
    summary = ps.pack(photos, TARGET, shards=SHARDS, **options)

    assert server.below("bucket/sets/train") == whole
    here = ps.pack(photos, tmp_path / "here", shards=SHARDS)
    assert summary == here


def test_the_manifest_comes_when_all_shards_are_there(server, photos, whole):
    seen = {}
    server.before_put = lambda name: seen.setdefault(name, set(server.below("bucket/sets/train")))
    ps.pack(photos, TARGET, shards=SHARDS)

    there = seen["/bucket/sets/train/manifest.json"]
    assert there >= set(whole) - {"manifest.json"}


def test_one_file(server, photos, tmp_path, capsys):
    assert main(["pack", str(photos), "s3://bucket/one.pen", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    ps.pack(photos, tmp_path / "one.pen")

    assert summary["samples"] == SAMPLES
    assert server.objects == {"/bucket/one.pen": (tmp_path / "one.pen").read_bytes()}
    with pytest.raises(PackError, match="exists already"):
        ps.pack(photos, "s3://bucket/one.pen")
    server.objects["/bucket/one.pen.unfinished"] = b"foreign"
    assert ps.pack(photos, "s3://bucket/one.pen", resume=True).samples == SAMPLES
    assert server.objects["/bucket/one.pen.unfinished"] == b"foreign"
    del server.objects["/bucket/one.pen"]
    with pytest.raises(PackError, match="an unfinished pack is there, or one that runs"):
        ps.pack(photos, "s3://bucket/one.pen")
    with pytest.raises(PackError, match=r"one\.pen\.unfinished: another object is there"):
        ps.pack(photos, "s3://bucket/one.pen", resume=True)
    assert server.objects == {"/bucket/one.pen.unfinished": b"foreign"}


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_parts_come_together(server, photos, whole, order):
    first, last = order
    summary = ps.pack(photos, TARGET, shards=SHARDS, part=f"{first}/2")
    assert len(summary.waits_for) == SHARDS // 2 + (first == 2)
    assert "manifest.json" not in server.below("bucket/sets/train")
    with pytest.raises(PackError, match=r"this part of the pack was begun before.*--resume"):
        ps.pack(photos, TARGET, shards=SHARDS, part=f"{first}/2")

    again = ps.pack(photos, TARGET, shards=SHARDS, part=f"{first}/2", resume=True)
    assert again.waits_for == summary.waits_for
    summary = ps.pack(photos, TARGET, shards=SHARDS, part=f"{last}/2")
    assert summary.waits_for == ()
    assert summary.samples == SAMPLES
    assert server.below("bucket/sets/train") == whole


def test_parts_that_run_at_the_same_time(server, photos, whole):
    parts = [
        penstock("pack", photos, TARGET, "--shards", SHARDS, "--part", f"{part}/3")
        for part in (1, 2, 3)
    ]
    told = [part.communicate()[0] for part in parts]
    assert [part.returncode for part in parts] == [0, 0, 0], told
    assert server.below("bucket/sets/train") == whole


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_resume_knows_from_the_bucket_what_is_finished(server, photos, whole, engine):
    puts = []

    def fill_up(name):
        puts.append(name)
        if len([one for one in puts if one.endswith(".pen")]) == 3:
            server.refuses = "QuotaExceeded"

    server.before_put = fill_up
    with pytest.raises(StorageError, match=r"the bucket is full.*--resume"):
        ps.pack(photos, TARGET, shards=SHARDS)
    assert "manifest.json" not in server.below("bucket/sets/train")
    with pytest.raises(PackError, match=r"an unfinished pack is there. Go on with --resume"):
        ps.pack(photos, TARGET, shards=SHARDS)

    server.refuses = server.before_put = None
    server.requests.clear()
    summary = ps.pack(photos, TARGET, shards=SHARDS, resume=True, engine=engine)
    assert len(shard_puts(server)) == SHARDS - 2
    assert summary.samples == SAMPLES
    assert server.below("bucket/sets/train") == whole


def test_resume_refuses_another_source_and_other_options(server, photos, tmp_path):
    ps.pack(photos, TARGET, shards=SHARDS, part="1/2")
    before = dict(server.objects)
    for options, message in (
        ({"shards": 4}, "an unfinished pack of 5 files is there"),
        ({"shards": SHARDS, "keep_jpeg": True}, "other columns, classes or settings"),
    ):
        with pytest.raises(PackError, match=message):
            ps.pack(photos, TARGET, resume=True, **options)
    names = [f"class{number % 3}/{number:02}.jpg" for number in range(SAMPLES)]
    other = write_photos(tmp_path / "other", names)
    (other / "class0" / "00.jpg").write_bytes((other / "class1" / "01.jpg").read_bytes())
    with pytest.raises(PackError, match=r"sample 0 \(class0/00.jpg\) has other content"):
        ps.pack(other, TARGET, shards=SHARDS, resume=True)
    (other / "class0" / "00.jpg").unlink()
    with pytest.raises(PackError, match="it had 23 samples and has 22 now"):
        ps.pack(other, TARGET, shards=SHARDS, resume=True)
    assert server.objects == before


def test_what_is_there_is_neither_overwritten_nor_deleted(server, photos):
    server.objects["/bucket/sets/train/readme.txt"] = b"mine"
    server.objects["/bucket/sets/train2/other.txt"] = b"mine, too"
    for resume in (False, True):
        with pytest.raises(PackError, match=r"not of a pack, such as readme\.txt"):
            ps.pack(photos, TARGET, shards=SHARDS, resume=resume)
    assert len(server.objects) == 2
    del server.objects["/bucket/sets/train/readme.txt"]
    shard = "/bucket/sets/train/00002-of-00005.pen"
    server.before_put = lambda _: server.objects.setdefault(shard, b"foreign")
    with pytest.raises(PackError, match=r"00002-of-00005\.pen: another object is there"):
        ps.pack(photos, TARGET, shards=SHARDS)
    assert server.objects[shard] == b"foreign"
    assert "/bucket/sets/train/manifest.json" not in server.objects

    server.before_put = None
    with pytest.raises(PackError, match="another object is there"):
        ps.pack(photos, TARGET, shards=SHARDS, resume=True)
    del server.objects[shard]
    ps.pack(photos, TARGET, shards=SHARDS, resume=True)
    assert server.objects["/bucket/sets/train2/other.txt"] == b"mine, too"


def test_a_finished_shard_that_somebody_replaced_is_found(server, photos, whole):
    ps.pack(photos, TARGET, shards=SHARDS, part="1/2")
    name = "/bucket/sets/train/00000-of-00005.pen"
    good = server.objects[name]
    server.objects[name] = good[:-1] + b"x"
    with pytest.raises(PackError, match="is not the shard that was uploaded"):
        ps.pack(photos, TARGET, shards=SHARDS, resume=True)

    server.objects[name] = bytes(bytearray(good))  # the same bytes, with another etag
    ps.pack(photos, TARGET, shards=SHARDS, resume=True)
    assert server.below("bucket/sets/train") == whole


def test_large_shards_go_in_parts(server, photos, whole, monkeypatch):
    monkeypatch.setattr(store_folder, "ONE_PUT_BYTES", 1)
    ps.pack(photos, TARGET, shards=SHARDS)
    assert server.below("bucket/sets/train") == whole
    assert server.uploads == {}

    server.objects["/bucket/one.pen.x"] = b""
    server.before_put = lambda _: server.objects.setdefault("/bucket/one.pen", b"foreign")
    with pytest.raises(PackError, match="exists already"):
        ps.pack(photos, "s3://bucket/one.pen")
    assert server.objects["/bucket/one.pen"] == b"foreign"


def test_workers_that_are_killed_are_replaced(server, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    source = mixed_source(SAMPLES)
    ps.pack(source, tmp_path / "whole", shards=SHARDS)
    dying = DyingSource(
        *(source.listed, source.columns, source.classes, source.box_classes),
        dies_at=(0, 7, 22),
        marks=marks,
    )
    summary = ps.pack(dying, TARGET, shards=SHARDS, engine="processes", workers=2)

    assert server.below("bucket/sets/train") == contents(tmp_path / "whole")
    assert any("3 times a worker died" in remark for remark in summary.remarks)


@pytest.mark.parametrize("doomed", ["00001-of-00005.pen", "00002-of-00005.pen.journal",
                                    "00003-of-00005.pen.done", "manifest.json"])  # fmt: skip
def test_a_pack_that_is_killed_while_it_uploads_is_gone_on_with(
    server, photos, whole, staging, doomed
):
    arrived = threading.Event()

    def kill(name):
        if name.endswith(doomed):
            arrived.set()
            packing.kill()

    server.before_put = kill
    packing = penstock("pack", photos, TARGET, "--shards", SHARDS)
    packing.communicate()
    assert arrived.is_set()
    assert packing.returncode == -signal.SIGKILL

    server.before_put = None
    for left in staging.glob("*/lock"):  # as if some time had passed
        os.utime(left, (1, 1))
    ps.pack(photos, TARGET, shards=SHARDS, resume=True)
    assert server.below("bucket/sets/train") == whole


@pytest.mark.parametrize("rate", [0.01, 0.1])
def test_a_bad_network_changes_no_byte(server, photos, whole, monkeypatch, rate):
    kinds = tuple(kind for kind in KINDS if kind != "stall") if rate > 0.05 else KINDS
    with FaultyProxy(server.port, Faults(rate, kinds, seed=1)) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.address)
        ps.pack(photos, TARGET, shards=SHARDS, storage=QUICK)
    assert server.below("bucket/sets/train") == whole


def test_a_broken_file_is_named_and_leaves_no_claim(server):
    items = [PackItem(f"{number}.jpg", mixed_source(9).listed[0].data) for number in range(9)]
    items[0] = PackItem("bad.jpg", b"nothing")
    with pytest.raises(DecodeError, match=r"bad\.jpg.*--on-error=skip"):
        ps.pack(ListSource(items), TARGET, shards=3)
    assert server.objects == {}

    summary = ps.pack(ListSource(items), TARGET, shards=3, on_error="skip")
    assert (summary.samples, len(summary.skipped)) == (8, 1)


def test_verbs_and_loader_on_the_result(server, photos, tmp_path):
    ps.pack(photos, TARGET, shards=SHARDS)
    assert ps.verify(TARGET).intact
    assert ps.inspect(TARGET).summary.samples == SAMPLES
    ps.unpack(TARGET, tmp_path / "out")
    for path in photos.rglob("*.jpg"):
        assert (tmp_path / "out" / path.relative_to(photos)).read_bytes() == path.read_bytes()
    resize = ps.transforms.Resize((9, 9))
    with (
        ps.Loader(TARGET, batch_size=8, transform=resize, shuffle=True) as there,
        ps.Loader(photos, batch_size=8, transform=resize, shuffle=True) as here,
    ):
        for (images, labels), (others, other_labels) in zip(there, here, strict=True):
            assert (images == others).all()
            assert (labels == other_labels).all()


def test_a_pack_that_is_not_finished_is_not_read(server, photos):
    ps.pack(photos, TARGET, shards=SHARDS, part="1/2")
    for read in (ps.verify, ps.inspect, ps.open_data):
        with pytest.raises(StorageError, match=r"unfinished.*--resume"):
            read(TARGET)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("https://host/train.pen", {}, "https:// can only be read"),
        ("hf://datasets/a/b/train.pen", {}, "hf:// can only be read"),
        ("s3://bucket/train", {}, r"must end in \.pen.*--shards"),
        ("s3://bucket/train.pen", {"shards": 2}, "2 files need a folder"),
        ("s3://nowhere/train", {"shards": 2}, "no such bucket"),
        ("s3://nowhere/train.pen", {}, "no such bucket"),
    ],
)
def test_where_nothing_can_be_written(server, target, options, message):
    with pytest.raises(ps.errors.PenstockError, match=message):
        ps.pack(mixed_source(4), target, **options)
    assert server.objects == {}


def test_who_may_not_write_hears_it_before_the_work(server):
    server.refuses = "AccessDenied"
    source = mixed_source(4)
    for target, shards in ((TARGET, 2), ("s3://bucket/one.pen", 1)):
        with pytest.raises(StorageError, match="refuses access"):
            ps.pack(source, target, shards=shards)
    assert source.started == []


def test_what_is_for_stores_is_refused_elsewhere(tmp_path):
    with pytest.raises(PackError, match="staging=: for a source or target in a store"):
        ps.pack(mixed_source(4), tmp_path / "a.pen", staging=tmp_path)
