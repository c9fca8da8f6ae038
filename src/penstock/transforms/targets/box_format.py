"""The ways to write a box down; inside, all boxes are corners: left, top, right, bottom."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import TransformError
from penstock.geometry import Floats

Pixels = npt.NDArray[np.float32]


class BoxFormat(Enum):
    """What the four numbers of a box are, in pixels; torchvision has the same names."""

    XYXY = "XYXY"  # left, top, right, bottom
    XYWH = "XYWH"  # left, top, width, height
    CXCYWH = "CXCYWH"  # middle across, middle down, width, height


def read_box_format(where: str, given: Any) -> BoxFormat:
    """One of ours, or torchvision's of the same name, or the name in any case."""
    name = getattr(given, "value", given)
    if not isinstance(name, str) or name.upper() not in BoxFormat.__members__:
        raise TransformError(f"{where}: format must be XYXY, XYWH or CXCYWH, got {given!r}.")
    return BoxFormat[name.upper()]


def to_corners(boxes: Floats, box_format: BoxFormat) -> Floats:
    """Boxes (n, 4) of some format as corners."""
    if box_format == BoxFormat.XYXY:
        return boxes
    place, extent = boxes[:, :2], boxes[:, 2:]
    near = place if box_format == BoxFormat.XYWH else place - extent / 2
    return np.concatenate([near, near + extent], axis=1)


def from_corners(corners: Pixels, box_format: BoxFormat) -> Pixels:
    """Corners (n, 4) as boxes of some format."""
    if box_format == BoxFormat.XYXY:
        return corners
    near, far = corners[:, :2], corners[:, 2:]
    place = near if box_format == BoxFormat.XYWH else (near + far) / 2
    return np.concatenate([place, far - near], axis=1)
