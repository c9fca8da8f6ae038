"""Data sets in a bucket: the same samples, labels, order and errors as from a folder."""

import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest

import penstock as ps
from layout_samples import LAYOUTS
from packing.bucket_samples import NAMES, QUICK, upload, write_photos
from packing.samples import image_file
from penstock.cli.main import main
from penstock.errors import DecodeError, PackError, PenstockError, SourceError, StorageError
from penstock.packing import far_files, far_source
from penstock.storage import read_address
from servers.faulty_proxy import KINDS, Faults, FaultyProxy
from servers.s3_server import S3Server


@pytest.fixture
def server(monkeypatch):
    with S3Server(page=3) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture
def photos(tmp_path):
    return write_photos(tmp_path / "photos", NAMES)


def packed(source, target, **options):
    """What a pack gives: bytes and remarks, or an error; both without paths."""
    try:
        summary = ps.pack(source, target, **options)
    except PenstockError as error:
        return type(error), _placeless(str(error), source)
    told = [_placeless(line, source) for line in (summary.source, *summary.remarks)]
    return target.read_bytes(), told


def _placeless(text, source):
    return text.replace(str(source), "HERE").replace(str(source).rpartition("/")[0], "ABOVE")


def test_class_folders_give_the_same_file(server, photos, tmp_path):
    upload(server, photos, "bucket/sets/photos")
    here = packed(photos, tmp_path / "here.pen")
    there = packed("s3://bucket/sets/photos", tmp_path / "there.pen")

    assert here == there
    assert isinstance(here[0], bytes)


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_from_bucket_to_bucket(server, photos, tmp_path, engine):
    upload(server, photos, "bucket/photos")
    ps.pack(photos, tmp_path / "here", shards=3)
    ps.pack("s3://bucket/photos", "s3://bucket/set", shards=3, engine=engine)

    expected = {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()}
    assert server.below("bucket/set") == expected


TREES = {
    "stray files": (*NAMES, "readme.txt", "a/notes.csv", ".DS_Store"),
    "one class": ("only/1.jpg", "only/2.jpg"),
    "a class without images": ("a/1.jpg", "b/readme.txt"),
    "a hidden folder": ("a/1.jpg", ".ipynb_checkpoints/2.jpg"),
    "images without folders": ("1.jpg", "b.jpg", "a.jpg"),
    "images beside a hidden folder": ("1.jpg", ".git/config"),
    "images beside folders": ("1.jpg", "a/2.jpg"),
    "no images": ("readme.txt", "a/b.txt"),
    "splits": ("train/a/1.jpg", "val/a/2.jpg"),
    "parts": ("images/1.jpg", "labels/1.txt"),
    "images and masks": ("images/1.png", "masks/1.png"),
    "a class named like a split": ("train/1.jpg", "bus/2.jpg", "car/3.jpg"),
    "captions": ("a/1.jpg", "a/1.txt", "b/2.jpg", "b/2.txt"),
    "archives": ("a/1.jpg", "old.zip"),
}


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("kind", [None, "folder"])
def test_what_is_recognised_or_refused_is_the_same(server, tmp_path, tree, kind):
    root = tmp_path / "data"
    for number, name in enumerate(TREES[tree]):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        is_image = name.endswith(("jpg", "JPG", "png"))
        path.write_bytes(image_file(number) if is_image else b"0 0.5 0.5 0.2 0.2\n")
    upload(server, root, "bucket/data")
    here = packed(root, tmp_path / "here.pen", kind=kind)
    there = packed("s3://bucket/data", tmp_path / "there.pen", kind=kind)

    assert there == here


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_file(server, tmp_path, layout):
    write, module = LAYOUTS[layout]
    if module is not None:
        pytest.importorskip(module)
    root = tmp_path / "data"
    root.mkdir()
    opened = Path(write(root))
    if opened.suffix in {".json", ".yaml"}:
        opened = root
    upload(server, root, "bucket/data")
    address = f"s3://bucket/data/{opened.relative_to(root).as_posix()}".removesuffix("/.")
    here = packed(opened, tmp_path / "here.pen")
    there = packed(address, tmp_path / "there.pen")

    assert here == there
    assert isinstance(here[0], bytes)


def test_archives_by_a_pattern(server, tmp_path):
    write, _ = LAYOUTS["webdataset"]
    (tmp_path / "data").mkdir()
    tar = Path(write(tmp_path / "data"))
    tars = [tar] if tar.is_file() else sorted(tar.glob("*.tar"))
    for number in range(2):
        shutil.copy(tars[0], tmp_path / f"train-{number}.tar")
    upload(server, tmp_path, "bucket/tars")
    options = {"on_error": "skip"}
    ps.pack(f"{tmp_path}/train-{{0..1}}.tar", tmp_path / "here.pen", **options)
    ps.pack("s3://bucket/tars/train-{0..1}.tar", tmp_path / "there.pen", **options)

    assert (tmp_path / "there.pen").read_bytes() == (tmp_path / "here.pen").read_bytes()
    with pytest.raises(SourceError, match=r"train-2\.tar.*1 of 3 archives that are missing"):
        ps.pack("s3://bucket/tars/train-{0..2}.tar", tmp_path / "x.pen")


