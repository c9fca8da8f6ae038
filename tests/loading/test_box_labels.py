"""Labels of boxes: 0 is the background, whatever the data set counts from."""

import json

import numpy as np
import pytest

from dataset_samples import image_bytes
from packing.samples import ListSource, image_file
from penstock import Loader, pack
from penstock.errors import LoaderError, PackError
from penstock.packing.datasets.coco import RENUMBERED
from penstock.packing.items import BOX_LABELS, BOXES, PackItem
from penstock.transforms.targets import Targets

BOXED = (BOXES, BOX_LABELS)


def pack_boxes(path, labels, names=None, **options):
    boxes = [[0, 0, 5, 5]] * len(labels)
    values = {"boxes": np.array(boxes, np.float32), "box_labels": np.array(labels)}
    item = PackItem("a.png", image_file(0, format="PNG"), values)
    source = ListSource([item], BOXED, box_classes=names)
    for name, value in options.items():
        setattr(source, name, value)
    pack(source, path, progress=False)
    return path


def labels_of(path, **options):
    loader = Loader(path, output="numpy", **options)
    ((_, (target,)),) = loader
    return target["labels"].tolist(), loader.classes


def test_numbers_of_a_source_of_ones_own(tmp_path):
    names = ("cat", "dog")
    plain = pack_boxes(tmp_path / "a.pen", [1, 0], names)
    own = pack_boxes(tmp_path / "b.pen", [1, 0], names, box_class_ids=(4, 2))
    nameless = pack_boxes(tmp_path / "c.pen", [7, 0])

    assert labels_of(plain) == ([2, 1], ("__background__", "cat", "dog"))
    assert labels_of(plain, background=False) == ([1, 0], names)
    assert labels_of(own) == ([2, 4], ("__background__", "N/A", "dog", "N/A", "cat"))
    assert labels_of(own, background=False) == ([1, 0], names)
    assert labels_of(nameless) == ([8, 1], None)
    with pytest.raises(PackError, match="box_class_ids must be different numbers from 1 to"):
        pack_boxes(tmp_path / "d.pen", [0], names, box_class_ids=(0, 1))


@pytest.mark.parametrize(("labels", "names"), [([2], ("cat", "dog")), ([-1], None)])
def test_labels_that_are_no_class_are_refused(tmp_path, labels, names):
    path = pack_boxes(tmp_path / "a.pen", labels, names)

    with pytest.raises(LoaderError, match=f"a box has the label {labels[0]}; labels count from 0"):
        labels_of(path)


def test_older_files_are_refused(tmp_path, monkeypatch):
    """They did not say what labels of boxes count from, so any guess might be wrong."""
    monkeypatch.setattr("penstock.packing.job.box_class_ids_of", lambda _: None)
    path = pack_boxes(tmp_path / "a.pen", [0])

    for options in ({}, {"background": False}, {"targets": "padded"}):
        with pytest.raises(PackError, match=r"earlier version.*Pack the data set again"):
            Loader(path, **options)
    assert len(Loader(path, targets="labels", columns=["name"])) == 1


def test_background_is_about_packed_boxes(tmp_path, folder):
    boxed = pack_boxes(tmp_path / "a.pen", [0])
    with pytest.raises(LoaderError, match="labels of your own"):
        Loader(folder, targets=Targets.empty(23), background=False)
    with pytest.raises(LoaderError, match="background must be True or False"):
        Loader(boxed, background=None)


def write_yolo(folder):
    for name in ("images", "labels"):
        (folder / name).mkdir()
    (folder / "images" / "a.jpg").write_bytes(image_bytes())
    (folder / "labels" / "a.txt").write_text("1 0.5 0.5 0.5 0.5\n0 0.5 0.5 0.25 0.25\n")
    (folder / "classes.txt").write_text("cat\ndog\n")
    return [2, 1], ("__background__", "cat", "dog")


def write_kitti(folder):
    for name in ("image_2", "label_2"):
        (folder / name).mkdir()
    (folder / "image_2" / "a.png").write_bytes(image_bytes(format="PNG"))
    numbers = " 0 0 0 1 1 4 4 0 0 0 0 0 0 0\n"
    (folder / "label_2" / "a.txt").write_text(f"Cyclist{numbers}Car{numbers}DontCare{numbers}")
    classes = "Car Van Truck Pedestrian Person_sitting Cyclist Tram Misc DontCare"
    return [6, 1, 9], ("__background__", *classes.split())


def write_widerface(folder):
    (folder / "wider_face_split").mkdir()
    images = folder / "WIDER_train" / "images"
    images.mkdir(parents=True)
    (images / "a.jpg").write_bytes(image_bytes())
    listing = "a.jpg\n2\n1 1 3 3 0 0 0 0 0 0\n2 2 2 2 0 0 0 0 0 0\n"
    (folder / "wider_face_split" / "wider_face_train_bbx_gt.txt").write_text(listing)
    return [1, 1], ("__background__", "face")


@pytest.mark.parametrize("write", [write_yolo, write_kitti, write_widerface])
def test_layouts_whose_classes_count_from_0(tmp_path, write):
    folder = tmp_path / "data"
    folder.mkdir()
    labels, classes = write(folder)
    pack(folder, tmp_path / "a.pen", progress=False)

    assert labels_of(tmp_path / "a.pen") == (labels, classes)
    from_0 = [label - 1 for label in labels]
    assert labels_of(tmp_path / "a.pen", background=False) == (from_0, classes[1:])


def test_kitti_is_torchvisions_from_0(torchvision):
    from torchvision.tv_tensors._dataset_wrapper import KITTI_CATEGORIES

    from penstock.packing.datasets.kitti import KITTI_CLASSES

    assert list(KITTI_CLASSES) == KITTI_CATEGORIES


def test_packing_tells_of_new_numbers(tmp_path):
    (tmp_path / "a.jpg").write_bytes(image_bytes())
    image = {"id": 1, "file_name": "a.jpg", "height": 6, "width": 8}
    box = {"id": 1, "image_id": 1, "category_id": 0, "bbox": [1.5, 1, 2, 3]}
    whole = {"images": [image], "annotations": [box], "categories": [{"id": 0, "name": "cat"}]}
    (tmp_path / "instances.json").write_text(json.dumps(whole))
    summary = pack(tmp_path / "instances.json", tmp_path / "a.pen", progress=False)

    assert any(RENUMBERED in note for note in summary.remarks)
    assert any(RENUMBERED in line for line in summary.lines())
    assert labels_of(tmp_path / "a.pen") == ([1], ("__background__", "cat"))
