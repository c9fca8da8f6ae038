import json
import tracemalloc

import numpy as np
import pytest

from dataset_samples import boxes_in, image_bytes
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.datasets.annotations import OUTSIDE
from penstock.packing.datasets.coco import RENUMBERED, STRAY
from penstock.packing.mask_runs import decode_runs


def write(folder, images=(), annotations=(), categories=(), name="instances.json"):
    for image in images:
        (folder / image["file_name"]).write_bytes(image_bytes())
    whole = {"images": images, "annotations": annotations, "categories": categories}
    (folder / name).write_text(json.dumps(whole), encoding="utf-8")
    return folder / name


IMAGE = {"id": 7, "file_name": "a.jpg", "height": 6, "width": 8}
CATS = [{"id": 90, "name": "brush"}, {"id": 3, "name": "cat"}]


def annotation(**changes):
    return {"id": 1, "image_id": 7, "category_id": 90, "bbox": [1, 2, 3, 4], **changes}


def test_boxes_of_photos_are_those_of_the_json(coco_folder):
    """Read again with json alone, image by image."""
    whole = json.loads((coco_folder / "instances.json").read_text())
    ids = sorted(category["id"] for category in whole["categories"])
    names = {category["id"]: category["name"] for category in whole["categories"]}
    source = open_dataset(coco_folder / "instances.json")
    items = list(source.items())

    crowds = sum(annotation["iscrowd"] for annotation in whole["annotations"])
    assert source.length == len(items) == len(whole["images"]) > 20
    assert boxes_in(items) == len(whole["annotations"]) > 80
    assert sum(item.columns["iscrowd"].sum() for item in items) == crowds > 5
    assert source.box_classes == tuple(names[i] for i in ids)
    for image, item in zip(whole["images"], items, strict=True):
        expected = [a for a in whole["annotations"] if a["image_id"] == image["id"]]
        boxes = np.array([a["bbox"] for a in expected], np.float32).reshape(-1, 4)
        corners = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
        assert item.name == image["file_name"]
        assert item.columns["image_id"] == image["id"]
        np.testing.assert_array_equal(item.columns["boxes"], corners)
        assert [source.box_classes[label] for label in item.columns["box_labels"]] == [
            names[a["category_id"]] for a in expected
        ]


def test_masks_of_photos_are_those_of_pycocotools(coco_folder):
    mask = pytest.importorskip("pycocotools.mask")
    whole = json.loads((coco_folder / "instances.json").read_text())
    sizes = {image["id"]: (image["height"], image["width"]) for image in whole["images"]}
    for item in open_dataset(coco_folder / "instances.json").items():
        image_id = item.columns["image_id"]
        height, width = sizes[image_id]
        outlines = [a["segmentation"] for a in whole["annotations"] if a["image_id"] == image_id]
        if not outlines:
            assert item.columns["masks"] == b""
            continue
        runs = [mask.frPyObjects(outline, height, width) for outline in outlines]
        expected = [mask.decode(mask.merge(r) if isinstance(r, list) else r) for r in runs]
        np.testing.assert_array_equal(decode_runs(item.columns["masks"]), expected)


@pytest.mark.parametrize("layout", ["coco", "coco_instances", "coco_roboflow", "mmdet_coco"])
def test_layouts_of_folders(outside_folder, layout):
    folder = outside_folder / "formats" / "layouts" / "coco_dataset" / layout
    train, val = (open_dataset(folder, split=split) for split in ("train", "val"))
    (first,), (second,) = train.items(), val.items()

    assert train.box_classes == ("a", "b", "c")
    assert first.name == "a.jpg"
    assert first.columns["boxes"].tolist() == [[2, 2, 5, 3]]
    assert first.columns["category_ids"].tolist() == [2]
    assert second.columns["boxes"].tolist() == [[0, 0, 1, 2], [0, 0, 1, 9]]
    assert second.columns["iscrowd"].tolist() == [0, 1]


def test_keypoints_of_persons_join_the_instances(outside_folder):
    folder = outside_folder / "formats" / "layouts" / "coco_dataset" / "coco"
    (item,) = open_dataset(folder, split="train").items()

    assert item.columns["keypoints"].tolist() == [[[0, 0, 0], [0, 2, 1], [4, 1, 2]]]


