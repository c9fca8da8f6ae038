"""Transforms that know targets: arguments, odd images, and samples that do not feel their mates."""

import pickle
import re

import numpy as np
import pytest

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.planner.plan import as_written
from penstock.rng import Draws
from penstock.transforms.targets import Targets, read_targets
from target_samples import COUNTS, SIZES, make_targets, sizes_of

OPS = [
    T.RandomIoUCrop(),
    T.RandomZoomOut(p=0.7),
    T.ScaleJitter((640, 640), (0.9, 2.0)),
    T.RandomShortestSize((40, 50, 60), max_size=5000),
    T.FixedSizeCrop((50, 60)),
    T.SanitizeBoundingBoxes(),
    T.ClampBoundingBoxes(),
    T.ConvertBoundingBoxFormat("cxcywh"),
]


def run(transform, samples, sizes, targets):
    plan = as_written(transform)
    return plan.segments[0].sample_targets(3, 1, samples, sizes, targets)


@pytest.mark.parametrize("op", OPS, ids=lambda op: type(op).__name__)
def test_samples_do_not_depend_on_batch_mates(op):
    sizes = sizes_of(*SIZES)
    targets = make_targets(sizes, COUNTS)
    samples = np.array([5, 3, 80, 13, 8, 2])
    moves, moved = run(op, samples, sizes, targets)
    for row in range(len(SIZES)):
        only = np.array([row])
        alone = Sizes(sizes.height[only], sizes.width[only])
        own_moves, own = run(op, samples[only], alone, targets.pick(only))

        np.testing.assert_array_equal(own.formatted_boxes(), moved.pick(only).formatted_boxes())
        np.testing.assert_array_equal(own.labels, moved.pick(only).labels)
        np.testing.assert_array_equal(own.keypoints, moved.pick(only).keypoints)
        for together, single in zip(moves, own_moves, strict=True):
            after = together.out_sizes(sizes)[row]
            assert single.out_sizes(alone)[0] == after


@pytest.mark.parametrize("op", OPS, ids=lambda op: type(op).__name__)
@pytest.mark.parametrize("size", [(1, 1), (1, 300), (200, 1)])
def test_tiny_images_without_objects(op, size):
    sizes = sizes_of(*[size] * 20)
    moves, moved = run(op, np.arange(20), sizes, Targets.empty(20))

    assert moved.offsets[-1] == 0
    for move in moves:
        sizes = move.out_sizes(sizes)
    assert (sizes.height >= 1).all()
    assert (sizes.width >= 1).all()


def test_moves_are_the_same_with_and_without_targets():
    transform = T.Compose(
        [T.RandomZoomOut(), T.ScaleJitter((64, 64), (0.5, 1.5)), T.FixedSizeCrop(48)]
    )
    sizes = sizes_of((30, 40), (50, 20))
    segment = as_written(transform).segments[0]
    samples = np.array([4, 7])
    alone = segment.sample(0, 0, samples, sizes)
    along, _ = segment.sample_targets(0, 0, samples, sizes, make_targets(sizes, [3, 3]))

    assert repr(alone) == repr(along)


def test_crops_keep_an_object_that_overlaps_enough():
    count = 500
    sizes = sizes_of(*[(200, 300)] * count)
    targets = make_targets(sizes, [4] * count, outside=False)
    (crop,), moved = T.RandomIoUCrop(sampler_options=[0.5]).sample_targets(
        Draws(0, 0, np.arange(count), 0), sizes, targets
    )
    areas = np.prod(moved.boxes[:, 2:] - moved.boxes[:, :2], axis=1)
    before = np.prod(targets.boxes[:, 2:] - targets.boxes[:, :2], axis=1)
    joined = before + (crop.height * crop.width)[targets.owners] - areas
    best = np.maximum.reduceat(areas / joined, targets.offsets[:-1])
    changed = (crop.height < 200) | (crop.width < 300)

    assert changed.mean() > 0.5
    assert (best[changed] >= 0.5 - 1e-6).all()


def test_an_iou_crop_that_cannot_be_found_leaves_the_image_whole():
    sizes = sizes_of((50, 50))
    targets = read_targets([0, 1], boxes=[[1, 1, 2, 2]])
    op = T.RandomIoUCrop(sampler_options=[0.9], trials=2)
    (crop,), moved = op.sample_targets(Draws(0, 0, np.array([0]), 0), sizes, targets)

    assert (crop.height[0], crop.width[0]) == (50, 50)
    np.testing.assert_array_equal(moved.boxes, [[1, 1, 2, 2]])


def test_sparing_hopeless_tries_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    sizes = Sizes(rng.integers(1, 300, 200), rng.integers(1, 300, 200))
    targets = make_targets(sizes)
    spared, _ = run(T.RandomIoUCrop(), np.arange(200), sizes, targets)
    monkeypatch.setattr(T.RandomIoUCrop, "_possible_overlaps", lambda *_: np.full(200, np.inf))
    tried, _ = run(T.RandomIoUCrop(), np.arange(200), sizes, targets)

    for side in ("top", "left", "height", "width"):
        np.testing.assert_array_equal(getattr(spared[0], side), getattr(tried[0], side))


def test_an_iou_crop_needs_boxes():
    plan = as_written(T.Compose([T.Resize(9), T.RandomIoUCrop()]))
    sizes = sizes_of((50, 50))
    message = "RandomIoUCrop (step 2): needs boxes, but the samples carry none. Load boxes,"
    with pytest.raises(TransformError, match=re.escape(message)):
        plan.segments[0].sample(0, 0, np.array([0]), sizes)
    points = read_targets([0, 1], keypoints=[[[1, 2]]])
    with pytest.raises(TransformError, match=re.escape(message)):
        plan.segments[0].sample_targets(0, 0, np.array([0]), sizes, points)


