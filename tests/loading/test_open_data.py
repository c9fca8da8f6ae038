"""A Loader that is given what only `pack` reads says how to pack it."""

import io
import json
import tarfile

import pytest

from folders import make_image
from penstock import Loader, SourceError, pack


def jpeg(seed=0):
    import numpy as np

    file = io.BytesIO()
    make_image(np.random.default_rng(seed), 16, 16).save(file, "JPEG")
    return file.getvalue()


def write_tar(path):
    with tarfile.open(path, "w") as tar:
        for name, data in (("a.jpg", jpeg()), ("a.cls", b"1")):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def test_the_call_that_is_named_works(tmp_path):
    source = tmp_path / "x.tar"
    write_tar(source)
    target = tmp_path / "x.pen"
    with pytest.raises(SourceError) as told:
        Loader(source)
    assert f'penstock.pack("{source}", "{target}")' in str(told.value)
    assert f"penstock pack {source} {target}" in str(told.value)
    pack(str(source), str(target))
    assert len(Loader(target, output="numpy")) == 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("x.parquet", "parquet"),
        ("x.tfrecord", "tfrecord"),
        ("train.tfrecord-00000-of-00002", "tfrecord"),
        ("x.rec", "recordio"),
        ("x.h5", "hdf5"),
        ("x.lmdb", "lmdb"),
        ("instances_val.json", "coco"),
        ("data.yaml", "yolo"),
    ],
)
def test_files_of_other_layouts_are_named(tmp_path, name, kind):
    (tmp_path / name).write_bytes(b"?")
    with pytest.raises(SourceError, match=rf"this is {kind} data.*penstock\.pack\("):
        Loader(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("x.zip", "Unpack it first"),
        ("x.jpg", "a single image. Give a list of files"),
        ("x.npy", "not a folder, a packed file"),
    ],
)
def test_files_that_are_no_data_sets_are_told_apart(tmp_path, name, told):
    (tmp_path / name).write_bytes(b"?")
    with pytest.raises(SourceError, match=told):
        Loader(tmp_path / name)


def write(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(jpeg())


def test_folders_of_other_layouts_are_named(tmp_path):
    write(tmp_path / "yolo", "images/train/a.jpg", "labels/train/a.txt")
    write(tmp_path / "coco", "annotations/a.jpg", "val2017/a.jpg")
    (tmp_path / "coco/annotations/instances_val2017.json").write_text(json.dumps({"images": []}))
    (tmp_path / "lmdb").mkdir()
    (tmp_path / "lmdb/data.mdb").write_bytes(b"?")
    (tmp_path / "shards").mkdir()
    write_tar(tmp_path / "shards/0.tar")
    for name, kind in {"yolo": 0, "coco": 0, "lmdb": 0, "shards": "webdataset"}.items():
        with pytest.raises(SourceError, match=rf"this is {kind or name} data.*penstock\.pack\("):
            Loader(tmp_path / name)


@pytest.mark.parametrize("parts", [("train", "val"), ("images", "masks"), ("Train", "TEST")])
def test_parts_of_a_data_set_are_no_classes(tmp_path, parts):
    write(tmp_path, *(f"{part}/cat/a.jpg" for part in parts))
    with pytest.raises(SourceError, match=r"one folder per class was expected.*any_names=True"):
        Loader(tmp_path)
    assert Loader(tmp_path / parts[0], output="numpy").classes == ("cat",)


def test_a_class_may_have_the_name_of_a_part_among_others(tmp_path):
    write(tmp_path, "bus/a.jpg", "train/a.jpg")
    assert Loader(tmp_path, output="numpy").classes == ("bus", "train")


def test_hidden_folders_are_no_classes_unasked(tmp_path):
    write(tmp_path, "cat/a.jpg", "dog/b.jpg", ".ipynb_checkpoints/a.jpg")
    with pytest.raises(SourceError, match=r"hidden folder \.ipynb_checkpoints"):
        Loader(tmp_path)
    with pytest.raises(SourceError, match=r"hidden folder \.ipynb_checkpoints"):
        pack(tmp_path, tmp_path / "a.pen")
