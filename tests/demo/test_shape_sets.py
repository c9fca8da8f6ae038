"""The sets of drawn shapes: always the same, balanced, with boxes that hold their shapes."""

import hashlib
import json

import numpy as np
import pytest
from PIL import Image

import penstock as ps
from penstock.demo.sample_photo import Dice
from penstock.demo.shapes import OUTLINES, SIDE_PX, Shape, draw_shapes, place_shapes
from penstock.errors import SourceError


def digest(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes") / "set"
    return ps.make_shape_set(folder, train=30, test=20, progress=False)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes") / "set"
    return ps.make_shape_scenes(folder, train=12, test=6, classes=3, progress=False)


def test_the_splits_are_class_folders(shapes):
    for split, each in (("train", 3), ("test", 2)):
        source = ps.open_image_folder(shapes / split)
        assert source.classes == tuple(OUTLINES)
        assert np.bincount(source.labels).tolist() == [each] * 10


def test_equal_arguments_make_equal_bytes(tmp_path, shapes, scenes):
    again = ps.make_shape_set(tmp_path / "shapes", train=30, test=20, progress=False)
    assert digest(again) == digest(shapes)
    again = ps.make_shape_scenes(tmp_path / "scenes", train=12, test=6, progress=False)
    assert digest(again) == digest(scenes)
    other = ps.make_shape_set(tmp_path / "other", train=30, test=20, seed=1, progress=False)
    assert digest(other) != digest(shapes)


def test_no_test_image_is_a_training_image(shapes):
    files = [path.read_bytes() for path in shapes.rglob("*.jpg")]
    assert len(set(files)) == 50


def test_more_images_begin_with_the_same(tmp_path, shapes):
    """So that a larger training set is the smaller one and more."""
    larger = ps.make_shape_set(tmp_path / "set", train=40, test=20, progress=False)
    for path in shapes.rglob("*.jpg"):
        assert (larger / path.relative_to(shapes)).read_bytes() == path.read_bytes()


def test_scenes_are_read_as_coco(scenes):
    for split, images in (("train", 12), ("test", 6)):
        data = scenes / "annotations" / f"instances_{split}.json"
        loader = ps.Loader(data, batch_size=images, output="numpy")
        ((_, targets),) = loader
        assert loader.classes == ("__background__", "square", "star", "triangle")
        assert len(targets) == images
        for target in targets:
            assert 1 <= len(target["boxes"]) <= 3
            assert set(target["labels"].tolist()) <= {1, 2, 3}
            assert target["boxes"].min() >= 0
            assert target["boxes"].max() <= SIDE_PX


@pytest.mark.parametrize("name", OUTLINES)
def test_a_box_holds_its_shape_and_no_more(name):
    """Told by where an image with the shape differs from one whose shape is elsewhere."""
    corner = Shape(name, (30.0, 30.0), 25.0, 0.4)
    far = Shape(name, (114.0, 114.0), 25.0, 0.4)
    one, other = (
        np.asarray(draw_shapes(Dice(3, stream=1), [shape])).astype(int) for shape in (corner, far)
    )
    differs = (np.abs(one - other).max(axis=2) > 30)[:60, :60]
    rows, columns = np.flatnonzero(differs.any(1)), np.flatnonzero(differs.any(0))

    left, top, right, bottom = corner.box()

    assert [columns[0], rows[0]] == pytest.approx([left, top], abs=2)
    assert [columns[-1] + 1, rows[-1] + 1] == pytest.approx([right, bottom], abs=2)


def test_shapes_lie_apart_and_inside():
    for stream in range(40):
        placed = place_shapes(Dice(0, stream), ["disk"] * 5, largest=0.25)
        assert 1 <= len(placed) <= 5
        for one in placed:
            assert all(one.radius <= place <= SIDE_PX - one.radius for place in one.middle)
            for other in placed:
                apart = np.hypot(*np.subtract(one.middle, other.middle))
                assert one is other or apart > one.radius + other.radius


def test_an_interrupted_set_is_completed(tmp_path, scenes):
    folder = ps.make_shape_scenes(tmp_path / "set", train=12, test=6, progress=False)
    (folder / "train" / "00003.jpg").unlink()
    ps.make_shape_scenes(folder, train=12, test=6, progress=False)
    assert digest(folder) == digest(scenes)


def test_other_folders_are_refused(tmp_path, shapes):
    with pytest.raises(SourceError, match=r"another sample set .shapes 1, train 30, test 20"):
        ps.make_shape_set(shapes, train=31, test=20)
    with pytest.raises(SourceError, match="another sample set"):
        ps.make_shape_scenes(shapes)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SourceError, match="not a sample set"):
        ps.make_shape_set(tmp_path)


def test_wrong_numbers_are_refused(tmp_path):
    with pytest.raises(SourceError, match="train must be 10 images or more, got 9"):
        ps.make_shape_set(tmp_path / "a", train=9)
    with pytest.raises(SourceError, match="test must be 1 images or more, got 0"):
        ps.make_shape_scenes(tmp_path / "a", test=0)
    with pytest.raises(SourceError, match="classes must be 1 to 10, got 11"):
        ps.make_shape_scenes(tmp_path / "a", classes=11)


def test_every_file_is_a_color_jpeg(shapes):
    for path in shapes.rglob("*.jpg"):
        with Image.open(path) as image:
            assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (SIDE_PX, SIDE_PX))


def test_the_lists_are_plain_coco(scenes):
    listed = json.loads((scenes / "annotations" / "instances_train.json").read_text())
    assert [image["id"] for image in listed["images"]] == list(range(1, 13))
    assert all((scenes / "train" / image["file_name"]).is_file() for image in listed["images"])
    assert {entry["image_id"] for entry in listed["annotations"]} == set(range(1, 13))
