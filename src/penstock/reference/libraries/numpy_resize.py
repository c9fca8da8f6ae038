"""Resizing with Pillow's filters: its weights in float32, rounded once, where Pillow rounds twice.

Down first, then across.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from penstock.geometry import Floats, Ints, Size

Pixels = npt.NDArray[np.uint8]
Values = npt.NDArray[np.float32]

_NEAREST = 0


def resize(pixels: Pixels, size: Size, filter: int) -> Pixels:
    """`pixels` in another size; `filter` is Pillow's number."""
    height, width = pixels.shape[:2]
    if filter == _NEAREST:
        rows, columns = _nearest(height, size.height), _nearest(width, size.width)
        return pixels[rows[:, None], columns]
    lines = _resize_down(pixels, size.height, filter)
    across = _resize_down(lines.swapaxes(0, 1), size.width, filter).swapaxes(0, 1)
    levels: Values = np.rint(across).clip(0, 255)
    return levels.astype(np.uint8)


def _nearest(before: int, after: int) -> Ints:
    """Places are added up as Pillow does: rounding decides where one lies between two pixels."""
    steps = np.full(after, before / after)
    steps[0] /= 2
    places = np.cumsum(steps)
    return np.minimum(places.astype(np.int64), before - 1)


def _resize_down(pixels: Pixels | Values, after: int, filter: int) -> Values:
    """Along the first axis; one tap of all outputs at a time, so that memory stays that of them."""
    before = len(pixels)
    resized = np.zeros((after, *pixels.shape[1:]), dtype=np.float32)
    for rows, weights in zip(*_taps(before, after, filter), strict=True):
        resized += weights.astype(np.float32)[:, None, None] * pixels[rows]
    return resized


def _taps(before: int, after: int, filter: int) -> tuple[Ints, Floats]:
    """For each tap and output: which input, and its weight; weights outside the image are 0."""
    curve, reach = _CURVES[filter]
    scale = before / after
    widening = max(scale, 1.0)
    centre = (np.arange(after) + 0.5) * scale
    first = np.floor(centre - reach * widening + 0.5).astype(np.int64)
    last = np.floor(centre + reach * widening + 0.5).astype(np.int64)
    inputs = first + np.arange(int((last - first).max()))[:, None]
    inside = (inputs >= 0) & (inputs < before) & (inputs < last)
    weights = curve(np.abs(inputs - centre + 0.5) / widening) * inside
    return np.clip(inputs, 0, before - 1), weights / weights.sum(axis=0)


def _box(distance: Floats) -> Floats:
    return np.where(distance <= 0.5, 1.0, 0.0)


def _triangle(distance: Floats) -> Floats:
    return np.maximum(1 - distance, 0)


def _hamming(distance: Floats) -> Floats:
    raised = 0.54 + 0.46 * np.cos(np.pi * distance)
    return np.where(distance < 1, np.sinc(distance) * raised, 0.0)


def _cubic(distance: Floats) -> Floats:
    """Keys' kernel with -0.5."""
    near = (1.5 * distance - 2.5) * distance**2 + 1
    far = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    return np.where(distance < 1, near, np.where(distance < 2, far, 0.0))


def _lanczos(distance: Floats) -> Floats:
    return np.where(distance < 3, np.sinc(distance) * np.sinc(distance / 3), 0.0)


_CURVES: dict[int, tuple[Callable[[Floats], Floats], float]] = {  # by Pillow's number: with reach
    1: (_lanczos, 3.0),
    2: (_triangle, 1.0),
    3: (_cubic, 2.0),
    4: (_box, 0.5),
    5: (_hamming, 1.0),
}