def test_classes_without_images_can_be_allowed(server, tmp_path):
    write_photos(tmp_path / "data", ("a/1.jpg", "c/2.jpg"))
    (tmp_path / "data" / "b").mkdir()
    (tmp_path / "data" / "b" / "none.txt").write_text("")
    upload(server, tmp_path / "data", "bucket/data")
    for source, target in ((tmp_path / "data", "here.pen"), ("s3://bucket/data", "there.pen")):
        words = ["pack", str(source), str(tmp_path / target), "--allow-empty", "--json"]
        assert main(words) == 0
    assert (tmp_path / "there.pen").read_bytes() == (tmp_path / "here.pen").read_bytes()
    assert ps.inspect(tmp_path / "there.pen").classes == ("a", "b", "c")


def test_labels_of_a_file_go_with_images_in_a_bucket(server, photos, tmp_path, capsys):
    upload(server, photos, "bucket/photos")
    lines = ["file,label", *(f"{name},{len(name)}" for name in NAMES)]
    (tmp_path / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
    here = packed(photos, tmp_path / "here.pen", labels=tmp_path / "labels.csv")
    there = packed("s3://bucket/photos", tmp_path / "there.pen", labels=tmp_path / "labels.csv")

    assert isinstance(here[0], bytes)
    assert here[0] == there[0]
    words = ["--labels", str(tmp_path / "labels.csv"), "--file-column", "file"]
    assert main(["pack", "s3://bucket/photos", str(tmp_path / "x.pen"), *words]) == 2
    assert "--file-column: does not go with a data set in a store" in capsys.readouterr().err


def test_few_images_are_in_memory(server, photos, tmp_path, monkeypatch):
    """However many there are, only some are fetched ahead."""
    monkeypatch.setattr(far_files, "AHEAD_BYTES", 3000)
    upload(server, photos, "bucket/photos")
    fetched = []
    started = far_files.FarFile.started

    def note(self):
        fetched.append(self.size)
        return started(self)

    monkeypatch.setattr(far_files.FarFile, "started", note)
    from penstock.packing.store_folder import list_store, open_store_folder

    items = open_store_folder(
        list_store(far_source.far_folder(read_address("s3://bucket/photos")))
    ).items()
    ahead = far_files.fetched_ahead(items)
    next(ahead)
    assert sum(fetched) <= 3000 + max(fetched)
    ahead.close()


def test_a_replaced_object_is_an_error(server, photos, tmp_path):
    upload(server, photos, "bucket/photos")
    name = "/bucket/photos/z/0.png"
    changed = bytes(bytearray(server.objects[name]))

    class Replacing(dict):
        def get(self, key, default=None):
            if key.endswith("a-b/1.jpg"):
                self[name] = changed
            return super().get(key, default)

    server.objects = Replacing(server.objects)
    options = ps.StorageOptions(in_flight=1)
    with pytest.raises(StorageError, match=r"z/0\.png: was replaced since it was listed"):
        ps.pack("s3://bucket/photos", tmp_path / "x.pen", on_error="skip", storage=options)


def test_an_object_that_is_gone_is_not_skipped(server, photos, tmp_path):
    upload(server, photos, "bucket/photos")

    class Forgetting(dict):
        def get(self, key, default=None):
            return default if key.endswith("z/0.png") else super().get(key, default)

    server.objects = Forgetting(server.objects)
    with pytest.raises(StorageError, match=r"z/0\.png: there is no such object"):
        ps.pack("s3://bucket/photos", tmp_path / "x.pen", on_error="skip")


def test_broken_images_are_named_or_left_out(server, photos, tmp_path):
    (photos / "a" / "2.jpg").write_bytes(b"nothing")
    upload(server, photos, "bucket/photos")
    with pytest.raises(DecodeError, match=r"a/2\.jpg.*--on-error=skip"):
        ps.pack("s3://bucket/photos", tmp_path / "x.pen")
    here = packed(photos, tmp_path / "here.pen", on_error="skip")
    there = packed("s3://bucket/photos", tmp_path / "x.pen", on_error="skip", resume=True)
    assert here == there


def test_resume_does_not_fetch_what_is_packed(server, photos, tmp_path):
    upload(server, photos, "bucket/photos")
    server.objects["/bucket/photos/übung/z.jpg"] = b"nothing"
    with pytest.raises(DecodeError, match=r"übung/z\.jpg"):
        ps.pack("s3://bucket/photos", tmp_path / "x.pen")
    server.requests.clear()
    server.objects["/bucket/photos/übung/z.jpg"] = image_file(9)
    ps.pack("s3://bucket/photos", tmp_path / "x.pen", resume=True)

    asked = {unquote(name) for method, name, _ in server.requests if method == "GET"}
    assert asked == {"/bucket/photos/übung/z.jpg"}
    write_photos(photos, ("übung/z.jpg",))
    (photos / "übung" / "z.jpg").write_bytes(image_file(9))
    ps.pack(photos, tmp_path / "here.pen")
    assert (tmp_path / "x.pen").read_bytes() == (tmp_path / "here.pen").read_bytes()


def test_resume_finds_that_an_object_has_changed(server, photos, tmp_path):
    upload(server, photos, "bucket/photos")
    server.objects["/bucket/photos/übung/z.jpg"] = b"nothing"
    with pytest.raises(DecodeError, match=r"übung/z\.jpg"):
        ps.pack("s3://bucket/photos", tmp_path / "x.pen")
    server.objects["/bucket/photos/a/2.jpg"] = image_file(77)
    with pytest.raises(PackError, match=r"a/2\.jpg\) has other content"):
        ps.pack("s3://bucket/photos", tmp_path / "x.pen", resume=True)


@pytest.mark.parametrize("rate", [0.01, 0.1])
def test_a_bad_network_changes_no_byte(server, tmp_path, monkeypatch, rate):
    names = [f"class{number % 3}/{number:02}.jpg" for number in range(40)]
    photos = write_photos(tmp_path / "photos", names)
    upload(server, photos, "bucket/photos")
    ps.pack(photos, tmp_path / "here.pen")
    kinds = tuple(kind for kind in KINDS if kind != "stall") if rate > 0.05 else KINDS
    with FaultyProxy(server.port, Faults(rate, kinds, seed=4)) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.address)
        ps.pack("s3://bucket/photos", tmp_path / "there.pen", storage=QUICK)
    assert (tmp_path / "there.pen").read_bytes() == (tmp_path / "here.pen").read_bytes()