def test_fixed_size_crop_drops_what_it_cuts_away():
    sizes = sizes_of((10, 100), (10, 20))
    boxes = [[0, 0, 1, 1], [0, 0, 100, 10], [99, 9, 100, 10], [5, 5, 5, 5]]
    targets = read_targets([0, 3, 4], boxes=boxes, labels=[1, 2, 3, 4])
    (crop, pad), moved = T.FixedSizeCrop((16, 50)).sample_targets(
        Draws(0, 0, np.array([0, 1]), 0), sizes, targets
    )

    assert 0 < crop.left[0] < 50
    np.testing.assert_array_equal(moved.labels, [2, 4])  # the last was not cut, only padded
    np.testing.assert_array_equal(moved.boxes, [[0, 0, 50, 10], [5, 5, 5, 5]])
    np.testing.assert_array_equal((pad.right, pad.bottom), [[0, 30], [6, 6]])


def test_box_ops_may_stand_behind_the_final_pass():
    ops = [T.RandomHorizontalFlip(1), T.ToDtype("float32", scale=True), T.SanitizeBoundingBoxes()]
    sizes = sizes_of((10, 20))
    targets = read_targets([0, 2], boxes=[[1, 2, 9, 9], [3, 3, 3, 3]])
    _, kept = run(T.Compose(ops), np.array([0]), sizes, targets)

    np.testing.assert_array_equal(kept.boxes, [[11, 2, 19, 9]])
    with pytest.raises(TransformError, match=r"RandomIoUCrop \(step 3\): comes after ToDtype"):
        as_written(T.Compose([*ops[:2], T.RandomIoUCrop()]))


@pytest.mark.parametrize("op", [T.RandomIoUCrop(), T.SanitizeBoundingBoxes()], ids=repr)
@pytest.mark.parametrize("container", [T.RandomApply, T.RandomChoice, T.RandomOrder])
def test_containers_refuse_what_changes_targets(container, op):
    name = type(op).__name__
    with pytest.raises(TransformError, match=f"{container.__name__}: {name} changes more than the"):
        as_written(container([T.Compose([T.RandomHorizontalFlip(), op])]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.RandomIoUCrop(min_scale=-1), "RandomIoUCrop: min_scale must be a number of at"),
        (lambda: T.RandomIoUCrop(0.9, 0.5), "RandomIoUCrop: max_scale must be a number of at leas"),
        (lambda: T.RandomIoUCrop(max_scale=1.5), "RandomIoUCrop: max_scale must be at most 1, got"),
        (lambda: T.RandomIoUCrop(trials=0), "RandomIoUCrop: trials must be an integer between 1"),
        (lambda: T.RandomIoUCrop(sampler_options=[]), "RandomIoUCrop: sampler_options is empty."),
        (
            lambda: T.RandomZoomOut(side_range=(0.5, 2)),
            "RandomZoomOut: side_range must be two numbers (min, max) of at least 1",
        ),
        (lambda: T.RandomZoomOut(p=2), "RandomZoomOut: p must be between 0 and 1, got 2."),
        (
            lambda: T.ScaleJitter((3, 3), (0, 1)),
            "ScaleJitter: scale_range must be two numbers (min, max) greater than 0",
        ),
        (lambda: T.RandomShortestSize([]), "RandomShortestSize: min_size is empty. Give at least"),
        (lambda: T.RandomShortestSize("12a"), "RandomShortestSize: min_size must be an integer"),
        (lambda: T.FixedSizeCrop(0), "FixedSizeCrop: size must be an integer between 1 and"),
        (lambda: T.SanitizeBoundingBoxes(0.5), "SanitizeBoundingBoxes: min_size must be a number"),
        (
            lambda: T.SanitizeBoundingBoxes(labels_getter="area"),
            "SanitizeBoundingBoxes: labels_getter should either be 'default', a callable, or None",
        ),
        (lambda: T.ClampBoundingBoxes("firm"), "ClampBoundingBoxes: clamping_mode must be soft"),
        (
            lambda: T.ConvertBoundingBoxFormat("XXYY"),
            "ConvertBoundingBoxFormat: format must be XYXY, XYWH or CXCYWH, got 'XXYY'.",
        ),
        (
            lambda: as_written(T.ConvertBoundingBoxFormat("XYXYXYXY")),
            "ConvertBoundingBoxFormat: the loader has upright boxes only, got XYXYXYXY.",
        ),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(TransformError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("op", "size", "message"),
    [
        (
            T.ScaleJitter((8, 8), (0.1, 0.1)),
            (5, 5),
            "ScaleJitter (step 1): sample 0 is 5x5 here and would become 0x0. Crop it first",
        ),
        (
            T.RandomShortestSize(1000),
            (1, 100_000),
            "RandomShortestSize (step 1): sample 0 is 1x100000 here and would become 1000x10000",
        ),
        (
            T.RandomZoomOut(side_range=(1e9, 1e9), p=1),
            (5, 5),
            "RandomZoomOut (step 1): sample 0 is 5x5 here and would become 5000000000x5000000000.",
        ),
    ],
)
def test_sizes_that_cannot_be_are_named(op, size, message):
    with pytest.raises(TransformError, match=re.escape(message)):
        op.sample(Draws(0, 0, np.array([0]), 0), sizes_of(size))


@pytest.mark.parametrize("op", OPS, ids=lambda op: type(op).__name__)
def test_printing_and_pickling(op):
    assert eval(f"T.{op!r}", {"T": T}) == op  # noqa: S307
    assert pickle.loads(pickle.dumps(op)) == op  # noqa: S301