def test_captions_labels_and_panoptic(outside_folder):
    folder = outside_folder / "formats" / "layouts" / "coco_dataset"
    (captions,) = open_dataset(folder / "coco_captions", split="val").items()
    (labels,) = open_dataset(folder / "coco_labels", split="val").items()
    (panoptic,) = open_dataset(folder / "coco_panoptic", split="val").items()

    assert json.loads(captions.columns["captions"]) == ["world", "text"]
    assert labels.columns["labels"].tolist() == [0, 1]
    assert panoptic.columns["segment_ids"].tolist() == [7, 20]
    assert panoptic.columns["panoptic"].startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("ids", "numbers", "renumbered"),
    [((3, 90), (3, 90), 0), ((0, 5), (1, 6), 2), ((7, 10**9), (1, 2), 2)],
    ids=["as they are", "0 is the background's", "too large to count to"],
)
def test_numbers_for_detection_models(tmp_path, ids, numbers, renumbered):
    """The same for every split of a data set, whichever categories it uses."""
    categories = [{"id": number, "name": f"class {number}"} for number in reversed(ids)]
    source = open_dataset(write(tmp_path, [IMAGE], [annotation(category_id=ids[1])], categories))
    (item,) = source.items()

    assert source.box_class_ids == numbers
    assert item.columns["box_labels"].tolist() == [1]
    assert item.columns["category_ids"].tolist() == [ids[1]]
    assert source.findings.count(RENUMBERED) == renumbered


def test_gaps_in_ids_and_images_without_objects(tmp_path):
    images = [IMAGE, {**IMAGE, "id": 8, "file_name": "b.jpg"}]
    source = open_dataset(write(tmp_path, images, [annotation()], CATS))
    first, second = source.items()

    assert source.box_classes == ("cat", "brush")
    assert first.columns["box_labels"].tolist() == [1]
    assert second.columns["boxes"].shape == (0, 4)
    assert [item.name for item in source.items(1)] == ["b.jpg"]


def test_odd_boxes_are_kept_and_counted(tmp_path):
    far = annotation(bbox=[-2, 0, 100, 3])
    source = open_dataset(write(tmp_path, [IMAGE], [far, annotation(image_id=99)], CATS))
    (item,) = source.items()

    assert item.columns["boxes"].tolist() == [[-2, 0, 98, 3]]
    assert source.findings.count(OUTSIDE) == 1
    assert source.findings.count(STRAY) == 1
    assert len(source.findings.sentences()) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bbox": [1, 2, 3]}, "bbox must be left, top, width, height"),
        ({"bbox": [1, 2, 3, 1e999]}, "finite"),
        ({"bbox": ["1", 2, 3, 4]}, "bbox"),
        ({"category_id": 4}, "category 4"),
        ({"image_id": "x"}, "'image_id' must be an integer"),
        ({"segmentation": {"counts": [3], "size": [6, 8]}}, "do not add up"),
        ({"segmentation": {"counts": [48], "size": [8, 6]}}, "must agree"),
        ({"segmentation": {"counts": "ab~", "size": [6, 8]}}, "compressed"),
        ({"segmentation": [[1, 2, 3]]}, "outline"),
        ({"segmentation": [[0, 0, 1e12, 0, 5, 5]]}, "far outside"),
        ({"keypoints": [1, 2]}, "keypoints"),
    ],
)
def test_wrong_annotations_are_named(tmp_path, change, message):
    path = write(tmp_path, [IMAGE], [annotation(**change)], CATS)

    with pytest.raises(SourceError, match=message) as caught:
        list(open_dataset(path).items())
    assert "instances.json" in str(caught.value)


def test_masks_of_absurd_size(tmp_path):
    image = {**IMAGE, "height": 10**9, "width": 10**9}
    runs = {"counts": [10**18], "size": [10**9, 10**9]}
    path = write(tmp_path, [image], [annotation(segmentation=runs)], CATS)

    with pytest.raises(SourceError, match=r"its masks are .* --limit pixels="):
        list(open_dataset(path).items())


def test_names_must_stay_inside(tmp_path):
    path = write(tmp_path, [IMAGE], [], CATS)
    path.write_text(path.read_text().replace("a.jpg", "../a.jpg"))

    with pytest.raises(SourceError, match="leads out of the data set"):
        open_dataset(path)


def test_every_truncation_is_an_error(tmp_path):
    path = write(tmp_path, [IMAGE], [annotation()], CATS)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(SourceError, match=r"instances\.json"):
            list(open_dataset(path).items())


def test_deep_nesting_is_an_error(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text('{"info": ' + "[" * 200_000)

    with pytest.raises(SourceError, match=r"nested|not valid"):
        open_dataset(path)


def test_memory_stays_flat(tmp_path):
    """What annotations say beside their image must not be held."""
    many = [annotation(id=i, note="x" * 10_000) for i in range(2_000)]
    path = write(tmp_path, [IMAGE], many, CATS)
    assert path.stat().st_size > 20e6

    tracemalloc.start()
    open_dataset(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 12e6
