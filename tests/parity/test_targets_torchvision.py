"""Boxes and keypoints go where torchvision v2's kernels send them, for the same moves."""

import numpy as np
import pytest

from penstock._core import Effect, PadMode
from penstock.geometry import Size
from penstock.transforms.effects import same_effect
from penstock.transforms.move_targets import elastic_field, move_targets
from penstock.transforms.moves import CropMove, FlipMove, PadMove, ResizeMove
from penstock.transforms.targets import Targets
from target_samples import COUNTS, SIZES, make_targets, sizes_of

FORMATS = ["XYXY", "XYWH", "CXCYWH"]
BATCH = sizes_of(*SIZES)


@pytest.fixture(scope="module")
def functional(torchvision):
    from torchvision.transforms.v2 import functional as kernels

    return kernels


@pytest.fixture(params=FORMATS)
def targets(request) -> Targets:
    return make_targets(BATCH, COUNTS, format=request.param)


def assert_as_torchvision(move, targets, apply, tolerance_px=1e-3, same_canvas=True):
    """Compare with `apply(tv_tensor, row)` on the boxes and the points of every sample."""
    import torch
    from torchvision import tv_tensors

    moved = move_targets((move,), targets, BATCH)
    boxes, points = targets.formatted_boxes(), targets.keypoints[..., :2]
    after = move.out_sizes(BATCH)
    for row, (start, end) in enumerate(zip(targets.offsets, targets.offsets[1:], strict=False)):
        canvas = (BATCH[row].height, BATCH[row].width)
        expected = apply(
            tv_tensors.BoundingBoxes(
                torch.tensor(boxes[start:end]), format=targets.format.value, canvas_size=canvas
            ),
            row,
        )
        expected_points = apply(
            tv_tensors.KeyPoints(torch.tensor(points[start:end]), canvas_size=canvas), row
        )
        np.testing.assert_allclose(
            moved.formatted_boxes()[start:end], expected.numpy(), rtol=2e-6, atol=tolerance_px
        )
        np.testing.assert_allclose(
            moved.keypoints[start:end, :, :2], expected_points.numpy(), rtol=2e-6, atol=tolerance_px
        )
        if same_canvas and end > start:  # torchvision forgets to change the canvas of no boxes
            assert tuple(expected.canvas_size) == (after[row].height, after[row].width)
    np.testing.assert_array_equal(moved.keypoints[..., 2], targets.keypoints[..., 2])
    np.testing.assert_array_equal(moved.labels, targets.labels)


def test_pad(functional, targets):
    rng = np.random.default_rng(1)
    left, top, right, bottom = rng.integers(0, 30, (4, len(BATCH))) + 1
    move = PadMove(left, top, right, bottom, PadMode.CONSTANT, (0, 0, 0))

    def apply(tensor, row):
        return functional.pad(tensor, [int(side[row]) for side in (left, top, right, bottom)])

    assert_as_torchvision(move, targets, apply)


def test_crop(functional, targets):
    rng = np.random.default_rng(2)
    height, width = rng.integers(1, BATCH.height + 1), rng.integers(1, BATCH.width + 1)
    height[0] -= 1
    top, left = rng.integers(0, BATCH.height - height + 1), rng.integers(0, BATCH.width - width + 1)

    def apply(tensor, row):
        whole = (height[row], width[row]) == (BATCH.height[row], BATCH.width[row])
        return (
            tensor
            if whole
            else functional.crop(tensor, top[row], left[row], height[row], width[row])
        )

    assert_as_torchvision(CropMove(top, left, height, width), targets, apply)


def test_resize(functional, targets):
    rng = np.random.default_rng(3)
    height, width = rng.integers(1, 600, (2, len(BATCH)))

    def apply(tensor, row):
        return functional.resize(tensor, [int(height[row]), int(width[row])])

    assert_as_torchvision(ResizeMove(height, width, filter=2), targets, apply)


@pytest.mark.parametrize(("horizontal", "vertical"), [(1, 0), (0, 1), (1, 1)])
def test_flip(functional, targets, horizontal, vertical):
    mirrored = np.arange(len(BATCH)) % 2 == 1
    move = FlipMove(mirrored & (horizontal == 1), mirrored & (vertical == 1))

    def apply(tensor, row):
        if move.horizontal[row]:
            tensor = functional.horizontal_flip(tensor)
        return functional.vertical_flip(tensor) if move.vertical[row] else tensor

    assert_as_torchvision(move, targets, apply)


@pytest.mark.parametrize("seed", range(5))
def test_affine(functional, targets, seed):
    from torchvision.transforms.functional import _get_inverse_affine_matrix

    rng = np.random.default_rng(seed)
    arguments = [
        {
            "angle": rng.uniform(-180, 180),
            "translate": rng.uniform(-30, 30, 2).round().tolist(),
            "scale": rng.uniform(0.3, 3),
            "shear": rng.uniform(-40, 40, 2).tolist(),
        }
        for _ in SIZES
    ]
    matrices = [
        _get_inverse_affine_matrix([width / 2, height / 2], *given.values())
        for given, (height, width) in zip(arguments, SIZES, strict=True)
    ]
    move = effect_move(Effect.AFFINE, matrices)

    assert_as_torchvision(
        move, targets, lambda tensor, row: functional.affine(tensor, **arguments[row])
    )


