"""Outlines and run lengths, as COCO writes them, drawn as the masks that pycocotools gives.

COCO's masks are what every published figure was computed with, so they are met to the pixel:
an outline is traced on a grid five times finer, and a pixel's column is crossed
where the trace passes the column's centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.limits import beyond, how_to_allow, too_many_masks

Mask = npt.NDArray[np.bool_]
TRACE_SCALE = 5
LARGEST_COORDINATE_PX = 1_000_000


def check_mask_area(count: int, size: Size, where: str) -> None:
    """Raise if `count` masks of a size have more pixels together than may be drawn."""
    problem = too_many_masks(count, size.height, size.width)
    if problem is not None:
        raise SourceError(f"{where}: {problem}.")


def draw_segmentation(segmentation: Any, size: Size, where: str) -> Mask:
    """Draw COCO's `segmentation`: a list of outlines, or run lengths, plain or compressed."""
    if isinstance(segmentation, dict):
        return _draw_runs(segmentation, size, where)
    if not isinstance(segmentation, list):
        raise SourceError(f"{where}: segmentation is a {type(segmentation).__name__}, not a list.")
    mask = _blank(size, where)
    for outline in segmentation:
        mask |= draw_polygon(outline, size, where)
    return mask


def draw_polygon(outline: Sequence[float], size: Size, where: str) -> Mask:
    """Draw one outline x0, y0, x1, y1, ... in pixels."""
    mask = _blank(size, where)
    try:
        corners = np.array(outline, np.float64).reshape(-1, 2)
    except (ValueError, TypeError) as error:
        raise SourceError(f"{where}: an outline must be x, y, x, y, ... ({error}).") from error
    if not len(corners) or not np.all(np.abs(corners) <= LARGEST_COORDINATE_PX):
        raise SourceError(f"{where}: an outline is empty, or its coordinates are out of reason.")
    column, row = _trace((TRACE_SCALE * corners + 0.5).astype(np.int64), where)
    crossing = np.flatnonzero(np.diff(column)) + 1
    fine_x = np.minimum(column[crossing], column[crossing - 1])
    fine_y = np.minimum(row[crossing], row[crossing - 1])
    # Of each column of fine steps, the middle one decides.
    middle = TRACE_SCALE // 2
    x, remainder = np.divmod(fine_x - middle, TRACE_SCALE)
    kept = (remainder == 0) & (x >= 0) & (x < size.width)
    y = np.clip(-((middle - fine_y[kept]) // TRACE_SCALE), 0, size.height)
    return _toggle(mask, np.sort(x[kept] * size.height + y), size)


def _trace(corners: npt.NDArray[np.int64], where: str) -> tuple[npt.NDArray[np.int64], ...]:
    """Return every fine step along the closed outline: columns and rows, in order."""
    start, end = corners, np.roll(corners, -1, axis=0)
    steps = np.abs(end - start)
    along_x = steps[:, 0] >= steps[:, 1]
    major = np.where(along_x, 0, 1)
    edges = np.arange(len(corners))
    # Drawn from its smaller end, an edge has the same pixels in both directions.
    flipped = start[edges, major] > end[edges, major]
    low = np.where(flipped[:, None], end, start)
    high = np.where(flipped[:, None], start, end)
    length = steps[edges, major]
    total = int(length.sum()) + len(length)
    if beyond("outline_steps", total):
        raise SourceError(
            f"{where}: an outline of {total:,} steps. {how_to_allow('outline_steps', total)}."
        )
    slope = (high - low)[edges, 1 - major] / np.maximum(length, 1)
    edge = np.repeat(edges, length + 1)
    step = np.arange(len(edge)) - np.repeat(np.cumsum(length + 1) - (length + 1), length + 1)
    step = np.where(flipped[edge], length[edge] - step, step)
    on_major = low[edge, major[edge]] + step
    on_minor = (low[edge, 1 - major[edge]] + slope[edge] * step + 0.5).astype(np.int64)
    in_x = along_x[edge]
    return np.where(in_x, on_major, on_minor), np.where(in_x, on_minor, on_major)


def _blank(size: Size, where: str) -> Mask:
    check_mask_area(1, size, where)
    return np.zeros((size.height, size.width), np.bool_)


def _toggle(mask: Mask, positions: npt.NDArray[np.int64], size: Size) -> Mask:
    """Fill between odd and even positions, sorted, counted down the columns from the left."""
    if not len(positions):
        return mask
    first = int(positions[0]) // size.height
    last = min(int(positions[-1]) // size.height, size.width - 1)
    if first > last:
        return mask
    area = (last - first + 1) * size.height
    changes = np.bincount(positions - first * size.height, minlength=area)[:area]
    inside = np.cumsum(changes, dtype=np.int32) & 1
    mask[:, first : last + 1] = inside.reshape(-1, size.height).T
    if len(positions) % 2:
        mask[:, last + 1 :] = True
    return mask


def _draw_runs(segmentation: dict[str, Any], size: Size, where: str) -> Mask:
    counts, given = segmentation.get("counts"), segmentation.get("size")
    if given != [size.height, size.width]:
        raise SourceError(
            f"{where}: a mask of {given} for an image of {size}. They must agree (height, width)."
        )
    if isinstance(counts, str):
        counts = _decompress(counts, where)
    try:
        runs = np.array(counts, np.int64)
    except (ValueError, TypeError, OverflowError) as error:
        raise SourceError(f"{where}: run lengths must be integers ({error}).") from error
    pixels = size.height * size.width
    if runs.ndim != 1 or np.any(runs < 0) or np.any(runs > pixels) or int(runs.sum()) != pixels:
        raise SourceError(
            f"{where}: the mask's run lengths do not add up to the {pixels:,} pixels of {size}."
        )
    return _toggle(_blank(size, where), np.cumsum(runs)[:-1], size)


def _decompress(text: str, where: str) -> list[int]:
    """Read COCO's text form: 5 bits a character, each run less the one two before it."""
    runs: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > 60:
            raise SourceError(f"{where}: {character!r} is no part of compressed run lengths.")
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        if bits & 16:
            value -= 1 << shift
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
        value = shift = 0
    if shift:
        raise SourceError(f"{where}: compressed run lengths end in the middle of a number.")
    return runs
