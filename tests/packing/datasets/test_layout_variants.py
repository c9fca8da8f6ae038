"""Forms that a layout has beside its usual one, wrong lines in it, and layouts that are not read.

All on the six samples of tests/data, so that they run on any clone.
"""

import io
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from corpus import layouts
from corpus.samples import BOX_CLASSES, CLASSES, load_samples
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset

SAMPLES = load_samples()
FIRST = SAMPLES[0]


@pytest.fixture
def coco(tmp_path):
    return layouts.write_coco(tmp_path)


def annotations_of(folder, kind):
    return folder / "annotations" / f"{kind}_train2017.json"


def write_beside(coco, kind, change, categories=None):
    """Another kind of annotations for the same images, made from the instances."""
    instances = annotations_of(coco, "instances")
    whole = json.loads(instances.read_text())
    whole["annotations"] = change(whole["annotations"])
    whole["categories"] = whole["categories"] if categories is None else categories
    annotations_of(coco, kind).write_text(json.dumps(whole))


def in_images_train(coco):
    (coco / "images").mkdir()
    (coco / "train2017").rename(coco / "images" / "train")
    annotations_of(coco, "instances").rename(coco / "annotations" / "instances_train.json")


def in_train(coco):
    (coco / "train2017").rename(coco / "train")
    annotations_of(coco, "instances").rename(coco / "annotations" / "instances_train.json")


@pytest.mark.parametrize("move", [in_images_train, in_train])
def test_where_coco_images_lie(coco, move):
    move(coco)
    source = open_dataset(coco, split="train")

    for item, sample in zip(source.items(), SAMPLES, strict=True):
        assert item.data.read_bytes() == sample.data
        assert item.columns["boxes"].tolist() == [list(box) for box in sample.boxes]
        assert item.columns["iscrowd"].tolist() == [0] * len(sample.boxes)


def test_keypoints_of_persons_join_the_instances(coco):
    points = [0, 0, 0, 0, 2, 1, 4, 1, 2]
    write_beside(coco, "person_keypoints", lambda rows: [{**r, "keypoints": points} for r in rows])
    source = open_dataset(coco)

    for item, sample in zip(source.items(), SAMPLES, strict=True):
        expected = np.reshape(points * len(sample.boxes), (-1, 3, 3))
        np.testing.assert_array_equal(item.columns["keypoints"], expected)


def test_captions(coco):
    rows = [
        {"id": 2 * n + k, "image_id": n, "caption": f"{sample.label} {k}"}
        for n, sample in enumerate(SAMPLES)
        for k in range(2)
    ]
    write_beside(coco, "captions", lambda _: rows, [])
    annotations_of(coco, "instances").unlink()

    for item, sample in zip(open_dataset(coco).items(), SAMPLES, strict=True):
        assert json.loads(item.columns["captions"]) == [f"{sample.label} 0", f"{sample.label} 1"]


@pytest.mark.parametrize("each", [1, 2])
def test_labels(coco, each):
    """One per image is a label, as in any data set; several are labels."""
    rows = [
        {"image_id": n, "category_id": 1 + (CLASSES.index(sample.label) + k) % 3}
        for n, sample in enumerate(SAMPLES)
        for k in range(each)
    ]
    rows = [{"id": number, **row} for number, row in enumerate(rows)]
    names = [{"id": n, "name": name} for n, name in enumerate(CLASSES, 1)]
    write_beside(coco, "labels", lambda _: rows, names)
    annotations_of(coco, "instances").unlink()

    for item, sample in zip(open_dataset(coco).items(), SAMPLES, strict=True):
        number = CLASSES.index(sample.label)
        if each == 1:
            assert item.columns["label"] == number
        else:
            assert item.columns["labels"].tolist() == [number, (number + 1) % 3]


def test_panoptic(coco):
    masks = coco / "annotations" / "panoptic_train2017"
    masks.mkdir()
    rows, files = [], []
    for n, sample in enumerate(SAMPLES):
        pixels = np.zeros((sample.height, sample.width, 3), np.uint8)
        pixels[..., 0] = 7
        pixels[:10, :, 0] = 20
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "PNG")
        files.append(file.getvalue())
        (masks / sample.name.replace(".jpg", ".png")).write_bytes(files[-1])
        common = {"area": 9, "bbox": [0, 0, 5, 5]}
        segments = [
            {"id": 7, "category_id": 1, "iscrowd": 0, **common},
            {"id": 20, "category_id": 2, "iscrowd": 1, **common},
        ]
        rows.append(
            {
                "image_id": n,
                "file_name": sample.name.replace(".jpg", ".png"),
                "segments_info": segments,
            }
        )
    write_beside(coco, "panoptic", lambda _: rows)
    annotations_of(coco, "instances").unlink()

    for item, file in zip(open_dataset(coco).items(), files, strict=True):
        assert item.columns["segment_ids"].tolist() == [7, 20]
        assert item.columns["panoptic"] == file


