"""Boxes cut off at the borders of the image."""

from __future__ import annotations

import torch
from torch import Tensor

from penstock.transforms.functional.arguments import Canvas
from penstock.transforms.functional.box_format import ROTATED
from penstock.transforms.functional.tensors.box_formats import convert


def clamp(boxes: Tensor, format: str, canvas: Canvas, clamping_mode: str | None) -> Tensor:
    """A copy of the boxes within the image, or of the boxes as they are if the mode is None."""
    if clamping_mode is None:
        return boxes.clone()
    if format in ROTATED:
        return _clamp_rotated(boxes, format, canvas, is_hard=clamping_mode == "hard")
    owned = boxes.clone() if boxes.is_floating_point() else boxes.float()
    corners = convert(owned, format, "XYXY", inplace=True)
    corners[..., 0::2].clamp_(min=0, max=canvas[1])
    corners[..., 1::2].clamp_(min=0, max=canvas[0])
    return convert(corners, "XYXY", format, inplace=True).to(boxes.dtype)


def _clamp_rotated(boxes: Tensor, format: str, canvas: Canvas, *, is_hard: bool) -> Tensor:
    """Cut at the left border, turn image and boxes by a quarter, and so on four times."""
    corners = convert(boxes.clone(), format, "XYXYXYXY", inplace=True).reshape(-1, 8)
    before = corners.clone()
    for _ in range(4):
        order = _leftmost_first(corners)
        before = before.gather(1, order)
        cut = _cut_left(corners.gather(1, order), before, canvas, is_hard=is_hard)
        # torchvision applies the order again, which brings only some boxes back to their own.
        corners = _quarter_turn(cut.gather(1, order), canvas)
        before = _quarter_turn(before.gather(1, order), canvas)
        canvas = canvas[1], canvas[0]
    return convert(corners, "XYXYXYXY", format, inplace=True).reshape(boxes.shape)


def _quarter_turn(corners: Tensor, canvas: Canvas) -> Tensor:
    turned = torch.empty_like(corners)
    turned[:, ::2] = corners[:, 1::2]
    turned[:, 1::2] = canvas[1] - corners[:, ::2]
    return turned


def _leftmost_first(corners: Tensor) -> Tensor:
    """Where the numbers of each box come from if its leftmost, then highest, corner is first."""
    x, y = corners[..., 0::2], corners[..., 1::2]
    highest = y.abs().amax(dim=1, keepdim=True)
    widest = x.abs().amax(dim=1, keepdim=True)
    first = (y / highest + (x / widest) * 100).min(dim=1)[1]
    order = torch.ones_like(corners)
    order[..., 0] = first.mul(2)
    return order.cumsum_(1).remainder_(8).to(torch.int64)


def _lines(corners: Tensor) -> tuple[Tensor, Tensor]:
    """The four sides of each box as y = slope * x + height."""
    x, y = corners[..., ::2], corners[..., 1::2]
    slopes = y.diff(append=y[..., 0:1]) / x.diff(append=x[..., 0:1])
    return slopes, y - slopes * x


def _crossings(slopes: Tensor, heights: Tensor) -> Tensor:
    """Where each side meets the one before it."""
    x = heights.diff(prepend=heights[..., 3:4]).neg() / slopes.diff(prepend=slopes[..., 3:4])
    y = slopes * x + heights
    return torch.stack((x, y), dim=-1).view(-1, 8)


def _cut_left(corners: Tensor, before: Tensor, canvas: Canvas, *, is_hard: bool) -> Tensor:
    """Boxes whose first corner is the leftmost one, cut at x = 0 without changing their angle."""
    slopes, heights = _lines(corners)
    moved = _crossings(slopes, _clamp_heights(slopes, heights, before, canvas, is_hard=is_hard))
    pushed = corners.clone()
    pushed[..., 0].clamp_(0)
    pushed[..., 6].clamp_(0)
    x1, y1, x2, y2, x3, y3, x4, y4 = corners.unbind(-1)
    is_cut = (x1 < 0) & ~moved.isnan().any(-1)
    is_level = y1.isclose(y2) | y3.isclose(y4)
    is_gone = (x1 <= 0) & (x2 <= 0) & (x3 <= 0) & (x4 <= 0)
    is_gone = is_gone | y1.isclose(y4) | y2.isclose(y3) | (is_level & x1.isclose(x2))
    cut = torch.where(is_cut.unsqueeze(1), moved, corners)
    cut = torch.where(is_level.unsqueeze(1), pushed, cut)
    return torch.where(is_gone.unsqueeze(1), torch.zeros_like(cut), cut)


def _clamp_heights(
    slopes: Tensor, heights: Tensor, before: Tensor, canvas: Canvas, *, is_hard: bool
) -> Tensor:
    """Where the sides of cut boxes meet the left border.

    Softly, a box is the smallest of its angle around what is left of it; hard, the largest within.
    Neither is larger than the box was before.
    """
    image_height, image_width = canvas
    a1, a2, a3, a4 = slopes.unbind(-1)
    b1, b2, b3, b4 = heights.unbind(-1)
    least1, least2, most1, most2 = _lines(before)[1].unbind(-1)
    b1, b4 = (
        b2.clamp(b1, b3).clamp(0, image_height),
        b3.clamp(b2, b4).clamp(0, image_height),
    )
    if is_hard:
        b1 = b4 = (b1 + b4) / 2
        lower = [
            b1 * a2 / a1,  # at the upper border
            b3 * a2 / a3,
            (a1 - a2) * image_width + b1,  # at the right one
            (a3 - a2) * image_width + b3,
        ]
        b2 = torch.stack(lower, dim=1).max(dim=1)[0].clamp(max=b2)
        upper = [
            image_height * (1 - a3 / a4) + b4 * a3 / a4,  # at the lower border
            image_height * (1 - a3 / a2) + b2 * a3 / a2,
            (a2 - a3) * image_width + b2,  # at the right one
            (a4 - a3) * image_width + b4,
        ]
        b3 = torch.stack(upper, dim=1).min(dim=1)[0].clamp(min=b3)
    b1 = b1.clamp(least1, most1)
    b4 = (b1 if is_hard else b4).clamp(least2, most2)  # hard, the two are one
    b1 = b4 if is_hard else b1
    return torch.stack((b1, b2.clamp(least2, most2), b3.clamp(least1, most1), b4), dim=-1)
