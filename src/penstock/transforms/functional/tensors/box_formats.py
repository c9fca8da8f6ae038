"""Boxes of one format in another, on plain tensors (..., 4), (..., 5) or (..., 8).

Angles are degrees, counterclockwise on an image whose y goes down.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from penstock.errors import TransformError
from penstock.transforms.functional.box_format import ROTATED

# Where the four corners of a box (left, top, right, bottom) are among its numbers.
CORNERS = [[0, 1], [2, 1], [2, 3], [0, 3]]


def convert(boxes: Tensor, old: str, new: str, *, inplace: bool = False) -> Tensor:
    """Boxes of the format `old` as `new` ones; `inplace` may overwrite them."""
    if old == new:
        return boxes
    if (old in ROTATED) != (new in ROTATED):
        raise TransformError(
            "Cannot convert between rotated and unrotated bounding boxes. "
            f"Got {old} boxes, to be converted to {new}."
        )
    owned = boxes if inplace else boxes.clone()
    if (old, new) in _DIRECT:
        return _DIRECT[old, new](owned)
    if old in _TO_COMMON:
        owned = _TO_COMMON[old](owned)
    return _FROM_COMMON[new](owned) if new in _FROM_COMMON else owned


def _xywh_to_xyxy(boxes: Tensor) -> Tensor:
    boxes[..., 2:] += boxes[..., :2]
    return boxes


def _xyxy_to_xywh(boxes: Tensor) -> Tensor:
    boxes[..., 2:] -= boxes[..., :2]
    return boxes


def _xywh_to_cxcywh(boxes: Tensor) -> Tensor:
    boxes[..., :2].add_(boxes[..., 2:].div(2, rounding_mode=_rounding(boxes)))
    return boxes


def _xyxy_to_cxcywh(boxes: Tensor) -> Tensor:
    boxes[..., 2:].sub_(boxes[..., :2])
    boxes[..., :2].mul_(2).add_(boxes[..., 2:]).div_(2, rounding_mode=_rounding(boxes))
    return boxes


def _rounding(boxes: Tensor) -> str | None:
    return None if boxes.is_floating_point() else "floor"


def _cxcywh_to_xyxy(boxes: Tensor) -> Tensor:
    """Whole numbers are halved as fractions, and cut off at the end."""
    if boxes.is_floating_point():
        return _from_middle(boxes)
    return boxes.copy_(_from_middle(boxes.float()))


def _from_middle(boxes: Tensor) -> Tensor:
    boxes[..., :2].sub_(boxes[..., 2:] / 2)
    boxes[..., 2:].add_(boxes[..., :2])
    return boxes


def _cxcywh_to_xywh(boxes: Tensor) -> Tensor:
    if boxes.is_floating_point():
        boxes[..., :2].sub_(boxes[..., 2:] / 2)
        return boxes
    return _xyxy_to_xywh(_cxcywh_to_xyxy(boxes))  # so that it is the same by way of corners


def _sides(boxes: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Half the width and height of rotated boxes, and cosine and sine of their angle."""
    halves = boxes[..., 2:-1].div(-2, rounding_mode=_rounding(boxes)).abs_()
    cos, sin = cos_and_sin(boxes[..., 4])
    return halves[..., 0], halves[..., 1], cos, sin


def cos_and_sin(degrees: Tensor) -> tuple[Tensor, Tensor]:
    """Of angles in degrees."""
    radians = degrees.mul(torch.pi).div(180.0)
    return radians.cos(), radians.sin()


def _cxcywhr_to_xywhr(boxes: Tensor) -> Tensor:
    width, height, cos, sin = _sides(boxes)
    boxes[..., 0].sub_(width.mul(cos)).sub_(height.mul(sin))
    boxes[..., 1].add_(width.mul(sin)).sub_(height.mul(cos))
    return boxes


def _xywhr_to_cxcywhr(boxes: Tensor) -> Tensor:
    width, height, cos, sin = _sides(boxes)
    boxes[..., 0].add_(width.mul(cos)).add_(height.mul(sin))
    boxes[..., 1].sub_(width.mul(sin)).add_(height.mul(cos))
    return boxes


def _xywhr_to_corners(boxes: Tensor) -> Tensor:
    width, height = boxes[..., 2], boxes[..., 3]
    cos, sin = cos_and_sin(boxes[..., 4])
    corners = boxes[..., :2].tile((1, 4))
    across_x, across_y = width.mul(cos), width.mul(sin)
    down_x, down_y = height.mul(sin), height.mul(cos)
    corners[..., 2].add_(across_x)
    corners[..., 3].sub_(across_y)
    corners[..., 4].add_(across_x.add(down_x))
    corners[..., 5].sub_(across_y.sub(down_y))
    corners[..., 6].add_(down_x)
    corners[..., 7].add_(down_y)
    return corners


def _corners_to_xywhr(corners: Tensor) -> Tensor:
    given = corners.dtype
    if given not in {torch.float32, torch.float64}:
        corners = corners.to(torch.float32)  # squares would overflow
    x1, y1, x2, y2, x3, y3 = corners.unbind(-1)[:6]
    across, down = x2.sub(x1), y2.sub(y1)
    angle = torch.atan2(y1.sub(y2), across).div_(torch.pi).mul_(180.0)
    width = across.pow(2).add(down.pow(2)).sqrt()
    height = x3.sub(x2).pow(2).add(y3.sub(y2).pow(2)).sqrt()
    return torch.stack((x1, y1, width, height, angle), dim=-1).to(given)


# Upright boxes are converted by way of their corners, rotated ones by way of XYWHR.
_DIRECT: dict[tuple[str, str], Callable[[Tensor], Tensor]] = {
    ("XYWH", "CXCYWH"): _xywh_to_cxcywh,
    ("CXCYWH", "XYWH"): _cxcywh_to_xywh,
}
_TO_COMMON: dict[str, Callable[[Tensor], Tensor]] = {
    "XYWH": _xywh_to_xyxy,
    "CXCYWH": _cxcywh_to_xyxy,
    "CXCYWHR": _cxcywhr_to_xywhr,
    "XYXYXYXY": _corners_to_xywhr,
}
_FROM_COMMON: dict[str, Callable[[Tensor], Tensor]] = {
    "XYWH": _xyxy_to_xywh,
    "CXCYWH": _xyxy_to_cxcywh,
    "CXCYWHR": _xywhr_to_cxcywhr,
    "XYXYXYXY": _xywhr_to_corners,
}