@pytest.mark.parametrize("degrees", [0.5, 17, 90, 180, 230.7])
def test_rotation_that_grows_the_image(functional, degrees):
    """Pillow puts the frame in the middle, torchvision's boxes count from its corner: as these.

    Its idea of the new size may be a pixel off the image's, so boxes that must be cut do not count.
    """
    from PIL import Image

    targets = make_targets(BATCH, COUNTS, outside=False)
    turned = [
        Image.new("1", (width, height)).rotate(degrees, expand=True).size for height, width in SIZES
    ]
    matrices = [pillow_rotation(degrees, size) for size in SIZES]
    out = sizes_of(*[(height, width) for width, height in turned])
    move = effect_move(Effect.AFFINE, matrices, out)

    def apply(tensor, row):
        return functional.rotate(tensor, degrees, expand=True)

    assert_as_torchvision(move, targets, apply, same_canvas=False)


def pillow_rotation(degrees, size):
    """A matrix such as Pillow's: from the grown image back, both around their middles."""
    from PIL import Image

    height, width = size
    new_width, new_height = Image.new("1", (width, height)).rotate(degrees, expand=True).size
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    a, b, d, e = cos, -sin, sin, cos
    return [
        a,
        b,
        width / 2 - a * new_width / 2 - b * new_height / 2,
        d,
        e,
        height / 2 - d * new_width / 2 - e * new_height / 2,
    ]


@pytest.mark.parametrize("seed", range(5))
def test_perspective(functional, targets, seed):
    rng = np.random.default_rng(seed)
    coefficients = [
        [
            *(np.array([1, 0, 0, 0, 1, 0]) + rng.uniform(-0.3, 0.3, 6)),
            *rng.uniform(-0.3, 0.3, 2) / max(size),
        ]
        for size in SIZES
    ]
    move = effect_move(Effect.PERSPECTIVE, coefficients)

    def apply(tensor, row):
        return functional.perspective(tensor, None, None, coefficients=coefficients[row])

    assert_as_torchvision(move, targets, apply, tolerance_px=5e-3)


def test_elastic(functional, targets):
    import torch

    move = same_effect(
        Effect.ELASTIC,
        BATCH,
        alpha_across=50,
        alpha_down=30,
        sigma_across=0,
        sigma_down=0,
        filter=2,
        fill=0,
        key=(7, np.arange(len(SIZES))),
    )

    def apply(tensor, row):
        height, width = SIZES[row]
        across, down = elastic_field(Size(height, width), **move.parameters(row))
        shares = np.stack([across * 2 / width, down * 2 / height], axis=-1)[None]
        return functional.elastic(tensor, torch.tensor(shares, dtype=torch.float32))

    assert_as_torchvision(move, targets, apply)


def test_elastic_displacements_are_blurred_as_torchvision_blurs_them(functional):
    import torch

    def field(alpha, sigma):
        return elastic_field(
            Size(31, 40),
            alpha_across=alpha[0],
            alpha_down=alpha[1],
            sigma_across=sigma[0],
            sigma_down=sigma[1],
            key=(3, 4),
        )

    fields = zip(field((2, 2), (0, 0)), field((6, 8), (1.5, 0.7)), strict=True)
    for (noise, smooth), kernel, alpha in zip(fields, (13, 7), (6, 8), strict=True):
        plane = torch.tensor(noise, dtype=torch.float64)[None, None]
        expected = (
            functional.gaussian_blur(plane, [kernel, kernel], [1.5, 0.7])[0, 0].numpy() * alpha / 2
        )

        assert -1 <= noise.min() < -0.9
        assert 0.9 < noise.max() <= 1
        np.testing.assert_allclose(smooth, expected, atol=1e-6)


def test_moves_one_after_the_other(functional, targets):
    import torch
    from torchvision import tv_tensors

    targets = targets.pick(np.array([3]))
    moves = (
        CropMove(*columns(20, 30, 200, 300)),
        PadMove(*columns(3, 9, 1, 40), PadMode.CONSTANT, (0, 0, 0)),
        ResizeMove(*columns(125, 70), filter=2),
        FlipMove(np.array([True]), np.array([False])),
    )
    moved = move_targets(moves, targets, sizes_of(SIZES[3]))
    boxes = tv_tensors.BoundingBoxes(
        torch.tensor(targets.formatted_boxes()), format=targets.format.value, canvas_size=SIZES[3]
    )
    boxes = functional.pad(functional.crop(boxes, 20, 30, 200, 300), [3, 9, 1, 40])
    boxes = functional.horizontal_flip(functional.resize(boxes, [125, 70]))

    np.testing.assert_allclose(moved.formatted_boxes(), boxes.numpy(), atol=1e-3)


def columns(*values):
    return [np.array([value]) for value in values]


def effect_move(effect, matrices, out=BATCH):
    return same_effect(effect, out, matrix=np.asarray(matrices), filter=0, fill=0)
