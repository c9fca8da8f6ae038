"""Data sets with a mask for each image, in the layouts they come in."""

import io

import numpy as np
import pytest
from PIL import Image

from dataset_samples import tar_bytes
from mask_samples import image_of, label_map, palette_mask, write_pairs
from penstock import Loader, pack
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset

SIZES = [(24, 32), (31, 17), (20, 20)]


def masks_of(packed):
    return [mask for _, masks in Loader(packed, output="numpy") for mask in masks]


@pytest.fixture
def voc(tmp_path):
    """VOC2012's folders for segmentation."""
    root = tmp_path / "VOC2012"
    labels = [label_map(number, size) for number, size in enumerate(SIZES)]
    for part in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (root / part).mkdir(parents=True)
    for number, one in enumerate(labels):
        image_of(one).save(root / "JPEGImages" / f"2007_{number}.jpg")
        palette_mask(one).save(root / "SegmentationClass" / f"2007_{number}.png")
    for split, lines in (("train", "2007_0\n2007_2\n"), ("val", "2007_1\n")):
        (root / "ImageSets" / "Segmentation" / f"{split}.txt").write_text(lines)
    return root, labels


def test_voc_masks_are_indices_not_colours(voc, tmp_path):
    root, labels = voc
    pack(root, tmp_path / "train.pen", split="train", progress=False)

    found = masks_of(tmp_path / "train.pen")
    for mask, expected in zip(found, [labels[0], labels[2]], strict=True):
        np.testing.assert_array_equal(mask, expected)


def test_voc_with_boxes_needs_its_kind(voc, tmp_path):
    root, _ = voc
    (root / "Annotations").mkdir()
    (root / "Annotations" / "2007_0.xml").write_text(
        "<annotation><filename>2007_0.jpg</filename></annotation>"
    )
    (root / "ImageSets" / "Main").mkdir()
    (root / "ImageSets" / "Main" / "train.txt").write_text("2007_0\n")

    assert open_dataset(root).kind == "voc"
    assert open_dataset(root, "voc_segmentation", split="val").length == 1


def test_voc_splits_are_never_mixed(voc):
    root, _ = voc
    with pytest.raises(SourceError, match="several splits: train, val"):
        open_dataset(root)
    assert open_dataset(root, split="all").length == 3
    (root / "SegmentationClass" / "2007_1.png").unlink()
    with pytest.raises(SourceError, match=r"2007_1.png: no such file"):
        list(open_dataset(root, split="val").items())


def test_pairs_with_folders_of_splits(tmp_path):
    write_pairs(tmp_path, SIZES, folders=("train/a", "val"))
    with pytest.raises(SourceError, match="several splits: train, val"):
        open_dataset(tmp_path)
    source = open_dataset(tmp_path, split="train")

    assert [item.name for item in source.items()] == ["a/000.png", "a/002.png"]
    assert "2 images, a mask each" in source.describe()
    assert open_dataset(tmp_path, split="all").length == 3


def png(image):
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("field", ["seg.png", "seg_png", "mask.png"])
@pytest.mark.parametrize("image", ["png", "image.png"])
def test_webdataset_masks(tmp_path, field, image):
    labels = [label_map(number, size) for number, size in enumerate(SIZES)]
    members = []
    for number, one in enumerate(labels):
        members += [
            (f"{number:03}.{image}", png(image_of(one))),
            (f"{number:03}.{field}", png(palette_mask(one))),
        ]
    (tmp_path / "a.tar").write_bytes(tar_bytes(members))
    pack(tmp_path / "a.tar", tmp_path / "a.pen", progress=False)

    for mask, expected in zip(masks_of(tmp_path / "a.pen"), labels, strict=True):
        np.testing.assert_array_equal(mask, expected)


def test_webdataset_masks_of_another_size_are_refused(tmp_path):
    members = [
        ("a.png", png(Image.new("RGB", (5, 4)))),
        ("a.seg.png", png(Image.new("L", (5, 5)))),
    ]
    (tmp_path / "a.tar").write_bytes(tar_bytes(members))
    with pytest.raises(SourceError, match="mask is 5x5, the image 4x5"):
        pack(tmp_path / "a.tar", tmp_path / "a.pen", progress=False)


def test_masks_shrink_with_their_images(tmp_path):
    write_pairs(tmp_path, [(40, 60)])
    pack(tmp_path, tmp_path / "a.pen", short_side=20, progress=False)
    (mask,) = masks_of(tmp_path / "a.pen")

    expected = palette_mask(label_map(0, (40, 60))).resize((30, 20), Image.Resampling.NEAREST)
    np.testing.assert_array_equal(mask, np.asarray(expected))
