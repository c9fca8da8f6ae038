import sys

import pytest

from dataset_samples import image_bytes, tar_bytes
from penstock.errors import SourceError
from penstock.packing.datasets import KINDS, layout_source, open_dataset
from penstock.packing.items import PackSource

SAMPLES = {
    "detect/coco128/instances.json": ("coco", 80),
    "formats/webdataset": ("webdataset", 11),
    "formats/imagenet_tar/ILSVRC2012_img_train.tar": ("imagenet", 100),
    "formats/parquet": ("parquet", 3),
    "formats/tfrecord/raccoon_test.record": ("tfrecord", 40),
    "formats/recordio/benz_train.rec": ("recordio", 12),
    "formats/lmdb/mmcv_demo.lmdb": ("lmdb", 1),
    "formats/hdf5/test_catvnoncat.h5": ("hdf5", 50),
    "formats/layouts/voc_dataset/voc_dataset3": ("voc", 1),
    "formats/layouts/yolo_dataset/annotations": ("yolo", 1),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_real_data_is_recognised(outside_folder, sample):
    kind, count = SAMPLES[sample]
    source = open_dataset(outside_folder / sample)

    assert isinstance(source, PackSource)
    assert source.kind == kind
    assert source.length == count == sum(1 for _ in source.items())
    assert f"({kind})" in source.describe()
    for item in source.items(count - 1):
        assert set(item.columns) == {column.name for column in source.columns}
    assert list(source.items(count)) == []


def test_two_layouts_in_one_folder_are_refused(coco_folder):
    with pytest.raises(SourceError, match=r"coco \(instances.json\), yolo \(labels_yolo\)"):
        open_dataset(coco_folder)


def test_splits_are_never_mixed(voc_folder):
    with pytest.raises(SourceError, match="several splits: test, train, val"):
        open_dataset(voc_folder)
    with pytest.raises(SourceError, match="no split 'dev'"):
        open_dataset(voc_folder, split="dev")


@pytest.mark.parametrize(
    "layout", ["labelme_dataset", "roboflow_dataset/createml", "open_images_dataset/v6"]
)
def test_unknown_layouts_are_no_folders_of_classes(outside_folder, layout):
    with pytest.raises(SourceError):
        open_dataset(outside_folder / "formats" / "layouts" / layout)


def test_folder_of_classes(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.jpg").write_bytes(image_bytes())
    source = open_dataset(tmp_path)

    assert source.classes == ("cat", "dog")
    assert [item.name for item in source.items()] == ["cat/1.jpg", "dog/1.jpg"]
    (tmp_path / "cat").rename(tmp_path / "train")  # may be a class, beside "bus" and "car"
    assert open_dataset(tmp_path).classes == ("dog", "train")
    (tmp_path / "dog").rename(tmp_path / "val")
    with pytest.raises(SourceError, match="these are parts of a data set: train, val"):
        open_dataset(tmp_path)
    assert open_dataset(tmp_path, "folder").classes == ("train", "val")
    (tmp_path / "val").rename(tmp_path / "images")
    with pytest.raises(SourceError, match="images are parts of a data set"):
        open_dataset(tmp_path)


def test_many_classes_are_not_looked_into(tmp_path, monkeypatch):
    for number in range(101):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "1.jpg").write_bytes(image_bytes())
    opened = open_dataset(tmp_path)
    module = sys.modules["penstock.packing.datasets.open_dataset"]  # a function has its name, too
    monkeypatch.setattr(module, "_evidence", None)
    assert open_dataset(tmp_path).classes == opened.classes
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(TypeError):
        open_dataset(tmp_path)


def test_wrong_arguments(tmp_path):
    (tmp_path / "x.tar").write_bytes(tar_bytes([("1.jpg", image_bytes())]))
    (tmp_path / "x.bin").write_bytes(b"")

    with pytest.raises(SourceError, match="no such file or folder"):
        open_dataset(tmp_path / "none")
    with pytest.raises(SourceError, match="must be one of coco, voc"):
        open_dataset(tmp_path / "x.tar", "cocoa")
    with pytest.raises(SourceError, match="one archive has no splits"):
        open_dataset(tmp_path / "x.tar", split="train")
    with pytest.raises(SourceError, match=r"images= \(--images\) is for COCO"):
        open_dataset(tmp_path / "x.tar", images=tmp_path)
    with pytest.raises(SourceError, match="not a folder, a packed file"):
        open_dataset(tmp_path / "x.bin")


@pytest.mark.parametrize("kind", KINDS)
def test_rubbish_of_any_kind_is_an_error(tmp_path, kind):
    path = tmp_path / "rubbish"
    for content in (b"", b"\0" * 1000, bytes(range(256)) * 10):
        path.write_bytes(content)
        with pytest.raises(SourceError):
            list(open_dataset(path, kind).items())


def test_a_missing_library_is_named(monkeypatch, tmp_path):
    (tmp_path / "x.h5").write_bytes(b"")

    def no_module(name):
        raise ImportError(name)

    monkeypatch.setattr(layout_source.importlib, "import_module", no_module)
    with pytest.raises(SourceError, match=r"needs h5py.*pip install 'penstock\[formats\]'"):
        open_dataset(tmp_path / "x.h5")
