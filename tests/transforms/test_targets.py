"""Targets as a record: reading, picking, dropping, and moves that torchvision has no word for."""

import re
from dataclasses import replace

import numpy as np
import pytest

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.loading.deliver import list_targets
from penstock.transforms.effects import NUMBERS, Effect, EffectMove, same_effect
from penstock.transforms.move_targets import move_targets
from penstock.transforms.moves import CropMove, FlipMove, PadMode, PadMove, ResizeMove
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


def every_move(sizes):
    """One move of each kind, which changes every sample."""
    ones = np.ones(len(sizes), dtype=np.int64)
    return [
        PadMove(ones, ones, ones, ones, PadMode.CONSTANT, (0, 0, 0)),
        CropMove(0 * ones, 0 * ones, ones, ones),
        ResizeMove(7 * ones, 9 * ones, filter=2),
        FlipMove(ones == 1, ones == 1),
        same_effect(Effect.AFFINE, sizes, 0.0, 2.0, 1.0, -2.0, 0.0, 3.0),
        same_effect(Effect.PERSPECTIVE, sizes, 1.0, 0.0, 1.0, 0.0, 1.0, 3.0, 0.01, 0.02),
        same_effect(Effect.ELASTIC, sizes, 9.0, 9.0, 0.0, 0.0, 2.0, 0.0, 1.0, 2.0),
    ]


@pytest.mark.parametrize("kind", range(7))
def test_moves_of_samples_without_objects(kind):
    sizes = sizes_of(*SIZES)
    move = every_move(sizes)[kind]
    moved = move_targets((move,), Targets.empty(len(sizes)), sizes)

    assert moved.boxes.shape == (0, 4)
    assert moved.keypoints is None


@pytest.mark.parametrize("kind", range(7))
@pytest.mark.parametrize("missing", ["boxes", "keypoints"])
def test_either_boxes_or_keypoints_may_be_missing(kind, missing):
    sizes = sizes_of(*SIZES)
    targets = make_targets(sizes, COUNTS)
    move = every_move(sizes)[kind]
    both = move_targets((move,), targets, sizes)
    kept = "keypoints" if missing == "boxes" else "boxes"
    one = move_targets(
        (move,), targets.moved(**{kept: getattr(targets, kept), missing: None}), sizes
    )

    assert getattr(one, missing) is None
    np.testing.assert_array_equal(getattr(one, kept), getattr(both, kept))


@pytest.mark.parametrize("kind", range(7))
def test_samples_do_not_depend_on_batch_mates(kind):
    sizes = sizes_of(*SIZES)
    targets = make_targets(sizes, COUNTS)
    together = move_targets((every_move(sizes)[kind],), targets, sizes)
    for row, size in enumerate(SIZES):
        alone = sizes_of(size)
        moved = move_targets((every_move(alone)[kind],), targets.pick(np.array([row])), alone)

        np.testing.assert_array_equal(moved.boxes, together.pick(np.array([row])).boxes)
        np.testing.assert_array_equal(moved.keypoints, together.pick(np.array([row])).keypoints)


@pytest.mark.parametrize("effect", [Effect.AFFINE, Effect.PERSPECTIVE])
@pytest.mark.parametrize("value", [0.0, 1e300, np.inf, np.nan])
def test_a_warp_that_cannot_be_inverted_leaves_numbers(effect, value):
    sizes = sizes_of(*SIZES)
    grown = Sizes(sizes.height + 1, sizes.width)
    numbers = same_effect(effect, sizes, *[value] * 8).numbers
    move = EffectMove(np.full(len(sizes), effect), numbers, grown.height, grown.width)
    moved = move_targets((move,), make_targets(sizes, COUNTS), sizes)

    assert np.isfinite(moved.boxes).all()
    assert np.isfinite(moved.keypoints).all()


