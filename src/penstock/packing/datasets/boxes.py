"""Boxes as data sets write them, turned into left, top, right, bottom in pixels.

Boxes are never clipped or repaired: a box beyond its image is kept and counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.packing.datasets.layout_source import Findings

Boxes = npt.NDArray[np.float32]
NO_BOXES: Boxes = np.zeros((0, 4), np.float32)
OUTSIDE = "boxes reach outside their image, and were kept"
EMPTY = "boxes have no area, and were kept"

# A normalised coordinate times a size, rounded to float32, may pass the border by this much.
BORDER_TOLERANCE_PX = 0.01


def boxes_from_rows(rows: Sequence[Sequence[float]], where: str) -> Boxes:
    """Return rows of left, top, right, bottom as an array."""
    if not rows:
        return NO_BOXES
    return _checked(_rows(rows, where), where)


def boxes_from_corner_and_size(rows: Sequence[Sequence[float]], where: str) -> Boxes:
    """Turn left, top, width, height (COCO) into corners.

    Added up in float32, as torchvision does: the last bit may differ from an exact sum.
    """
    if not rows:
        return NO_BOXES
    boxes = _checked(_rows(rows, where), where)
    with np.errstate(over="ignore"):
        boxes[:, 2:] += boxes[:, :2]
    return _checked(boxes, where)


def boxes_from_centres(rows: Sequence[Sequence[float]], size: Size, where: str) -> Boxes:
    """Turn normalised centre x, centre y, width, height (YOLO) into corners in pixels."""
    if not rows:
        return NO_BOXES
    centre, extent = np.split(_rows(rows, where), 2, axis=1)
    scale = np.array([size.width, size.height])
    corners = np.concatenate([centre - extent / 2, centre + extent / 2], axis=1)
    return _checked(corners * np.tile(scale, 2), where)


def boxes_from_fractions(rows: Sequence[Sequence[float]], size: Size, where: str) -> Boxes:
    """Turn normalised left, top, right, bottom into pixels."""
    if not len(rows):
        return NO_BOXES
    scale = np.array([size.width, size.height, size.width, size.height])
    return _checked(_rows(rows, where) * scale, where)


def note_odd_boxes(boxes: Boxes, size: Size | None, findings: Findings, where: str) -> None:
    """Count boxes that have no area, or reach outside the image if its size is known."""
    empty = int(np.count_nonzero((boxes[:, 2] <= boxes[:, 0]) | (boxes[:, 3] <= boxes[:, 1])))
    if empty:
        findings.add(EMPTY, where, empty)
    if size is None or not len(boxes):
        return
    limit = np.array([size.width, size.height], np.float64) + BORDER_TOLERANCE_PX
    beyond = (boxes[:, :2] < -BORDER_TOLERANCE_PX) | (boxes[:, 2:] > limit)
    outside = int(np.count_nonzero(beyond.any(axis=1)))
    if outside:
        findings.add(OUTSIDE, where, outside)


def _rows(rows: Sequence[Sequence[float]], where: str) -> npt.NDArray[np.float64]:
    try:
        return np.array(rows, np.float64).reshape(-1, 4)
    except (ValueError, TypeError, OverflowError) as error:
        raise SourceError(f"{where}: boxes of four numbers each are needed ({error}).") from error


def _checked(boxes: npt.NDArray[np.floating], where: str) -> Boxes:
    with np.errstate(over="ignore"):
        result = boxes.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(result).all(axis=1))
    if len(wrong):
        raise SourceError(
            f"{where}: box {wrong[0]:,} is {boxes[wrong[0]].tolist()}; finite numbers are needed."
        )
    return result