def test_folder_marks_are_no_images(server, photos, tmp_path):
    """Some tools put an empty object where they show a folder."""
    upload(server, photos, "bucket/photos")
    server.objects["/bucket/photos/a"] = b""
    here = packed(photos, tmp_path / "here.pen")
    assert packed("s3://bucket/photos", tmp_path / "there.pen") == here

    server.objects["/bucket/photos/a"] = b"both"
    with pytest.raises(SourceError, match="an object of 4 bytes, and a folder"):
        ps.pack("s3://bucket/photos", tmp_path / "x.pen")


def test_what_has_to_be_copied_has_a_limit(server, tmp_path):
    write, _ = LAYOUTS["coco"]
    (tmp_path / "data").mkdir()
    write(tmp_path / "data")
    upload(server, tmp_path / "data", "bucket/data")
    with pytest.raises(SourceError, match=r"has to be copied.*1,000 bytes are.*--staging-limit"):
        ps.pack("s3://bucket/data", tmp_path / "x.pen", staging_limit=1000)
    with pytest.raises(SourceError, match=r"workers on other machines.*--engine processes"):
        ps.pack("s3://bucket/data", tmp_path / "x", shards=2, engine="ray")
    with pytest.raises(PackError, match="nowhere: no such folder for staging"):
        ps.pack("s3://bucket/data", tmp_path / "x.pen", staging=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("s3://bucket", {}, "names no object"),
        ("https://host/photos", {}, r"cannot be sure to get all.*wget"),
        ("hf://datasets/a/b", {}, r"cannot be sure to get all.*huggingface-cli"),
        ("s3://bucket/nothing", {}, "there is nothing below this address"),
        ("s3://nowhere/photos", {}, "no such bucket"),
        ("s3://bucket/train.pen", {}, "a packed file.*penstock unpack"),
        ("s3://bucket/ann.json", {}, "images belong to it"),
        ("s3://bucket/gone.tar", {}, "no such object"),
        (["s3://bucket/1.jpg"], {}, "a list of objects in a store"),
        ("s3://bucket/photos", {"split": "train"}, "no splits"),
        ("s3://bucket/photos", {"kind": "nonsense"}, "kind: must be one of"),
        ("s3://bucket/photos", {"images": "s3://bucket/x"}, "must be on this machine"),
    ],
)
def test_what_is_not_read_is_said(server, photos, tmp_path, source, options, message):
    upload(server, photos, "bucket/photos")
    with pytest.raises(PenstockError, match=message):
        ps.pack(source, tmp_path / "x.pen", **options)
    assert not (tmp_path / "x.pen").exists()


def test_a_target_that_exists_is_found_before_anything_is_listed(server, photos, tmp_path):
    upload(server, photos, "bucket/photos")
    (tmp_path / "x.pen").write_bytes(b"")
    with pytest.raises(PackError, match="exists already"):
        ps.pack("s3://bucket/photos", tmp_path / "x.pen")
    assert server.requests == []