def test_effects_that_move_nothing_leave_targets_alone():
    sizes = sizes_of(*SIZES)
    targets = make_targets(sizes, COUNTS)
    moves = [same_effect(effect, sizes, 0.5) for effect in (Effect.NONE, Effect.HUE, Effect.ERASE)]
    moved = move_targets(moves, targets, sizes)

    np.testing.assert_array_equal(moved.boxes, targets.boxes)
    np.testing.assert_array_equal(moved.keypoints, targets.keypoints)


def test_one_record_may_warp_some_samples_only():
    sizes = sizes_of((10, 20), (10, 20), (10, 20))
    targets = read_targets([0, 1, 2, 3], boxes=[[2, 3, 4, 5]] * 3)
    numbers = np.zeros((3, NUMBERS))
    numbers[:, :6] = 1, 0, -6, 0, 1, 2  # looks 6 to the left and 2 below
    effects = np.array([Effect.AFFINE, Effect.NONE, Effect.PERSPECTIVE])
    moved = move_targets((EffectMove(effects, numbers, sizes.height, sizes.width),), targets, sizes)

    np.testing.assert_array_equal(moved.boxes, [[8, 1, 10, 3], [2, 3, 4, 5], [8, 1, 10, 3]])


def test_targets_stay_while_images_are_mixed():
    sizes = sizes_of((10, 20))
    targets = read_targets([0, 1], boxes=[[2, 3, 4, 5]])
    shift = same_effect(Effect.AFFINE, sizes, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0)
    effects = [Effect.MIX_BEGIN, Effect.MIX_ADD, Effect.MIX_END]
    begin, add, end = (same_effect(effect, sizes, 0.5) for effect in effects)

    mixed = move_targets((begin, shift, add, end), targets, sizes)
    np.testing.assert_array_equal(mixed.boxes, [[2, 3, 4, 5]])
    moved = move_targets((begin, shift, add, end, shift), targets, sizes)
    np.testing.assert_array_equal(moved.boxes, [[3, 3, 5, 5]])


def test_a_border_or_crop_that_changes_nothing_does_not_clamp():
    """A container gives such moves to samples that it leaves alone."""
    sizes = sizes_of((10, 20), (10, 20))
    targets = read_targets([0, 1, 2], boxes=[[-5, -5, 25, 25]] * 2)
    border = np.array([0, 1])
    pad = PadMove(border, border, border, border, PadMode.CONSTANT, (0, 0, 0))
    moved = move_targets((pad,), targets, sizes)
    np.testing.assert_array_equal(moved.boxes, [[-5, -5, 25, 25], [0, 0, 22, 12]])

    crop = CropMove(border, border, np.array([10, 8]), np.array([20, 18]))
    moved = move_targets((crop,), targets, sizes)
    np.testing.assert_array_equal(moved.boxes, [[-5, -5, 25, 25], [0, 0, 18, 8]])


def test_boxes_of_whole_numbers_are_cut_off_after_every_move():
    """5 * 0.5 * 2 is 4 where the half is lost on the way; the other sample keeps it."""
    boxes = np.array([[1, 1, 5, 5]] * 2)
    targets = replace(read_targets([0, 1, 2], boxes=boxes), whole=np.array([True, False]))
    sides = [np.full(2, side) for side in (10, 5, 10)]
    resizes = [ResizeMove(side, side, 0) for side in sides[1:]]
    moved = move_targets(resizes, targets, Sizes(sides[0], sides[0]))

    np.testing.assert_array_equal(moved.boxes, [[0, 0, 4, 4], [1, 1, 5, 5]])
    for chosen, expected in ((moved.pick(np.array([1, 0])), [False, True]), (moved, [True, False])):
        listed = list_targets(chosen, np.arange(2), "numpy")
        assert [target["boxes"].dtype == np.int64 for target in listed] == expected
    dropped = list_targets(moved.keep(np.zeros(2, np.bool_)), np.arange(2), "numpy")
    assert dropped[0]["boxes"].dtype == np.int64
    assert Targets.join([moved, moved]).whole.tolist() == [True, False, True, False]
