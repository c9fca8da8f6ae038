"""Small images and archives for the tests of data set readers."""

from __future__ import annotations

import io
import struct
import tarfile

import numpy as np
import pytest
from PIL import Image

from penstock.packing.pack import pack
from penstock.packing.shards import open_packed

# Data sets of others, as a path below their folder, the kind where it must be said, and the split.
OUTSIDE_SETS = [
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


def image_bytes(height=6, width=8, format="JPEG", value=90):
    """An encoded image of one gray."""
    file = io.BytesIO()
    Image.fromarray(np.full((height, width, 3), value, np.uint8)).save(file, format)
    return file.getvalue()


def tar_bytes(members, mode="w", format=tarfile.DEFAULT_FORMAT):
    """A tar archive of names and contents."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode, format=format) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def tf_framed(record):
    """A record as TFRecord files have it: its length and itself, each followed by a checksum."""
    import google_crc32c

    def masked(data):
        crc = google_crc32c.value(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    length = struct.pack("<Q", len(record))
    return length + masked(length) + record + masked(record)


def boxes_in(items):
    """How many boxes there are in all."""
    return sum(len(item.columns["boxes"]) for item in items)


def assert_columns_survive(source, target):
    """Pack a data set, and find all its columns in the packed file."""
    pack(source, target, progress=False)
    packed = open_packed(target)
    items = list(source.items())

    assert len(packed) == len(items)
    assert packed.schema == source.columns
    for index, item in enumerate(items):
        assert packed.sample(index).name == item.name
        for name, value in item.columns.items():
            got = packed.value(name, index)
            if isinstance(value, (str, bytes)):
                assert got == value
            else:
                np.testing.assert_array_equal(got, np.reshape(value, np.shape(got)))


def assert_any_order(source):
    """A sample is the same, whether all before it were read or none."""
    in_order = list(source.items())

    for index in [len(in_order) - 1, 0, len(in_order) // 2]:
        item = source.at(index)
        assert (item.name, item.data) == (in_order[index].name, in_order[index].data)
        assert item.columns.keys() == in_order[index].columns.keys()
        for name, value in item.columns.items():
            np.testing.assert_array_equal(value, in_order[index].columns[name])
    with pytest.raises(IndexError, match="sample"):
        source.at(len(in_order))
