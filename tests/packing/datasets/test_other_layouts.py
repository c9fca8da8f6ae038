"""KITTI, WIDER FACE and ImageNet's lists."""

import shutil

import pytest

from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.datasets.kitti import KITTI_CLASSES


@pytest.fixture
def layouts(outside_folder):
    return outside_folder / "formats" / "layouts"


def test_kitti(layouts):
    source = open_dataset(layouts / "kitti_dataset" / "kitti_detection")
    first, second = source.items()

    assert source.box_classes == KITTI_CLASSES
    assert first.columns["boxes"].tolist() == [[0, 1, 2, 3], [0, 5, 1, 8]]
    assert [KITTI_CLASSES[n] for n in first.columns["box_labels"]] == ["Truck", "Van"]
    assert first.columns["kitti_numbers"][0, 0] == 1
    assert second.columns["boxes"].tolist() == [[0, 0, 2, 2], [4, 4, 6, 6], [6, 6, 7, 9]]
    assert first.data.exists()


def test_kitti_splits(layouts):
    folder = layouts / "kitti_dataset" / "kitti_3d_with_subset"

    assert [item.name for item in open_dataset(folder, split="val").items()] == ["val/000001.png"]
    with pytest.raises(SourceError, match="several splits: test, train, val"):
        open_dataset(folder)


def test_widerface(layouts):
    folder = layouts / "widerface_dataset"
    train, val = (open_dataset(folder, split=split) for split in ("train", "val"))
    first, second = train.items()
    (third,) = val.items()

    assert first.name == "0--Parade/0_Parade_image_01.jpg"
    assert first.columns["boxes"].tolist() == [[1, 2, 3, 4]]
    assert second.columns["boxes"].tolist() == [[1, 1, 3, 3], [5, 1, 7, 3]]
    assert third.columns["face"].tolist() == [
        [2, 0, 0, 0, 2, 0],
        [0, 0, 0, 1, 0, 0],
        [2, 0, 0, 0, 2, 0],
    ]
    assert all(item.data.exists() for item in (first, second, third))


def test_widerface_image_without_faces(tmp_path):
    (tmp_path / "wider_face_split").mkdir()
    path = tmp_path / "wider_face_split" / "wider_face_val_bbx_gt.txt"
    path.write_text("a.jpg\n0\n0 0 0 0 0 0 0 0 0 0\nb.jpg\n1\n1 2 3 4 0 0 0 0 0 0\n")
    first, second = open_dataset(tmp_path).items()

    assert first.columns["boxes"].shape == (0, 4)
    assert second.columns["boxes"].tolist() == [[1, 2, 4, 6]]
    path.write_text("a.jpg\n3\n1 2 3 4 0 0 0 0 0 0\n")
    with pytest.raises(SourceError, match="line 1: a count of faces"):
        open_dataset(tmp_path)


def test_imagenet_lists(layouts):
    source = open_dataset(layouts / "imagenet_txt_dataset" / "basic")
    items = list(source.items())

    assert source.classes == tuple(f"label_{i}" for i in range(10))
    assert [(item.name, item.columns["label"]) for item in items] == [
        ("1.jpg", 0),
        ("2.jpg", 5),
        ("3.jpg", 3),
        ("4.jpg", 5),
    ]
    assert items[0].data.exists()


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("kitti_dataset/kitti_detection/training/label_2/000030_10.txt", "Van 1 2 3"),
        ("kitti_dataset/kitti_detection/training/label_2/000030_10.txt", "Van" + " nan" * 14),
        ("widerface_dataset/wider_face_split/wider_face_val_bbx_gt.txt", "../a.jpg\n0\n0"),
        ("widerface_dataset/wider_face_split/wider_face_val_bbx_gt.txt", "a.jpg\n1\n1 2 3"),
        ("imagenet_txt_dataset/basic/train.txt", "1.jpg 10"),
    ],
)
def test_wrong_lines_are_named(layouts, tmp_path, file, line):
    top, below = file.split("/", 1)
    root = tmp_path / top
    shutil.copytree(layouts / top, root)
    (root / below).write_text(line)
    folder = root if top == "widerface_dataset" else root / below.split("/")[0]
    split = "val" if top == "widerface_dataset" else None

    with pytest.raises(SourceError) as caught:
        list(open_dataset(folder, split=split).items())
    assert (root / below).name in str(caught.value)
