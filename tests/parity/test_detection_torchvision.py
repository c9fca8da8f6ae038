"""The transforms of detectors: what they draw, and what they do to boxes, as in torchvision."""

import numpy as np
import pytest
from PIL import Image

from penstock import transforms as T
from penstock.geometry import Sizes
from penstock.planner.plan import as_written
from penstock.rng import Draws
from penstock.transforms.targets import read_targets
from statistics_of_draws import assert_same_distribution
from target_samples import make_targets, sizes_of

THEIRS, OURS = 2000, 20_000


@pytest.fixture(scope="module")
def v2(torchvision):
    from torchvision.transforms import v2

    return v2


def seeded(seed=0):
    import torch

    torch.manual_seed(seed)


def draws_for(count, stream=0):
    return Draws(0, 0, np.arange(count), stream)


def tv_boxes(boxes, size, format="XYXY"):
    import torch
    from torchvision import tv_tensors

    return tv_tensors.BoundingBoxes(torch.tensor(boxes), format=format, canvas_size=size)


BOXES = np.array(
    [[10, 20, 60, 90], [200, 40, 480, 300], [0, 0, 500, 333], [300, 10, 320, 30]], np.float32
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("boxes", "arguments"),
    [
        (BOXES, {}),
        (BOXES[:1], {"trials": 4}),
        (BOXES[3:], {"min_scale": 0.1, "max_scale": 0.6, "trials": 4}),
        (BOXES[1:3], {"sampler_options": [0.3, 0.9], "trials": 5}),
        (BOXES[:0], {"trials": 4}),
        (
            BOXES[:2],
            {"min_aspect_ratio": 0.9, "max_aspect_ratio": 1.1, "sampler_options": [0.0, 1]},
        ),
    ],
)
def test_iou_crop_draws_from_the_same_distribution(v2, boxes, arguments):
    size = (333, 500)
    seeded()
    theirs = v2.RandomIoUCrop(**arguments)
    image, given = Image.new("RGB", size[::-1]), tv_boxes(boxes, size)
    whole = {"top": 0, "left": 0, "height": size[0], "width": size[1]}
    found = [theirs.make_params([image, given]) for _ in range(THEIRS)]
    expected = [crop or whole for crop in found]

    count = OURS // 4
    targets = read_targets(np.arange(count + 1) * len(boxes), boxes=np.tile(boxes, (count, 1)))
    sizes = sizes_of(*[size] * count)
    (crop,), _ = T.RandomIoUCrop(**arguments).sample_targets(draws_for(count), sizes, targets)

    is_whole = (crop.height == size[0]) & (crop.width == size[1])
    share = np.mean([not crop for crop in found])
    assert abs(is_whole.mean() - share) <= 5 * np.sqrt(
        share * (1 - share) * (1 / count + 1 / THEIRS)
    )
    for name in whole:
        assert_same_distribution(getattr(crop, name), np.array([crop[name] for crop in expected]))
    assert_same_distribution(
        crop.height / crop.width,
        np.array([crop["height"] / crop["width"] for crop in expected]),
    )


@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
def test_iou_crop_does_the_same_to_boxes(v2, format):
    """Our crops, handed to torchvision as its own draw."""
    import torch

    rng = np.random.default_rng(0)
    sizes = Sizes(rng.integers(30, 400, 50), rng.integers(30, 400, 50))
    targets = make_targets(sizes, format=format)
    (crop,), moved = T.RandomIoUCrop().sample_targets(draws_for(50), sizes, targets)
    theirs = v2.RandomIoUCrop()
    cropped = 0
    for row in range(50):
        before, after = (part.pick(np.array([row])) for part in (targets, moved))
        size = (sizes[row].height, sizes[row].width)
        top, left, height, width = (
            int(side[row]) for side in (crop.top, crop.left, crop.height, crop.width)
        )
        across, down = (before.boxes[:, :2] + before.boxes[:, 2:]).T / 2
        inside = (left < across) & (across < left + width) & (top < down) & (down < top + height)
        params = {"top": top, "left": left, "height": height, "width": width}
        params["is_within_crop_area"] = torch.tensor(inside)
        if (height, width) == size:
            params = {}
        cropped += bool(params)
        assert inside.any() or not params
        expected = theirs.transform(tv_boxes(before.formatted_boxes(), size, format), params)

        np.testing.assert_allclose(after.formatted_boxes(), expected.numpy(), atol=1e-3)
        np.testing.assert_array_equal(after.labels, before.labels)
    assert cropped > 10


