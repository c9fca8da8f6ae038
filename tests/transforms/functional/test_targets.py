"""Boxes, keypoints and masks follow their image to torchvision's bits."""

import numpy as np
import pytest
import torch

from functional_samples import assert_as_torchvision, assert_same
from penstock.errors import TransformError
from penstock.transforms import functional as F

CANVAS = (33, 47)
UPRIGHT = ["XYXY", "XYWH", "CXCYWH"]
ROTATED = ["XYWHR", "CXCYWHR", "XYXYXYXY"]
CLAMPING_MODES = ["soft", "hard", None]
CORNERS = [[0, 0], [46, 0], [46, 32], [0, 32]]
MOVED = [[3, 1], [41, 4], [44, 30], [2, 27]]
DISPLACEMENT = torch.randn(1, *CANVAS, 2, generator=torch.Generator().manual_seed(1)) * 0.05

CALLS = {
    "horizontal_flip": [((), {})],
    "vertical_flip": [((), {})],
    "resize": [
        (([20, 70],), {}),
        ((12,), {"max_size": 15}),
        ((None,), {"max_size": 60}),
        ((CANVAS,), {}),
    ],
    "crop": [((3, 5, 20, 25), {}), ((-4, -6, 60, 80), {}), ((100, 100, 5, 5), {})],
    "center_crop": [((15,), {}), (([60, 10],), {})],
    "resized_crop": [((3, 5, 20, 25, [9, 31]), {})],
    "pad": [(([1, 2, 3, 4],), {}), ((2,), {"padding_mode": "edge"}), ((-3,), {})],
    "affine": [
        ((30, [2, -1], 1.3, [4, 5]), {}),
        ((-100.5, (9, 3), 0.4, 9), {"center": [1, 2.5], "fill": 1}),
    ],
    "rotate": [
        *(((angle,), {"expand": expand}) for angle in (0, 90, 180, -33.3) for expand in (0, 1)),
        ((45,), {"center": [3, 4]}),
    ],
    "perspective": [
        ((CORNERS, MOVED), {}),
        ((None, None), {"coefficients": [1.1, 0.1, 2, 0.05, 0.9, 1, 0.001, 0.002]}),
        ((None, None), {"coefficients": [0.0] * 8}),
    ],
    "elastic": [((DISPLACEMENT,), {})],
    "get_size": [((), {})],
    "to_dtype": [((torch.float64,), {}), ((torch.int64,), {"scale": True})],
}


def make_boxes(tv_tensors, box_format, dtype=torch.float32, count=40, clamping_mode="soft"):
    """Ordinary, large, tiny, empty and outlying boxes."""
    rng = np.random.default_rng(4)
    height, width = CANVAS
    near = rng.uniform(-0.4, 1.1, (count, 2)) * (width, height)
    extent = rng.uniform(0, 0.8, (count, 2)) * (width, height)
    extent[:3] = 0
    extent[3:6] = 1.0
    boxes = np.concatenate([near, near + extent], axis=1)
    if box_format == "XYWH":
        boxes[:, 2:] -= boxes[:, :2]
    elif box_format == "CXCYWH":
        boxes = np.concatenate([near + extent / 2, extent], axis=1)
    elif box_format in ROTATED:
        angles = rng.uniform(-360, 360, (count, 1))
        angles[::7] = 90.0 * np.arange(len(angles[::7]))[:, None]
        boxes = np.concatenate([near, extent, angles], axis=1)
    tensor = torch.from_numpy(boxes).to(dtype)
    if box_format in {"CXCYWHR", "XYXYXYXY"}:
        tensor = F.convert_bounding_box_format(tensor, "XYWHR", box_format)
    return tv_tensors.BoundingBoxes(
        tensor, format=box_format, canvas_size=CANVAS, clamping_mode=clamping_mode
    )


@pytest.mark.parametrize("box_format", UPRIGHT + ROTATED)
@pytest.mark.parametrize("name", CALLS)
def test_boxes(theirs, tv_tensors, name, box_format):
    for dtype, clamping_mode in (
        *((torch.float32, mode) for mode in CLAMPING_MODES),
        (torch.float64, "soft"),
    ):
        boxes = make_boxes(tv_tensors, box_format, dtype, clamping_mode=clamping_mode)
        for args, kwargs in CALLS[name]:
            assert_as_torchvision(theirs, name, boxes, args, kwargs)


