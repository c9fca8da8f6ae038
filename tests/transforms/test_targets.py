"""Targets: reading, picking and dropping."""

import re

import numpy as np
import pytest

from penstock.errors import TransformError
from penstock.transforms.targets import BoxFormat, Targets, read_targets
from target_samples import COUNTS, SIZES, from_corners_plainly, make_targets, sizes_of


@pytest.mark.parametrize("format", list(BoxFormat))
def test_boxes_come_out_as_they_went_in(format):
    corners = np.array([[1, 2, 30, 47.5], [-3, 4, 4, 4], [0, 0, 0, 0]])
    given = from_corners_plainly(corners, format.value)
    targets = read_targets([0, 2, 3], boxes=given, format=format.value.lower())

    np.testing.assert_array_equal(targets.boxes, corners)
    np.testing.assert_array_equal(targets.formatted_boxes(), given)
    assert targets.formatted_boxes().dtype == np.float32
    assert (targets.labels, targets.keypoints, targets.extras) == (None, None, {})


def test_keypoints_without_visibility_are_visible():
    targets = read_targets([0, 1], keypoints=[[[1, 2], [3, 4]]])

    np.testing.assert_array_equal(targets.keypoints, [[[1, 2, 1], [3, 4, 1]]])


def test_pick_takes_samples_in_any_order_and_number():
    targets = make_targets(sizes_of(*SIZES), COUNTS)
    rows = np.array([3, 2, 0, 3])
    picked = targets.pick(rows)

    np.testing.assert_array_equal(picked.counts, [11, 0, 6, 11])
    expected = [*range(8, 19), *range(6), *range(8, 19)]
    np.testing.assert_array_equal(picked.extras["number"], expected)
    for name in ("boxes", "labels", "keypoints"):
        np.testing.assert_array_equal(getattr(picked, name), getattr(targets, name)[expected])


def test_pick_takes_a_mask_too():
    targets = make_targets(sizes_of(*SIZES), COUNTS)
    picked = targets.pick(np.array([False, True, False, False, True, False]))

    np.testing.assert_array_equal(picked.extras["number"], [6, 7, 19, 20, 21])
    assert len(targets.pick(np.zeros(6, dtype=bool))) == 0


def test_keep_drops_whole_objects():
    targets = make_targets(sizes_of(*SIZES), COUNTS)
    kept = targets.keep(targets.extras["number"] % 5 == 0)

    np.testing.assert_array_equal(kept.extras["number"], [0, 5, 10, 15, 20])
    np.testing.assert_array_equal(kept.counts, [2, 0, 0, 2, 1, 0])
    np.testing.assert_array_equal(kept.boxes, targets.boxes[::5])
    np.testing.assert_array_equal(kept.owners, [0, 0, 3, 3, 4])


def test_empty():
    targets = Targets.empty(3)

    np.testing.assert_array_equal(targets.counts, [0, 0, 0])
    assert targets.formatted_boxes().shape == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"offsets": [1, 2]}, "offsets must be whole numbers that start at 0 and never fall"),
        ({"offsets": [0, 2, 1]}, "offsets must be whole numbers"),
        ({"offsets": []}, "offsets must be whole numbers"),
        ({"offsets": [0.0, 1.0]}, "offsets must be whole numbers"),
        (
            {"boxes": np.zeros((1, 4))},
            "boxes must have a row for each of the 2 objects that offsets count, got 1.",
        ),
        ({"boxes": np.zeros((2, 5))}, "boxes must be four numbers for each object, got shape (2,"),
        ({"boxes": [[1, 2], [3]]}, "boxes have rows of different lengths."),
        ({"boxes": [["a"] * 4] * 2}, "boxes must be numbers, got <U1."),
        (
            {"boxes": [[0, 0, 1, 1], [0, 0, np.nan, 1]]},
            "box 0 of sample 1 of the batch is [0.0, 0.0, nan, 1.0]; numbers between",
        ),
        ({"boxes": [[0, 0, 1, 1e9]] * 2}, "box 0 of sample 0 of the batch is [0.0, 0.0, 1.0, 1"),
        ({"format": "YXYX"}, "format must be XYXY, XYWH or CXCYWH, got 'YXYX'."),
        ({"labels": [1.5, 2]}, "labels must be one whole number for each object, got shape (2,)"),
        ({"keypoints": np.zeros((2, 3))}, "keypoints must be (objects, points, 2 or 3"),
        ({"keypoints": [[[0, np.inf]]] * 2}, "keypoints 0 of sample 0 of the batch is [[0.0, inf]"),
        ({"extras": {"area": 3}}, "area must have a row for each of the 2 objects that offsets"),
        ({"extras": {"labels": [1, 2]}}, "an extra column is named 'labels', which has a meaning"),
    ],
)
def test_what_cannot_be_read_is_named(arguments, message):
    with pytest.raises(TransformError, match="^voc: " + re.escape(message)):
        read_targets(**{"offsets": [0, 1, 2], "where": "voc", **arguments})
