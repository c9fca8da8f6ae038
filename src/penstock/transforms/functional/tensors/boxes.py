"""Boxes follow their image: (..., 4) for upright formats, (..., 5) or (..., 8) for rotated ones.

Kernels that change the image's size return it along with the boxes, as (height, width).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from penstock.errors import TransformError
from penstock.transforms.functional.arguments import (
    Canvas,
    Centre,
    Coefficients,
    Padding,
    Points,
    Sides,
    centre_corner,
    read_borders,
    read_crop_size,
    resized_size,
)
from penstock.transforms.functional.box_format import NUMBERS, ROTATED, corner_format, read_format
from penstock.transforms.functional.matrices import NO_MOVE, perspective_coefficients
from penstock.transforms.functional.tensors.box_clamping import clamp
from penstock.transforms.functional.tensors.box_formats import CORNERS, convert, cos_and_sin
from penstock.transforms.functional.tensors.keypoints import (
    elastic_points,
    perspective_points,
    turn_points,
)
from penstock.transforms.functional.tensors.warp import require_displacement

Format = Any  # torchvision's enum, ours, or a name
ClampingMode = str | None
_MIRRORED_CORNERS = [2, 3, 0, 1, 6, 7, 4, 5]


def horizontal_flip_bounding_boxes(
    bounding_boxes: Tensor, format: Format, canvas_size: Canvas
) -> Tensor:
    """Left to right."""
    name, width = read_format(format), canvas_size[1]
    boxes = bounding_boxes.clone().reshape(-1, NUMBERS.get(name, 4))
    if name == "XYXY":
        boxes[:, [2, 0]] = boxes[:, [0, 2]].sub_(width).neg_()
    elif name == "XYWH":
        boxes[:, 0].add_(boxes[:, 2]).sub_(width).neg_()
    elif name == "XYXYXYXY":
        boxes[:, 0::2].sub_(width).neg_()
        boxes = boxes[:, _MIRRORED_CORNERS]
    else:
        if name == "XYWHR":
            cos, sin = cos_and_sin(boxes[:, 4])
            boxes[:, 0].add_(boxes[:, 2].mul(cos))
            boxes[:, 1].sub_(boxes[:, 2].mul(sin))
        boxes[:, 0].sub_(width).neg_()
        if name in ROTATED:
            boxes[:, 4].neg_()
    return boxes.reshape(bounding_boxes.shape)


def vertical_flip_bounding_boxes(
    bounding_boxes: Tensor, format: Format, canvas_size: Canvas
) -> Tensor:
    """Top to bottom."""
    name, height = read_format(format), canvas_size[0]
    boxes = bounding_boxes.clone().reshape(-1, NUMBERS.get(name, 4))
    if name == "XYXY":
        boxes[:, [1, 3]] = boxes[:, [3, 1]].sub_(height).neg_()
    elif name == "XYWH":
        boxes[:, 1].add_(boxes[:, 3]).sub_(height).neg_()
    elif name == "XYXYXYXY":
        boxes[:, 1::2].sub_(height).neg_()
        boxes = boxes[:, _MIRRORED_CORNERS]
    else:
        if name == "XYWHR":
            cos, sin = cos_and_sin(boxes[:, 4])
            boxes[:, 1].sub_(boxes[:, 2].mul(sin))
            boxes[:, 0].add_(boxes[:, 2].mul(cos))
        boxes[:, 1].sub_(height).neg_()
        if name in ROTATED:
            boxes[:, 4].neg_().add_(180)
    return boxes.reshape(bounding_boxes.shape)


def resize_bounding_boxes(
    bounding_boxes: Tensor,
    canvas_size: Canvas,
    size: Sides,
    max_size: int | None = None,
    format: Format = "XYXY",
    clamping_mode: ClampingMode = "soft",
) -> tuple[Tensor, Canvas]:
    """In proportion to the image; what becomes a parallelogram is made a rectangle again."""
    height, width = canvas_size
    new = resized_size(canvas_size, size, max_size)
    if new == (height, width):
        return bounding_boxes, canvas_size
    name, dtype = read_format(format), bounding_boxes.dtype
    ratio = [new[1] / width, new[0] / height]
    if name not in ROTATED:
        ratios = torch.tensor(ratio * 2, device=bounding_boxes.device)
        return bounding_boxes.mul(ratios).to(dtype), new
    corners = convert(bounding_boxes, name, "XYXYXYXY").reshape(-1, 8)
    moved = straighten(corners.mul(torch.tensor(ratio * 4, device=bounding_boxes.device)))
    clamped = clamp(moved, "XYXYXYXY", new, clamping_mode)
    resized = convert(clamped, "XYXYXYXY", name).to(dtype)
    return resized.reshape(bounding_boxes.shape), new


def crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Format,
    top: int,
    left: int,
    height: int,
    width: int,
    clamping_mode: ClampingMode = "soft",
) -> tuple[Tensor, Canvas]:
    """Boxes outside of the crop become empty ones at its border."""
    name = read_format(format)
    moved = bounding_boxes - _shift(bounding_boxes, name, left, top)
    if name == "XYXYXYXY":
        moved = straighten(moved)
    return clamp(moved, name, (height, width), clamping_mode), (height, width)


def center_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Format,
    canvas_size: Canvas,
    output_size: Padding,
    clamping_mode: ClampingMode = "soft",
) -> tuple[Tensor, Canvas]:
    """A crop from the middle."""
    wanted = read_crop_size(output_size)
    corner = centre_corner(canvas_size, wanted)
    return crop_bounding_boxes(bounding_boxes, format, *corner, *wanted, clamping_mode)


def resized_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Format,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sides,
    clamping_mode: ClampingMode = "soft",
) -> tuple[Tensor, Canvas]:
    """Crop, then resize."""
    cropped, canvas = crop_bounding_boxes(
        bounding_boxes, format, top, left, height, width, clamping_mode
    )
    return resize_bounding_boxes(cropped, canvas, size, format=format, clamping_mode=clamping_mode)


def pad_bounding_boxes(
    bounding_boxes: Tensor,
    format: Format,
    canvas_size: Canvas,
    padding: Padding,
    padding_mode: str = "constant",
    clamping_mode: ClampingMode = "soft",
) -> tuple[Tensor, Canvas]:
    """Only with borders that repeat nothing: boxes would have to be repeated too."""
    if padding_mode != "constant":
        raise TransformError(f"Padding mode '{padding_mode}' is not supported with bounding boxes")
    name = read_format(format)
    left, top, right, bottom = read_borders(padding)
    moved = bounding_boxes + _shift(bounding_boxes, name, left, top)
    canvas = canvas_size[0] + top + bottom, canvas_size[1] + left + right
    return clamp(moved, name, canvas, clamping_mode), canvas


def _shift(boxes: Tensor, name: str, x: int, y: int) -> Tensor:
    """What to add to the numbers of a box to move it."""
    if name in {"XYXY", "XYXYXYXY"}:
        numbers = [x, y] * (NUMBERS.get(name, 4) // 2)
    else:
        numbers = [x, y] + [0] * (NUMBERS.get(name, 4) - 2)
    return torch.tensor(numbers, dtype=boxes.dtype, device=boxes.device)


def affine_bounding_boxes(
    bounding_boxes: Tensor,
    format: Format,
    canvas_size: Canvas,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    center: Centre = None,
    clamping_mode: ClampingMode = "soft",
) -> Tensor:
    """Shear, scale, turn around `center`, then move: the box around the moved corners."""
    turn = (angle, translate, scale, shear, center)
    return _turn(bounding_boxes, format, canvas_size, turn, clamping_mode, expand=False)[0]


def rotate_bounding_boxes(
    bounding_boxes: Tensor,
    format: Format,
    canvas_size: Canvas,
    angle: float,
    expand: bool = False,
    center: Centre = None,
    clamping_mode: ClampingMode = "soft",
) -> tuple[Tensor, Canvas]:
    """Counterclockwise, around `center` or the middle: the box around the moved corners."""
    turn = (-angle, NO_MOVE, 1.0, NO_MOVE, center)
    return _turn(bounding_boxes, format, canvas_size, turn, clamping_mode, expand=expand)


def _turn(
    boxes: Tensor,
    format: Format,
    canvas: Canvas,
    turn: tuple[Any, ...],
    clamping_mode: ClampingMode,
    *,
    expand: bool,
) -> tuple[Tensor, Canvas]:
    if boxes.numel() == 0:
        return boxes, canvas
    name = read_format(format)
    fractions = boxes if boxes.is_floating_point() else boxes.float()
    points = _corner_points(convert(fractions, name, corner_format(name)), name)
    turned, canvas, corner = turn_points(points, canvas, *turn, expand=expand)
    moved = _around(turned, name)
    if corner is not None:
        moved = moved.sub_(corner.repeat((1, moved.shape[1] // 2)))
    return _back(moved, name, canvas, clamping_mode).reshape(boxes.shape).to(boxes.dtype), canvas


def perspective_bounding_boxes(
    bounding_boxes: Tensor,
    format: Format,
    canvas_size: Canvas,
    startpoints: Points,
    endpoints: Points,
    coefficients: Coefficients = None,
    clamping_mode: ClampingMode = "soft",
) -> Tensor:
    """As seen from another place: the box around the moved corners."""
    if bounding_boxes.numel() == 0:
        return bounding_boxes
    name = read_format(format)
    numbers = perspective_coefficients(startpoints, endpoints, coefficients)
    points = _corner_points(convert(bounding_boxes, name, corner_format(name)), name)
    moved = _around(perspective_points(points, numbers, "bounding boxes"), name)
    back = _back(moved, name, canvas_size, clamping_mode)
    return back.reshape(bounding_boxes.shape).to(bounding_boxes.dtype)


def elastic_bounding_boxes(
    bounding_boxes: Tensor,
    format: Format,
    canvas_size: Canvas,
    displacement: Any,
    clamping_mode: ClampingMode = "soft",
) -> Tensor:
    """The box around the moved corners; of a rotated box only the middle moves."""
    require_displacement(displacement, canvas_size)
    if bounding_boxes.numel() == 0:
        return bounding_boxes
    name = read_format(format)
    between = "CXCYWHR" if name in ROTATED else "XYXY"
    boxes = convert(bounding_boxes.clone(), name, between)
    boxes = boxes.reshape(-1, NUMBERS.get(between, 4))
    points = boxes[:, :2].clone() if name in ROTATED else boxes[:, CORNERS].reshape(-1, 2)
    if points.is_floating_point():
        points = points.ceil_()
    moved = elastic_points(points, canvas_size, displacement)
    moved = torch.cat([moved, boxes[:, 2:]], dim=1) if name in ROTATED else _upright_around(moved)
    clamped = clamp(moved.to(boxes.dtype), between, canvas_size, clamping_mode)
    return convert(clamped, between, name).reshape(bounding_boxes.shape)


def _corner_points(corners: Tensor, name: str) -> Tensor:
    """The four corners of each box, one below the other: (4 * boxes, 2)."""
    if name in ROTATED:
        return corners.reshape(-1, 2)
    return corners.reshape(-1, 4)[:, CORNERS].reshape(-1, 2)


def _around(points: Tensor, name: str) -> Tensor:
    """The box of the moved corners: upright around them, or a rectangle again."""
    return straighten(points.reshape(-1, 8)) if name in ROTATED else _upright_around(points)


def _upright_around(points: Tensor) -> Tensor:
    return torch.cat(torch.aminmax(points.reshape(-1, 4, 2), dim=1), dim=1)


def _back(corners: Tensor, name: str, canvas: Canvas, clamping_mode: ClampingMode) -> Tensor:
    between = corner_format(name)
    clamped = clamp(corners, between, canvas, clamping_mode)
    return convert(clamped, between, name, inplace=True)


def straighten(parallelogram: Tensor) -> Tensor:
    """Parallelograms (..., 8) as rectangles: the corners of the longer diagonal stay."""
    given = parallelogram.dtype
    if given not in {torch.float32, torch.float64}:
        parallelogram = parallelogram.to(torch.float32)  # squares would overflow
    x1, y1, x2, y2, x3, y3, x4, y4 = parallelogram.unbind(-1)
    middle_x, middle_y = (x1 + x3) / 2, (y1 + y3) / 2
    across = torch.sqrt((x2 - x1).pow(2) + (y2 - y1).pow(2))
    down = torch.sqrt((x4 - x1).pow(2) + (y4 - y1).pow(2))
    angle_across = torch.atan2(y1 - y2, x2 - x1)
    angle_down = torch.atan2(y1 - y4, x4 - x1)
    between = angle_across - angle_down
    sign = torch.where(between > torch.pi / 2, -1, 1)
    cos, sin = between.cos(), between.sin()
    width = torch.where(across < down, across * sin, across + down * cos * sign)
    height = torch.where(across > down, down * sin, down + across * cos * sign)
    angle = torch.where(down > across, angle_down + torch.pi / 2, angle_across)
    cos, sin = angle.cos(), angle.sin()
    width_x, width_y = width / 2 * cos, width / 2 * sin
    height_x, height_y = height / 2 * sin, height / 2 * cos
    corners = (
        *(middle_x - width_x - height_x, middle_y - height_y + width_y),
        *(middle_x + width_x - height_x, middle_y - height_y - width_y),
        *(middle_x + width_x + height_x, middle_y + height_y - width_y),
        *(middle_x - width_x + height_x, middle_y + height_y + width_y),
    )
    return torch.stack(corners, dim=-1).reshape(parallelogram.shape).to(given)


def are_valid(
    boxes: Tensor, format: str, canvas: Canvas, min_size: float, min_area: float
) -> Tensor:
    """Which boxes are large enough and lie within the image."""
    corners = convert(boxes, format, corner_format(format))
    height, width = canvas
    if format in ROTATED:
        # torchvision takes these numbers for the second side.
        across = corners[..., 0] - corners[..., 2], corners[..., 1] - corners[..., 3]
        down = corners[..., 3] - corners[..., 5], corners[..., 4] - corners[..., 6]
        widths, heights = (torch.sqrt(x.pow(2) + y.pow(2)) for x, y in (across, down))
    else:
        widths, heights = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    valid = (widths >= min_size) & (heights >= min_size) & (widths * heights >= min_area)
    valid &= (corners >= 0).all(dim=-1)
    return (
        valid & (corners[:, 0::2] <= width).all(dim=-1) & (corners[:, 1::2] <= height).all(dim=-1)
    )
