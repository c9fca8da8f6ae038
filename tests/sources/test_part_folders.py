"""Folders that are parts of a data set are never taken for classes."""

import numpy as np
import pytest

from dataset_samples import image_bytes
from mask_samples import write_pairs
from penstock import Loader, pack
from penstock.errors import SourceError
from penstock.sources import open_image_folder

SIZES = [(8, 9), (7, 7)]


@pytest.mark.parametrize(
    ("images", "masks"),
    [
        ("images", "masks"),
        ("img", "mask"),
        ("imgs", "labels"),
        ("image", "annotations"),
        ("Images", "GT"),
    ],
)
def test_images_and_masks_are_refused_with_both_ways_on(tmp_path, images, masks):
    write_pairs(tmp_path, SIZES, images=images, masks=masks)
    with pytest.raises(SourceError, match="one folder per class was expected") as refused:
        open_image_folder(tmp_path)

    said = str(refused.value)
    assert f"masks='{tmp_path / masks}'" in said
    assert "any_names=True" in said


def test_a_loader_takes_images_and_masks_for_pairs(tmp_path):
    write_pairs(tmp_path, SIZES)
    (tmp_path / "depth").mkdir()  # further parts do not hide them
    (tmp_path / "depth" / "a.jpg").write_bytes(image_bytes())
    found = list(Loader(tmp_path, output="numpy"))
    expected = list(Loader(tmp_path / "images", masks=tmp_path / "masks", output="numpy"))

    assert len(found) == 2
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_pack_recognises_pairs(tmp_path):
    write_pairs(tmp_path, SIZES, images="img", masks="gt")

    assert pack(tmp_path, tmp_path / "a.pen", progress=False).samples == 2


def test_pairs_can_be_classes_where_that_is_said(tmp_path):
    write_pairs(tmp_path, SIZES)
    summary = pack(tmp_path, tmp_path / "a.pen", kind="folder", progress=False)

    assert summary.samples == 4


def test_yolo_is_read_as_such(tmp_path):
    for part in ("images", "labels"):
        (tmp_path / part).mkdir()
    (tmp_path / "images" / "a.jpg").write_bytes(image_bytes())
    (tmp_path / "labels" / "a.txt").write_text("0 0.5 0.5 1 1\n")
    ((_, (target,)),) = Loader(tmp_path, output="numpy")
    assert target["boxes"].tolist() == [[0, 0, 8, 6]]


@pytest.mark.parametrize("names", [("train", "val"), ("train",), ("images",)])
def test_splits_and_lonely_images_are_no_classes(tmp_path, names):
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.jpg").write_bytes(image_bytes())
    with pytest.raises(SourceError, match="one folder per class was expected"):
        Loader(tmp_path)


@pytest.mark.parametrize("names", [("mask", "no_mask"), ("images", *"abcd", "label")])
def test_classes_may_have_such_names_among_others(tmp_path, names):
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.jpg").write_bytes(image_bytes())

    assert open_image_folder(tmp_path).classes == tuple(sorted(names))


def test_analyze_refuses_parts_too(tmp_path):
    from penstock.cli.main import main

    write_pairs(tmp_path / "train", SIZES)
    write_pairs(tmp_path / "val", SIZES)
    assert main(["analyze", str(tmp_path)]) != 0
