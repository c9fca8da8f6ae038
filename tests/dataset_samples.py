"""Small images and archives for the tests of data set readers."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest
from PIL import Image

from penstock.packing.pack import pack
from penstock.packing.shards import open_packed


def image_bytes(height=6, width=8, format="JPEG", value=90):
    """An encoded image of one gray."""
    file = io.BytesIO()
    Image.fromarray(np.full((height, width, 3), value, np.uint8)).save(file, format)
    return file.getvalue()


def tar_bytes(members):
    """A tar archive of names and contents."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


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
