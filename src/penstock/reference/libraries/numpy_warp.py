"""Affine and perspective warps on whole arrays: places, taps around them, weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from penstock.geometry import Floats, Ints, Size

Pixels = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]

_NEAREST, _BILINEAR = 0, 2


def warp_affine(
    pixels: Pixels, matrix: Sequence[float], size: Size, filter: int, fill: Colour
) -> Pixels:
    """`matrix` leads from places in the result to places in `pixels`, as Image.transform's."""
    a, b, c, d, e, f = matrix
    x, y = _centres(size)
    return _sample(pixels, a * x + b * y + c, d * x + e * y + f, filter, fill)


def warp_perspective(
    pixels: Pixels, numbers: Sequence[float], size: Size, filter: int, fill: Colour
) -> Pixels:
    """The same with the eight numbers of a perspective."""
    a, b, c, d, e, f, g, h = numbers
    x, y = _centres(size)
    depth = g * x + h * y + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        source_x, source_y = (a * x + b * y + c) / depth, (d * x + e * y + f) / depth
    return _sample(pixels, source_x, source_y, filter, fill)


def _centres(size: Size) -> tuple[Floats, Floats]:
    x = np.arange(size.width, dtype=np.float64) + 0.5
    y = np.arange(size.height, dtype=np.float64) + 0.5
    return x, y[:, None]


def _sample(pixels: Pixels, x: Floats, y: Floats, filter: int, fill: Colour) -> Pixels:
    """Edges are continued for taps, but a place outside takes the colour `fill`."""
    height, width = pixels.shape[:2]
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    x, y = x[inside], y[inside]
    warped = np.empty((*inside.shape, 3), dtype=np.uint8)
    warped[:] = fill
    sampled = np.zeros((len(x), 3))
    columns, rows = _taps(x, width, filter), _taps(y, height, filter)
    for row, row_weight in rows:
        for column, column_weight in columns:
            sampled += (row_weight * column_weight)[:, None] * pixels[row, column]
    warped[inside] = sampled.clip(0, 255).astype(np.uint8)
    return warped


def _taps(place: Floats, length: int, filter: int) -> list[tuple[Ints, Floats]]:
    """The pixels around each place, and how much they count."""
    if filter == _NEAREST:
        return [(place.astype(np.int64), np.ones_like(place))]
    first = np.floor(place - 0.5)
    beyond = place - 0.5 - first
    if filter == _BILINEAR:
        weights = {0: 1 - beyond, 1: beyond}
    else:
        weights = {tap: _cubic(np.abs(beyond - tap)) for tap in (-1, 0, 1, 2)}
    return [
        (np.clip(first.astype(np.int64) + tap, 0, length - 1), weight)
        for tap, weight in weights.items()
    ]


def _cubic(distance: Floats) -> Floats:
    """Keys' kernel with -1: Pillow warps with another one than it resizes with."""
    near = (distance - 2) * distance**2 + 1
    far = ((-distance + 5) * distance - 8) * distance + 4
    return np.where(distance < 1, near, far)