def test_voc_masks_join_the_boxes(tmp_path):
    folder = layouts.write_voc(tmp_path)
    mask = io.BytesIO()
    Image.new("P", (FIRST.width, FIRST.height)).save(mask, "PNG")
    (folder / "SegmentationClass").mkdir()
    (folder / "SegmentationClass" / FIRST.name.replace(".jpg", ".png")).write_bytes(mask.getvalue())
    first, *others = open_dataset(folder, "voc", split="train").items()

    assert first.columns["segmentation_class"] == mask.getvalue()
    assert [item.columns["segmentation_class"] for item in others] == [b""] * 3
    assert first.columns["boxes"].tolist() == [list(box) for box in FIRST.boxes]


def test_splits_of_kitti(tmp_path):
    given = layouts.write_kitti(tmp_path / "given") / "training"
    for number, sample in enumerate(SAMPLES):
        split = ("train", "val", "test")[number % 3]
        stem = sample.name.removesuffix(".jpg")
        for part, name in (("image_2", sample.name), ("label_2", f"{stem}.txt")):
            target = tmp_path / "kitti" / part / split
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(given / part / name, target)

    names = [item.name for item in open_dataset(tmp_path / "kitti", split="val").items()]
    assert names == [f"val/{SAMPLES[1].name}", f"val/{SAMPLES[4].name}"]
    with pytest.raises(SourceError, match="several splits: test, train, val"):
        open_dataset(tmp_path / "kitti")


def test_kitti_with_a_class_of_its_own(tmp_path):
    folder = layouts.write_kitti(tmp_path)
    stem = FIRST.name.removesuffix(".jpg")
    (folder / "training" / "label_2" / f"{stem}.txt").write_text("Submarine" + " 1" * 14)
    source = open_dataset(folder)
    first, *_ = source.items()

    assert source.box_classes == ("Car", "Pedestrian", "Submarine", "Truck")
    assert first.columns["box_labels"].tolist() == [2]


def test_yolo_by_its_yaml_or_by_its_part(tmp_path):
    layouts.write_yolo(tmp_path / "given")
    (tmp_path / "given" / "images" / "train").rename(tmp_path / "images")
    (tmp_path / "given" / "labels" / "train").rename(tmp_path / "labels")
    part = tmp_path / "train"
    part.mkdir()
    for name in ("images", "labels"):
        (tmp_path / name).rename(part / name)
    names = "".join(f"  {n}: {name}\n" for n, name in enumerate(BOX_CLASSES))
    (tmp_path / "data.yaml").write_text(f"train: train/images\nnames:\n{names}")
    shutil.rmtree(tmp_path / "given")

    for source in (open_dataset(tmp_path / "data.yaml"), open_dataset(part)):
        assert source.box_classes == BOX_CLASSES
        assert source.length == len(SAMPLES)


STEM = FIRST.name.removesuffix(".jpg")


@pytest.mark.parametrize(
    ("write", "file", "line"),
    [
        (layouts.write_kitti, f"training/label_2/{STEM}.txt", "Van 1 2 3"),
        (layouts.write_kitti, f"training/label_2/{STEM}.txt", "Van" + " nan" * 14),
        (layouts.write_widerface, "wider_face_split/wider_face_train_bbx_gt.txt", "../a.jpg\n0\n0"),
        (
            layouts.write_widerface,
            "wider_face_split/wider_face_train_bbx_gt.txt",
            "a.jpg\n1\n1 2 3",
        ),
        (layouts.write_imagenet_lists, "train.txt", f"{FIRST.name} {len(CLASSES)}"),
        (layouts.write_imagenet_lists, "train.txt", f"{FIRST.name} cat"),
        (layouts.write_imagenet_lists, "train.txt", "../../secret.jpg 1"),
    ],
)
def test_wrong_lines_are_named(tmp_path, write, file, line):
    folder = write(tmp_path)
    (folder / file).write_text(line)

    with pytest.raises(SourceError) as caught:
        list(open_dataset(folder).items())
    assert (folder / file).name in str(caught.value)


def labelme(folder):
    (folder / "Annotations").mkdir()
    outline = "<polygon><pt><x>1</x><y>2</y></pt></polygon>"
    text = f"<annotation><filename>a.jpg</filename><object>{outline}</object></annotation>"
    (folder / "Annotations" / "a.xml").write_text(text)
    return "Images"


def create_ml(folder):
    (folder / "train").mkdir()
    boxes = [{"label": "cat", "coordinates": {"x": 2, "y": 1, "width": 3, "height": 1}}]
    text = json.dumps([{"image": FIRST.name, "annotations": boxes}])
    (folder / "train" / "_annotations.createml.json").write_text(text)
    return "train"


def open_images(folder):
    (folder / "annotations").mkdir()
    text = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax\na,x,/m/1,1,0.1,0.5,0.2,0.6\n"
    (folder / "annotations" / "train-annotations-bbox.csv").write_text(text)
    return "images/train"


@pytest.mark.parametrize("write", [labelme, create_ml, open_images])
def test_unknown_layouts_are_no_folders_of_classes(tmp_path, write):
    images = tmp_path / write(tmp_path)
    images.mkdir(parents=True, exist_ok=True)
    (images / FIRST.name).write_bytes(FIRST.data)

    with pytest.raises(SourceError):
        open_dataset(tmp_path)
