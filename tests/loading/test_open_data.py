"""A Loader recognises data as `pack` does, and refuses what `pack` refuses."""

import io
import json

import numpy as np
import pytest

from dataset_samples import tar_bytes
from folders import make_image
from penstock import Loader, SourceError, open_data, pack
from penstock.packing.datasets import open_dataset


def jpeg(seed=0):
    file = io.BytesIO()
    make_image(np.random.default_rng(seed), 16, 16).save(file, "JPEG")
    return file.getvalue()


def write_tar(path):
    path.write_bytes(tar_bytes([("a.jpg", jpeg()), ("a.cls", b"1")]))


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
def test_files_of_other_layouts_are_read_as_what_they_are(tmp_path, name, kind):
    """Here they are rubbish, and the error is that of the layout."""
    (tmp_path / name).write_bytes(b"?")
    with pytest.raises(SourceError) as told:
        Loader(tmp_path / name)
    with pytest.raises(SourceError) as expected:
        open_dataset(tmp_path / name, kind)
    assert str(told.value) == str(expected.value)
    assert str(tmp_path) in str(told.value)


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


def test_folders_of_other_layouts_are_read_as_what_they_are(tmp_path):
    write(tmp_path / "coco", "annotations/a.jpg", "val2017/a.jpg")
    (tmp_path / "coco/annotations/instances_val2017.json").write_text(json.dumps({"images": []}))
    (tmp_path / "lmdb").mkdir()
    (tmp_path / "lmdb/data.mdb").write_bytes(b"?")
    (tmp_path / "shards").mkdir()
    write_tar(tmp_path / "shards/0.tar")
    with pytest.raises(SourceError, match="its list of images is empty"):
        Loader(tmp_path / "coco")
    with pytest.raises(SourceError, match="LMDB cannot open it"):
        Loader(tmp_path / "lmdb")
    assert "(webdataset)" in Loader(tmp_path / "shards").source.describe()


def test_a_folder_that_may_be_two_things_is_refused_as_by_pack(tmp_path):
    write(tmp_path, "val2017/a.jpg")
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations/instances_val2017.json").write_text(json.dumps({"images": []}))
    write_tar(tmp_path / "0.tar")
    with pytest.raises(SourceError, match=r"may be coco .* webdataset .*open_data") as told:
        Loader(tmp_path)
    with pytest.raises(SourceError) as expected:
        pack(tmp_path, tmp_path / "a.pen")
    assert str(told.value) == str(expected.value)
    assert len(Loader(open_data(tmp_path, kind="webdataset"))) == 1


def test_images_without_labels_come_alone(tmp_path):
    write(tmp_path, "a.jpg", "b.jpg")
    (images,) = Loader(tmp_path, batch_size=2, output="numpy")
    assert images.shape == (2, 3, 16, 16)


@pytest.mark.parametrize("parts", [("train", "val"), ("images", "other"), ("Train", "TEST")])
def test_parts_of_a_data_set_are_no_classes(tmp_path, parts):
    write(tmp_path, *(f"{part}/cat/a.jpg" for part in parts))
    with pytest.raises(
        SourceError, match=r"one folder per class was expected.*(any_names=True|kind='folder')"
    ):
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


@pytest.mark.parametrize("labels", [None, [0, 1]])
def test_packed_files_in_a_list_are_refused(tmp_path, labels):
    make_image(np.random.default_rng(0), 16, 16).save(tmp_path / "a.jpg")
    pack([tmp_path / "a.jpg"], tmp_path / "a.pen", labels=[0])
    with pytest.raises(SourceError, match=r"a\.pen: a packed file, in a list of 2.*by itself"):
        Loader([tmp_path / "a.pen", tmp_path / "a.jpg"], labels=labels)
