"""Boxes, masks and pixels as data sets write them, turned into what is packed.

Boxes become left, top, right, bottom in pixels. They are never clipped or repaired: a box beyond
its image is kept and counted.
Outlines and run lengths of COCO become the masks that pycocotools gives, to the pixel, since every
published figure was computed with those: an outline is traced on a grid five times finer, and a
pixel's column is crossed where the trace passes the column's centre.
Sizes of images come from their headers; arrays of pixels become lossless image files.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.limits import too_many_masks, too_many_pixels
from penstock.packing.datasets.files import check_limit
from penstock.packing.datasets.layout_source import Findings
from penstock.pillow_messages import heard
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused

Boxes = npt.NDArray[np.float32]
NO_BOXES: Boxes = np.zeros((0, 4), np.float32)
OUTSIDE = "boxes reach outside their image, and were kept"
EMPTY = "boxes have no area, and were kept"

ROTATED = "images carry an EXIF orientation; boxes and masks are for the pixels as stored"
UNREADABLE = "images cannot be read, and were handed on without their boxes"
EXIF_ORIENTATION = 0x0112

# A normalised coordinate times a size, rounded to float32, may pass the border by this much.
BORDER_TOLERANCE_PX = 0.01

Mask = npt.NDArray[np.bool_]
TRACE_SCALE = 5
LARGEST_COORDINATE_PX = 1_000_000


def boxes_from_rows(rows: Sequence[Sequence[float]], where: str) -> Boxes:
    """Return rows of left, top, right, bottom as an array."""
    return _checked(_rows(rows, where), where)


def boxes_from_corner_and_size(rows: Sequence[Sequence[float]], where: str) -> Boxes:
    """Turn left, top, width, height (COCO) into corners.

    Added up in float32, as torchvision does: the last bit may differ from an exact sum.
    """
    boxes = _checked(_rows(rows, where), where)
    with np.errstate(over="ignore"):
        boxes[:, 2:] += boxes[:, :2]
    return _checked(boxes, where)


def boxes_from_centres(rows: Sequence[Sequence[float]], size: Size, where: str) -> Boxes:
    """Turn normalised centre x, centre y, width, height (YOLO) into corners in pixels."""
    centre, extent = np.split(_rows(rows, where), 2, axis=1)
    scale = np.array([size.width, size.height])
    corners = np.concatenate([centre - extent / 2, centre + extent / 2], axis=1)
    return _checked(corners * np.tile(scale, 2), where)


def boxes_from_fractions(rows: Sequence[Sequence[float]], size: Size, where: str) -> Boxes:
    """Turn normalised left, top, right, bottom into pixels."""
    scale = np.array([size.width, size.height, size.width, size.height])
    return _checked(_rows(rows, where) * scale, where)


def note_odd_boxes(boxes: Boxes, size: Size | None, findings: Findings, where: str) -> None:
    """Count boxes that have no area, or reach outside the image if its size is known."""
    empty = int(np.count_nonzero((boxes[:, 2] <= boxes[:, 0]) | (boxes[:, 3] <= boxes[:, 1])))
    findings.add(EMPTY, where, empty)
    if size is None or not len(boxes):
        return
    limit = np.array([size.width, size.height], np.float64) + BORDER_TOLERANCE_PX
    beyond = (boxes[:, :2] < -BORDER_TOLERANCE_PX) | (boxes[:, 2:] > limit)
    findings.add(OUTSIDE, where, int(np.count_nonzero(beyond.any(axis=1))))


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


def image_size(data: bytes | os.PathLike[str], where: str, findings: Findings) -> Size | None:
    """Return the size an image's header gives, or None, counted, if it cannot be read.

    The packer meets the same broken image, and `on_error` decides what becomes of it.
    """
    try:
        with (
            io.BytesIO(data) if isinstance(data, bytes) else open_regular(data) as file,
            heard(),  # what Pillow says is for the packer to tell
            Image.open(file) as image,
        ):
            if image.getexif().get(EXIF_ORIENTATION, 1) != 1:
                findings.add(ROTATED, where)
            return Size(image.height, image.width)
    # Decoders for hostile files raise nearly anything: struct.error, IndexError, SyntaxError ...
    except Exception as error:  # noqa: BLE001
        raise_if_refused(error, where)
        findings.add(UNREADABLE, where)
        return None


def png_of_pixels(pixels: npt.NDArray[Any], where: str) -> bytes:
    """Return uint8 pixels, (height, width) gray or (height, width, 1, 3 or 4), as a PNG file."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    fits = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in {3, 4})
    if pixels.dtype != np.uint8 or not fits or 0 in pixels.shape:
        raise SourceError(
            f"{where}: pixels of {pixels.dtype} in shape {pixels.shape}. uint8 in the shape "
            "(height, width) or (height, width, 1, 3 or 4 channels) is needed."
        )
    problem = too_many_pixels(pixels.shape[0], pixels.shape[1], "an image of")
    if problem is not None:
        raise SourceError(f"{where}: {problem}.")
    file = io.BytesIO()
    # The packer reads it back at once, so that speed counts, not size.
    Image.fromarray(pixels).save(file, "PNG", compress_level=0)
    return file.getvalue()


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
        raise SourceError(
            f"{where}: an outline is empty, or its coordinates are far outside of any image."
        )
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
    check_limit("outline_steps", total, f"{where}: an outline of {total:,} steps")
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
    """Read COCO's text form: 5 bits per character, each run less the one two before it."""
    runs: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > 60:
            raise SourceError(f"{where}: {character!r} is not part of compressed run lengths.")
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