@pytest.mark.parametrize("box_format", UPRIGHT)
@pytest.mark.parametrize("name", CALLS)
def test_whole_and_no_boxes(theirs, tv_tensors, name, box_format):
    for boxes in (
        make_boxes(tv_tensors, box_format, torch.int64),
        make_boxes(tv_tensors, box_format, torch.int32),
        make_boxes(tv_tensors, box_format, count=0),
    ):
        for args, kwargs in CALLS[name]:
            assert_as_torchvision(theirs, name, boxes, args, kwargs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("shape", [(9, 2), (3, 4, 2), (2, 3, 2, 2), (0, 2)])
@pytest.mark.parametrize("name", CALLS)
def test_keypoints(theirs, tv_tensors, name, shape, dtype):
    rng = np.random.default_rng(2)
    points = torch.from_numpy(rng.uniform(-9, 60, shape)).to(dtype)
    keypoints = tv_tensors.KeyPoints(points, canvas_size=CANVAS)
    for args, kwargs in CALLS[name]:
        assert_as_torchvision(theirs, name, keypoints, args, kwargs)


@pytest.mark.parametrize("shape", [CANVAS, (1, *CANVAS), (5, *CANVAS), (2, 3, *CANVAS)])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.int64, torch.float32])
@pytest.mark.parametrize("name", CALLS)
def test_masks(theirs, tv_tensors, name, dtype, shape):
    levels = torch.from_numpy(np.random.default_rng(3).integers(0, 21, shape)).to(dtype)
    mask = tv_tensors.Mask(levels)
    calls = [*CALLS[name]]
    if name == "resize":
        calls.append((([20, 70],), {"interpolation": "nearest-exact"}))
    if name in {"affine", "rotate", "pad"}:
        calls = [(args, {**kwargs, "fill": 7}) for args, kwargs in calls]
    for args, kwargs in calls:
        assert_as_torchvision(theirs, name, mask, args, kwargs)


@pytest.mark.parametrize("old", UPRIGHT + ROTATED)
@pytest.mark.parametrize("new", UPRIGHT + ROTATED)
def test_formats(theirs, tv_tensors, old, new):
    for dtype in (torch.float32, torch.float64, torch.int64):
        if dtype == torch.int64 and old in ROTATED:
            continue
        boxes = make_boxes(tv_tensors, old, dtype)
        # torchvision's enum has no lower case; strings may have it, in both.
        call = {"new_format": tv_tensors.BoundingBoxFormat[new]}
        assert_as_torchvision(theirs, "convert_bounding_box_format", boxes, (), call)
        plain = boxes.as_subclass(torch.Tensor)
        call = {"old_format": old.lower(), "new_format": new}
        assert_as_torchvision(theirs, "convert_bounding_box_format", plain, (), call)


def test_formats_in_place(theirs):
    for functional in (F, theirs):
        boxes = torch.tensor([[1.0, 2.0, 3.0, 4.0]])

        converted = functional.convert_bounding_box_format(boxes, "XYWH", "XYXY", inplace=True)

        assert converted is boxes
        assert boxes.tolist() == [[1, 2, 4, 6]]


@pytest.mark.parametrize("box_format", UPRIGHT + ROTATED)
def test_clamping_and_sanitizing_boxes(theirs, tv_tensors, box_format):
    boxes = make_boxes(tv_tensors, box_format)
    plain = boxes.as_subclass(torch.Tensor)
    named = {"format": tv_tensors.BoundingBoxFormat[box_format], "canvas_size": CANVAS}
    for mode in (*CLAMPING_MODES, "auto"):
        call = {"clamping_mode": mode}
        assert_as_torchvision(theirs, "clamp_bounding_boxes", boxes, (), call)
        assert_as_torchvision(theirs, "clamp_bounding_boxes", plain, (), {**named, **call})
    for call in ({}, {"min_size": 5, "min_area": 100}):
        assert_as_torchvision(theirs, "sanitize_bounding_boxes", boxes, (), call)
        assert_as_torchvision(theirs, "sanitize_bounding_boxes", plain, (), {**named, **call})


def test_clamping_and_sanitizing_keypoints(theirs, tv_tensors):
    for shape in ((30, 2), (9, 3, 2)):
        points = torch.from_numpy(np.random.default_rng(2).uniform(-9, 60, shape))
        keypoints = tv_tensors.KeyPoints(points, canvas_size=CANVAS)
        for name in ("clamp_keypoints", "sanitize_keypoints"):
            assert_as_torchvision(theirs, name, keypoints)
            assert_as_torchvision(theirs, name, points, (CANVAS,))
            assert_as_torchvision(theirs, name, points.long(), (CANVAS,))


def test_kernels_take_plain_tensors(theirs, tv_tensors):
    """By their own names, with the metadata as arguments; formats may be names."""
    boxes = make_boxes(tv_tensors, "XYWH").as_subclass(torch.Tensor)
    box_format = tv_tensors.BoundingBoxFormat.XYWH

    for given in (box_format, "XYWH", "xywh"):
        got = F.crop_bounding_boxes(boxes, given, 1, 2, 20, 30)
        assert_same("crop", got, theirs.crop_bounding_boxes(boxes, box_format, 1, 2, 20, 30))
    points = torch.rand(5, 2) * 30
    got = F.rotate_keypoints(points, CANVAS, 30, expand=True)
    assert_same("rotate", got, theirs.rotate_keypoints(points, CANVAS, 30, expand=True))


def test_an_unknown_format_is_refused():
    with pytest.raises(TransformError, match="XYXYXYXY, got 'XXYY'"):
        F.convert_bounding_box_format(torch.zeros(1, 4), "XXYY", "XYXY")
    with pytest.raises(TypeError, match="should be str or BoundingBoxFormat"):
        F.clamp_bounding_boxes(torch.zeros(1, 4), 3, CANVAS, "soft")
