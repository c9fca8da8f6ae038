import numpy as np
import pytest

from dataset_samples import boxes_in, image_bytes
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.datasets.annotations import OUTSIDE, UNREADABLE
from penstock.packing.datasets.yolo import STRAY
from penstock.packing.mask_runs import decode_runs


@pytest.fixture
def yolo(tmp_path):
    for folder in ("images", "labels"):
        (tmp_path / folder).mkdir()
    (tmp_path / "images" / "a.jpg").write_bytes(image_bytes(height=10, width=20))
    (tmp_path / "images" / "b.jpg").write_bytes(image_bytes())
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    return tmp_path


def test_boxes_of_photos_are_those_of_the_same_photos_in_coco(coco_folder):
    """The same boxes in two formats, one of them in six digits."""
    yolo = open_dataset(coco_folder, "yolo")
    coco = open_dataset(coco_folder, "coco")
    in_coco = {item.name: item.columns for item in coco.items()}
    items = list(yolo.items())

    crowds = sum(columns["iscrowd"].sum() for columns in in_coco.values())
    assert yolo.length == len(items) == coco.length > 20
    assert boxes_in(items) == boxes_in(coco.items()) - crowds > 80
    assert yolo.box_classes == coco.box_classes
    for item in items:
        whole = in_coco[item.name]
        expected = whole["boxes"][whole["iscrowd"] == 0]
        labels = whole["box_labels"][whole["iscrowd"] == 0]
        for box, label in zip(item.columns["boxes"], item.columns["box_labels"], strict=True):
            distance = np.abs(expected - box).max(axis=1)
            assert distance.min() < 0.01
            assert label in labels[distance < 0.01]


@pytest.mark.parametrize("layout", ["labels", "annotations", "strict"])
def test_layouts(outside_folder, layout):
    folder = outside_folder / "formats" / "layouts" / "yolo_dataset" / layout
    source = open_dataset(folder, split="train" if layout != "annotations" else None)
    (item,) = source.items()

    assert source.box_classes == tuple(f"label_{i}" for i in range(10))
    np.testing.assert_allclose(item.columns["boxes"], [[0, 2, 4, 4], [3, 3, 5, 6]], atol=1e-4)
    assert item.columns["box_labels"].tolist() == [2, 4]


def test_data_yaml(outside_folder):
    folder = outside_folder / "formats" / "layouts" / "roboflow_dataset" / "yolo"
    source = open_dataset(folder, split="val")
    (item,) = source.items()
    part = open_dataset(folder / "val")

    assert source.box_classes == part.box_classes == ("label_0", "label_1")
    np.testing.assert_allclose(item.columns["boxes"], [[0, 0, 1, 2], [0, 0, 9, 1]], atol=1e-5)
    assert open_dataset(folder / "data.yaml", split="train").length == 2


def test_boxes_in_pixels_and_images_without_labels(yolo):
    (yolo / "labels" / "a.txt").write_text("1 0.5 0.5 0.5 0.4\n0 0.9 0.5 0.4 0.2\n")
    source = open_dataset(yolo)
    first, second = source.items()

    np.testing.assert_allclose(first.columns["boxes"], [[5, 3, 15, 7], [14, 4, 22, 6]], atol=1e-5)
    assert first.columns["box_labels"].tolist() == [1, 0]
    assert second.columns["boxes"].shape == (0, 4)
    assert source.findings.count(OUTSIDE) == 1
    assert [item.name for item in source.items(1)] == ["b.jpg"]


def test_outlines_become_masks(yolo):
    (yolo / "labels" / "a.txt").write_text("0 0.1 0.2 0.5 0.2 0.5 0.8 0.1 0.8\n")
    (yolo / "labels" / "b.txt").write_text("0 0.5 0.5 1 1\n")
    first, second = open_dataset(yolo).items()
    (mask,) = decode_runs(first.columns["masks"])

    np.testing.assert_allclose(first.columns["boxes"], [[2, 2, 10, 8]], atol=1e-5)
    assert mask.sum() == 48
    assert mask[2:8, 2:10].all()
    assert decode_runs(second.columns["masks"]).all()


def test_keypoints(yolo):
    (yolo / "data.yaml").write_text("kpt_shape: [2, 3]\nnames: {0: cat, 1: dog}\n")
    (yolo / "labels" / "a.txt").write_text("1 0.5 0.5 0.5 0.4 0.1 0.2 2 0.5 1 1\n")
    first, second = open_dataset(yolo).items()

    np.testing.assert_allclose(first.columns["keypoints"], [[[2, 2, 2], [10, 10, 1]]], atol=1e-5)
    assert second.columns["keypoints"].shape == (0, 2, 3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2 0.5 0.5 0.5 0.5", "class 2 is not one of the 2"),
        ("0 0.5 0.5 0.5", "4 numbers for a box"),
        ("0 0.5 0.5 0.5 0.5 0.9", "4 numbers for a box"),
        ("cat 0.5 0.5 0.5 0.5", "numbers are needed"),
        ("0 nan 0.5 0.5 0.5", "finite"),
    ],
)
def test_wrong_lines_are_named(yolo, line, message):
    (yolo / "labels" / "b.txt").write_text("\n" + line)

    with pytest.raises(SourceError, match=message) as caught:
        list(open_dataset(yolo).items())
    assert "b.txt, line 2" in str(caught.value)


def test_an_unreadable_image_is_left_to_the_packer(yolo):
    (yolo / "labels" / "a.txt").write_text("0 0.5 0.5 0.5 0.5\n")
    (yolo / "images" / "a.jpg").write_bytes(b"not an image")
    source = open_dataset(yolo)
    first, _ = source.items()

    assert boxes_in([first]) == 0
    assert source.findings.count(UNREADABLE) == 1


def test_labels_without_an_image_are_counted(yolo):
    (yolo / "labels" / "c.txt").write_text("0 0.5 0.5 0.5 0.5\n")
    source = open_dataset(yolo)

    assert boxes_in(source.items()) == 0
    assert source.findings.count(STRAY) == 1
