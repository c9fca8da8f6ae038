"""Boxes and keypoints after moves: around the same pixels, and what torchvision has no word for."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from effect_examples import EXAMPLES
from penstock import transforms as T
from penstock._core import Effect, PadMode
from penstock.geometry import Size, Sizes
from penstock.loading.deliver import list_targets
from penstock.planner.plan import as_written
from penstock.reference.filters import elastic_displacements
from penstock.reference.pipeline import run_moves
from penstock.rng import Draws
from penstock.transforms.effects import (
    EffectMove,
    no_numbers,
    place_of,
    same_effect,
    write_parameters,
)
from penstock.transforms.move_targets import elastic_field, move_targets
from penstock.transforms.moves import CropMove, FlipMove, PadMove, ResizeMove
from penstock.transforms.targets import Targets, read_targets
from target_samples import COUNTS, SIZES, make_targets, sizes_of

SIZE = (120, 160)


def painted(box):
    """A black image with one white rectangle."""
    left, top, right, bottom = box
    pixels = np.zeros((*SIZE, 3), dtype=np.uint8)
    pixels[top:bottom, left:right] = 255
    return Image.fromarray(pixels)


def seen(image):
    """The box around what is white."""
    rows, columns = np.nonzero(np.asarray(image)[..., 0] > 127)
    if not len(rows):
        return None
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def random_box(seed):
    rng = np.random.default_rng(seed)
    left, top = rng.integers(0, 100), rng.integers(0, 70)
    return [left, top, left + rng.integers(10, 60), top + rng.integers(10, 50)]


PIPELINES = [
    T.RandomZoomOut(p=1),
    T.RandomIoUCrop(),
    T.RandomCrop((60, 80)),
    T.Compose([T.RandomHorizontalFlip(), T.RandomVerticalFlip()]),
    T.RandomRotation(10),
    T.RandomResizedCrop((90, 70), interpolation="nearest"),
    T.RandomPerspective(p=1, interpolation="nearest"),
    T.Compose([T.ScaleJitter((100, 100), (0.3, 2.0), "nearest"), T.FixedSizeCrop((100, 100))]),
    T.Compose(
        [
            T.RandomZoomOut(),
            T.RandomIoUCrop(),
            T.RandomHorizontalFlip(),
            T.Resize((150, 150), "nearest"),
            T.Pad((3, 1, 0, 5)),
        ]
    ),
]


@pytest.mark.parametrize("number", range(len(PIPELINES)))
def test_pipelines(number):
    seen_count = 0
    for sample in range(40):
        box = random_box(sample)
        targets = read_targets([0, 1], boxes=[box])
        moves, moved = (
            as_written(PIPELINES[number])
            .segments[0]
            .sample_targets(0, 0, np.array([sample]), sizes_of(SIZE), targets)
        )
        found = seen(run_moves(painted(box), moves, row=0))
        if found is not None and len(moved.boxes) and moved.boxes.any():
            seen_count += 1
            np.testing.assert_allclose(moved.boxes[0], found, atol=1.01)
    assert seen_count > 20


def test_elastic_points_know_the_displacements_of_pixels():
    (move,) = T.ElasticTransform(30, (1, 2)).sample(
        Draws(0, 0, np.arange(2), 0), sizes_of(SIZE, SIZE)
    )
    for row in range(2):
        parameters = move.parameters(row)
        found = elastic_field(Size(*SIZE), **parameters)
        expected = elastic_displacements(SIZE, (30, 30), (1, 2), tuple(parameters["key"]))
        np.testing.assert_allclose(found, expected, atol=1e-5)  # the core has float32


@pytest.mark.parametrize(
    ("effect", "matrix"),
    [
        (Effect.AFFINE, (1, 0, -13, 0, 1, 7)),
        (Effect.AFFINE, (0.5, 0, 20, 0, 0.8, 5)),
        (Effect.AFFINE, (1, 0.3, -12, 0, 1, 0)),
        (Effect.AFFINE, (0.866, -0.5, 40, 0.5, 0.866, -32)),
        (Effect.PERSPECTIVE, (1.1, 0.1, -8, 0.05, 1.2, -9, 0.001, 0.0015)),
    ],
)
def test_warps(effect, matrix):
    method = Image.Transform[effect.name]
    for seed in range(20):
        box = random_box(seed)
        move = same_effect(effect, sizes_of(SIZE), matrix=matrix, filter=0, fill=0)
        moved = move_targets((move,), read_targets([0, 1], boxes=[box]), sizes_of(SIZE))
        found = seen(painted(box).transform(SIZE[::-1], method, matrix))
        left, top, right, bottom = moved.boxes[0]
        if found is None:
            assert min(right - left, bottom - top) < 1.5
        else:
            np.testing.assert_allclose(moved.boxes[0], found, atol=2.01)


def every_move(sizes):
    """One move of each kind, which changes every sample."""
    ones = np.ones(len(sizes), dtype=np.int64)
    return [
        PadMove(ones, ones, ones, ones, PadMode.CONSTANT, (0, 0, 0)),
        CropMove(0 * ones, 0 * ones, ones, ones),
        ResizeMove(7 * ones, 9 * ones, filter=2),
        FlipMove(ones == 1, ones == 1),
        same_effect(Effect.AFFINE, sizes, matrix=(0, 2, 1, -2, 0, 3), filter=0, fill=0),
        same_effect(
            Effect.PERSPECTIVE, sizes, matrix=(1, 0, 1, 0, 1, 3, 0.01, 0.02), filter=0, fill=0
        ),
        same_effect(
            Effect.ELASTIC,
            sizes,
            alpha_across=9,
            alpha_down=9,
            sigma_across=0,
            sigma_down=0,
            filter=2,
            fill=0,
            key=(1, 2),
        ),
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
    numbers = no_numbers(len(sizes))
    numbers[:, place_of(effect, "matrix")] = value
    move = EffectMove(np.full(len(sizes), effect), numbers, grown.height, grown.width)
    moved = move_targets((move,), make_targets(sizes, COUNTS), sizes)

    assert np.isfinite(moved.boxes).all()
    assert np.isfinite(moved.keypoints).all()


def test_effects_that_move_nothing_leave_targets_alone():
    sizes = sizes_of(*SIZES)
    targets = make_targets(sizes, COUNTS)
    moves = [
        same_effect(effect, sizes, **EXAMPLES[effect])
        for effect in (Effect.NONE, Effect.HUE, Effect.ERASE)
    ]
    moved = move_targets(moves, targets, sizes)

    np.testing.assert_array_equal(moved.boxes, targets.boxes)
    np.testing.assert_array_equal(moved.keypoints, targets.keypoints)


def test_one_record_may_warp_some_samples_only():
    sizes = sizes_of((10, 20), (10, 20), (10, 20))
    targets = read_targets([0, 1, 2, 3], boxes=[[2, 3, 4, 5]] * 3)
    numbers = no_numbers(3)
    matrix = (1, 0, -6, 0, 1, 2)  # looks 6 to the left and 2 below
    write_parameters(Effect.AFFINE, numbers[0], matrix=matrix)
    write_parameters(Effect.PERSPECTIVE, numbers[2], matrix=(*matrix, 0, 0))
    effects = np.array([Effect.AFFINE, Effect.NONE, Effect.PERSPECTIVE])
    moved = move_targets((EffectMove(effects, numbers, sizes.height, sizes.width),), targets, sizes)

    np.testing.assert_array_equal(moved.boxes, [[8, 1, 10, 3], [2, 3, 4, 5], [8, 1, 10, 3]])


def test_targets_stay_while_images_are_mixed():
    sizes = sizes_of((10, 20))
    targets = read_targets([0, 1], boxes=[[2, 3, 4, 5]])
    shift = same_effect(Effect.AFFINE, sizes, matrix=(1, 0, -1, 0, 1, 0), filter=0, fill=0)
    effects = [Effect.MIX_BEGIN, Effect.MIX_ADD, Effect.MIX_END]
    begin, add, end = (same_effect(effect, sizes, **EXAMPLES[effect]) for effect in effects)

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
