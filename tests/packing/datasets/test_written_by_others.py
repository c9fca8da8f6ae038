"""Every layout, written as its users write it: the same six samples come out of each.

What is expected comes from tests/data/samples, never from one of our readers.
"""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from corpus.layouts import LAYOUTS
from corpus.samples import BOX_CLASSES, CLASSES, load_samples
from dataset_samples import assert_any_order, assert_columns_survive
from penstock import Loader
from penstock.packing.datasets import KINDS, open_dataset
from penstock.packing.pack import pack


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


@pytest.fixture
def opened(layout, tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    return open_dataset(layout.write(folder), split=layout.split)


def samples_of(layout, items):
    """The samples in the order of the items, whose files or places tell which is which."""
    samples = layout.samples
    if not layout.encoded:
        return samples
    by_bytes = {sample.data: sample for sample in samples}
    assert len(by_bytes) == len(samples)
    return [by_bytes[content(item)] for item in items]


def kind_of(source):
    return getattr(source, "kind", "folder")  # a folder of classes has no layout to tell


def content(item):
    return item.data.read_bytes() if isinstance(item.data, Path) else bytes(item.data)


def test_no_layout_is_left_out():
    """Segmentation has tests of its own: it is told by masks, which these samples do not have."""
    left = set(KINDS) - {layout.kind for layout in LAYOUTS.values()}
    assert all("segmentation" in kind for kind in left), left


def test_it_is_recognised_and_complete(layout, opened):
    items = list(opened.items())

    assert kind_of(opened) == layout.kind
    assert len(items) == opened.length == len(layout.samples)
    assert len({item.name for item in items}) == len(items)
    assert len({sample.name for sample in samples_of(layout, items)}) == len(items)
    assert [item.name for item in opened.items(len(items) - 1)] == [items[-1].name]


def test_labels(layout, opened):
    items = list(opened.items())
    if not layout.labels:
        assert all("label" not in item.columns for item in items)
        return
    expected = [sample.label for sample in samples_of(layout, items)]
    numbers = [int(item.columns["label"]) for item in items]

    assert [CLASSES[number] for number in numbers] == expected
    if (
        opened.classes and kind_of(opened) != "imagenet"
    ):  # whose archive knows numbers of synsets only
        assert [opened.classes[number] for number in numbers] == expected


def test_boxes(layout, opened):
    items = list(opened.items())
    if not layout.boxes:
        assert all("boxes" not in item.columns for item in items)
        return
    for item, sample in zip(items, samples_of(layout, items), strict=True):
        expected = np.array(sample.boxes, float).reshape(-1, 4)
        np.testing.assert_allclose(item.columns["boxes"], expected, atol=1e-3)
        if opened.kind == "widerface":  # which has faces only
            continue
        numbers = item.columns["box_labels"].tolist()
        if opened.box_classes:
            assert tuple(opened.box_classes[n] for n in numbers) == sample.box_labels
        else:
            assert tuple(BOX_CLASSES[n] for n in numbers) == sample.box_labels


def test_pixels(layout, opened):
    """Of arrays that hold no files: those that were written."""
    if layout.encoded:
        return
    for item, sample in zip(opened.items(), load_samples(), strict=True):
        expected = Image.open(io.BytesIO(sample.data)).resize((32, 24))
        stored = Image.open(io.BytesIO(content(item)))
        np.testing.assert_array_equal(np.asarray(stored), np.asarray(expected))


def test_columns_survive_packing(opened, tmp_path):
    assert_columns_survive(opened, tmp_path / "x.pen")


def test_samples_are_the_same_in_any_order(opened):
    if kind_of(opened) != "folder":  # which is packed file by file
        assert_any_order(opened)


def test_packed_pixels_are_pillows(layout, opened, tmp_path):
    items = list(opened.items())
    pack(opened, tmp_path / "x.pen", progress=False)
    loader = Loader(tmp_path / "x.pen", batch_size=1, output="numpy", layout="hwc", targets="none")
    for images, item in zip(loader, items, strict=True):
        expected = Image.open(io.BytesIO(content(item))).convert("RGB")
        np.testing.assert_array_equal(images[0], np.asarray(expected))
