"""Every layout goes into a packed file, and its columns come out again."""

import io
import tarfile

import pytest

from dataset_samples import assert_any_order, assert_columns_survive
from packing.samples import image_file
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset

SAMPLES = [
    ("detect/coco128", "coco", None),
    ("detect/coco128", "yolo", None),
    ("detect/bccd_voc", None, "test"),
    ("formats/webdataset", None, None),
    ("formats/imagenet_tar/ILSVRC2012_img_train.tar", None, None),
    ("formats/parquet", None, None),
    ("formats/tfrecord", None, "flowers_validation"),
    ("formats/tfrecord", None, "raccoon_test"),
    ("formats/recordio/benz_train.rec", None, None),
    ("formats/lmdb/caffe_datum_train_lmdb", None, None),
    ("formats/hdf5/test_catvnoncat.h5", None, None),
    ("formats/layouts/coco_dataset/coco", None, "val"),
    ("formats/layouts/coco_dataset/coco_panoptic", None, "val"),
    ("formats/layouts/voc_dataset/voc_dataset1", None, "train"),
]


@pytest.mark.parametrize(("path", "kind", "split"), SAMPLES)
def test_columns_survive(outside_folder, tmp_path, path, kind, split):
    source = open_dataset(outside_folder / path, kind, split=split)
    assert_columns_survive(source, tmp_path / "x.pen")


@pytest.mark.parametrize(("path", "kind", "split"), SAMPLES)
def test_samples_are_the_same_in_any_order(outside_folder, path, kind, split):
    assert_any_order(open_dataset(outside_folder / path, kind, split=split))


def test_a_sample_that_is_gone_is_named(tmp_path):
    file = tmp_path / "a.tar"
    with tarfile.open(file, "w") as tar:
        for number in range(3):
            member = tarfile.TarInfo(f"{number}.jpg")
            member.size = len(data := image_file(number))
            tar.addfile(member, io.BytesIO(data))
    source = open_dataset(file)
    assert source.at(2).data == image_file(2)
    file.write_bytes(bytes(file.stat().st_size))

    with pytest.raises(SourceError, match=r"a\.tar: sample 2 is no longer there"):
        source.at(2)