@pytest.mark.parametrize("arguments", [{}, {"side_range": (2.0, 2.5), "p": 0.8}])
def test_zoom_out_draws_from_the_same_distribution(v2, arguments):
    seeded()
    size = (37, 53)
    image = Image.new("RGB", size[::-1])
    theirs = v2.RandomZoomOut(**arguments)
    found = np.array([theirs.make_params([image])["padding"] for _ in range(THEIRS)])
    (pad,) = T.RandomZoomOut(**arguments).sample(draws_for(OURS), sizes_of(*[size] * OURS))
    ours = np.stack([pad.left, pad.top, pad.right, pad.bottom], axis=1)
    done = ours.any(axis=1)

    p = arguments.get("p", 0.5)
    assert abs(done.mean() - p) < 0.02
    for side in range(4):
        assert_same_distribution(ours[done, side], found[found.any(axis=1), side])
    assert_same_distribution(ours[done].sum(axis=1), found[found.any(axis=1)].sum(axis=1))


@pytest.mark.parametrize("target_size", [(64, 64), (100, 40)])
@pytest.mark.parametrize("size", [(37, 53), (80, 20)])
def test_scale_jitter_draws_from_the_same_distribution(v2, target_size, size):
    seeded()
    image = Image.new("RGB", size[::-1])
    theirs = v2.ScaleJitter(target_size)
    found = np.array([theirs.make_params([image])["size"] for _ in range(THEIRS)])
    (move,) = T.ScaleJitter(target_size).sample(draws_for(OURS), sizes_of(*[size] * OURS))

    assert_same_distribution(move.height, found[:, 0])
    assert_same_distribution(move.width, found[:, 1])


@pytest.mark.parametrize("max_size", [None, 700])
def test_shortest_size_has_the_same_results(v2, max_size):
    """One of few lengths: each gives the very size that torchvision computes."""
    lengths = (480, 512, 600)
    rng = np.random.default_rng(0)
    sizes = Sizes(rng.integers(50, 2000, 300), rng.integers(50, 2000, 300))
    (move,) = T.RandomShortestSize(lengths, max_size).sample(draws_for(300), sizes)
    used = set()
    for row in range(300):
        image = Image.new("1", (sizes[row].width, sizes[row].height))
        possible = [
            v2.RandomShortestSize(length, max_size).make_params([image])["size"]
            for length in lengths
        ]
        ours = (move.height[row], move.width[row])
        assert ours in possible
        used.add(possible.index(ours))
    assert used == {0, 1, 2} if max_size is None else 0 in used


@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize("arguments", [{}, {"min_size": 20}, {"min_area": 900.5}])
def test_sanitize_keeps_the_same_boxes(v2, format, arguments):
    import torch

    rng = np.random.default_rng(1)
    sizes = Sizes(rng.integers(1, 300, 40), rng.integers(1, 300, 40))
    targets = make_targets(sizes, format=format)
    op = T.SanitizeBoundingBoxes(**arguments)
    moves, kept = op.sample_targets(draws_for(40), sizes, targets)

    assert moves == ()
    assert 0 < kept.offsets[-1] < targets.offsets[-1]
    for row in range(40):
        before, after = (part.pick(np.array([row])) for part in (targets, kept))
        sample = {
            "boxes": tv_boxes(
                before.formatted_boxes(), (sizes[row].height, sizes[row].width), format
            ),
            "labels": torch.tensor(before.labels),
        }
        expected = v2.SanitizeBoundingBoxes(**arguments)(sample)

        np.testing.assert_array_equal(after.formatted_boxes(), expected["boxes"].numpy())
        np.testing.assert_array_equal(after.labels, expected["labels"].numpy())
        assert len(after.extras["number"]) == len(after.labels)


@pytest.mark.parametrize("old", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize("new", ["XYXY", "XYWH", "CXCYWH"])
def test_clamp_and_convert(v2, old, new):
    sizes = sizes_of((120, 90))
    targets = make_targets(sizes, [9], format=old)
    segment = as_written(T.Compose([T.ClampBoundingBoxes(), T.ConvertBoundingBoxFormat(new)]))
    _, changed = segment.segments[0].sample_targets(0, 0, np.array([0]), sizes, targets)
    given = tv_boxes(targets.formatted_boxes(), (120, 90), old)
    expected = v2.ConvertBoundingBoxFormat(new)(v2.ClampBoundingBoxes()(given))

    np.testing.assert_allclose(changed.formatted_boxes(), expected.numpy(), atol=1e-4)
