"""NumPy alone, but for decoding: every step spelled out on whole arrays.

Resizing takes Pillow's weights in float32 and rounds once, where Pillow rounds twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import Effect, PadMode
from penstock.geometry import Floats, Ints, Size
from penstock.reference.effects import Parameters, unpack_colour
from penstock.reference.libraries.library import (
    LEVEL_TABLES,
    ArrayLibrary,
    Pixels,
    blend_table,
    equalize_table,
    stretch_table,
)
from penstock.reference.libraries.pillow import decode_rgb
from penstock.sources import Source
from penstock.transforms.arguments import Borders, Colour

Values = npt.NDArray[np.float32]

_NEAREST, _BILINEAR = 0, 2  # Pillow's numbers


class NumpyLibrary(ArrayLibrary):
    """Blur, noise, elastic bending and erasing are those of the oracle, which is NumPy as well."""

    def open(self, source: Source, sample: int, pixel_limit: int) -> Pixels:
        """Decode by Pillow: NumPy cannot."""
        return decode_rgb(source, sample, pixel_limit)

    def pad(self, image: Pixels, borders: Borders, mode: PadMode, fill: Colour) -> Pixels:
        """Add borders: left, top, right, bottom."""
        left, top, right, bottom = borders
        if mode != PadMode.CONSTANT:
            numpy_mode: Any = mode.name.lower()
            return np.pad(image, ((top, bottom), (left, right), (0, 0)), numpy_mode)
        height, width = image.shape[:2]
        padded = np.empty((top + height + bottom, left + width + right, 3), dtype=np.uint8)
        padded[:] = fill
        padded[top : top + height, left : left + width] = image
        return padded

    def resize(self, image: Pixels, size: Size, filter: int) -> Pixels:
        """Resize with Pillow's filters in float32: down first, then across."""
        height, width = image.shape[:2]
        if filter == _NEAREST:
            rows, columns = _nearest(height, size.height), _nearest(width, size.width)
            return image[rows[:, None], columns]
        lines = _resize_down(image, size.height, filter)
        across = _resize_down(lines.swapaxes(0, 1), size.width, filter).swapaxes(0, 1)
        levels: Values = np.rint(across).clip(0, 255)
        return levels.astype(np.uint8)

    def apply_effect(
        self, image: Pixels, effect: Effect, parameters: Parameters, size: Size
    ) -> Pixels:
        """One effect, not one that mixes; the image has `size` afterwards."""
        if effect in _WARPS:
            return _WARPS[effect](image, size, **parameters)
        if effect in LEVEL_TABLES:
            return LEVEL_TABLES[effect](**parameters)[image]
        if effect in _COLOUR_EFFECTS:
            return _COLOUR_EFFECTS[effect](image, **parameters)
        return super().apply_effect(image, effect, parameters, size)


# Resizing


def _nearest(before: int, after: int) -> Ints:
    """Add places up as Pillow does: their rounding decides where one lies between two pixels."""
    steps = np.full(after, before / after)
    steps[0] /= 2
    places = np.cumsum(steps)
    return np.minimum(places.astype(np.int64), before - 1)


def _resize_down(pixels: Pixels | Values, after: int, filter: int) -> Values:
    """Resize along the first axis, one tap of all outputs at a time to need little memory."""
    before = len(pixels)
    resized = np.zeros((after, *pixels.shape[1:]), dtype=np.float32)
    for rows, weights in zip(*_resize_taps(before, after, filter), strict=True):
        resized += weights.astype(np.float32)[:, None, None] * pixels[rows]
    return resized


def _resize_taps(before: int, after: int, filter: int) -> tuple[Ints, Floats]:
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


def _resize_cubic(distance: Floats) -> Floats:
    """Keys' kernel with -0.5."""
    near = (1.5 * distance - 2.5) * distance**2 + 1
    far = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    return np.where(distance < 1, near, np.where(distance < 2, far, 0.0))


def _lanczos(distance: Floats) -> Floats:
    return np.where(distance < 3, np.sinc(distance) * np.sinc(distance / 3), 0.0)


_CURVES: dict[int, tuple[Callable[[Floats], Floats], float]] = {  # by Pillow's number: with reach
    1: (_lanczos, 3.0),
    2: (_triangle, 1.0),
    3: (_resize_cubic, 2.0),
    4: (_box, 0.5),
    5: (_hamming, 1.0),
}


# Warps: places, taps around them, weights


def _warp_affine(
    pixels: Pixels,
    size: Size,
    matrix: Sequence[float],
    filter: float,
    fill: float,
    **planned: object,
) -> Pixels:
    """`matrix` leads from places in the result to places in `pixels`, as Image.transform's."""
    del planned  # what only plans have
    a, b, c, d, e, f = matrix
    x, y = _centres(size)
    return _sample(pixels, a * x + b * y + c, d * x + e * y + f, filter, fill)


def _warp_perspective(
    pixels: Pixels, size: Size, matrix: Sequence[float], filter: float, fill: float, frame: object
) -> Pixels:
    """The same with the eight numbers of a perspective."""
    del frame
    a, b, c, d, e, f, g, h = matrix
    x, y = _centres(size)
    depth = g * x + h * y + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        source_x, source_y = (a * x + b * y + c) / depth, (d * x + e * y + f) / depth
    return _sample(pixels, source_x, source_y, filter, fill)


def _centres(size: Size) -> tuple[Floats, Floats]:
    x = np.arange(size.width, dtype=np.float64) + 0.5
    y = np.arange(size.height, dtype=np.float64) + 0.5
    return x, y[:, None]


def _sample(pixels: Pixels, x: Floats, y: Floats, filter: float, fill: float) -> Pixels:
    """Edges are continued for taps, but a place outside takes the colour `fill`."""
    height, width = pixels.shape[:2]
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    x, y = x[inside], y[inside]
    warped = np.empty((*inside.shape, 3), dtype=np.uint8)
    warped[:] = unpack_colour(fill)
    sampled = np.zeros((len(x), 3))
    columns, rows = _warp_taps(x, width, filter), _warp_taps(y, height, filter)
    for row, row_weight in rows:
        for column, column_weight in columns:
            sampled += (row_weight * column_weight)[:, None] * pixels[row, column]
    warped[inside] = sampled.clip(0, 255).astype(np.uint8)
    return warped


def _warp_taps(place: Floats, length: int, filter: float) -> list[tuple[Ints, Floats]]:
    """The pixels around each place, and how much they count."""
    if filter == _NEAREST:
        return [(place.astype(np.int64), np.ones_like(place))]
    first = np.floor(place - 0.5)
    beyond = place - 0.5 - first
    if filter == _BILINEAR:
        weights = {0: 1 - beyond, 1: beyond}
    else:
        weights = {tap: _warp_cubic(np.abs(beyond - tap)) for tap in (-1, 0, 1, 2)}
    return [
        (np.clip(first.astype(np.int64) + tap, 0, length - 1), weight)
        for tap, weight in weights.items()
    ]


def _warp_cubic(distance: Floats) -> Floats:
    """Keys' kernel with -1: Pillow warps with another kernel than it resizes with."""
    near = (distance - 2) * distance**2 + 1
    far = ((-distance + 5) * distance - 8) * distance + 4
    return np.where(distance < 1, near, far)


# Colours: tables, blends and the colour circle


def _blend(start: Pixels, end: Pixels, factor: float) -> Pixels:
    """From `start` at factor 0 to `end` at 1, and beyond; fractions are cut off."""
    begin = start.astype(np.float32)
    values: npt.NDArray[np.float32] = begin + np.float32(factor) * (end - begin)
    return values.clip(0, 255).astype(np.uint8)


def _to_gray(pixels: Pixels) -> Pixels:
    """The brightness of each pixel, height x width x 1."""
    weighted = pixels.astype(np.int32) @ np.array([[19595], [38470], [7471]], dtype=np.int32)
    return ((weighted + 0x8000) >> 16).astype(np.uint8)


def _autocontrast(pixels: Pixels) -> Pixels:
    low, high = pixels.min(axis=(0, 1)).tolist(), pixels.max(axis=(0, 1)).tolist()
    return _look_up(pixels, [stretch_table(*ends) for ends in zip(low, high, strict=True)])


def _equalize(pixels: Pixels) -> Pixels:
    counts = [np.bincount(pixels[:, :, channel].ravel(), minlength=256) for channel in range(3)]
    return _look_up(pixels, [equalize_table(each) for each in counts])


def _look_up(pixels: Pixels, tables: list[Pixels]) -> Pixels:
    """A table for each channel."""
    return np.stack([table[pixels[:, :, c]] for c, table in enumerate(tables)], axis=2)


def _contrast(pixels: Pixels, factor: float, has_mean: float, mean: float) -> Pixels:
    if not has_mean:
        mean = _to_gray(pixels).mean()
    return blend_table(int(mean + 0.5), factor)[pixels]


def _sharpness(pixels: Pixels, factor: float) -> Pixels:
    """The outermost pixels have no neighbours on one side, and stay as they are."""
    height, width = pixels.shape[:2]
    if min(height, width) < 3:
        return pixels
    wide = pixels.astype(np.int32)
    total = 4 * wide[1:-1, 1:-1]
    for top in range(3):
        for left in range(3):
            total = total + wide[top : top + height - 2, left : left + width - 2]
    smooth = pixels.copy()
    smooth[1:-1, 1:-1] = (total / 13 + 0.5).astype(np.uint8)
    return _blend(smooth, pixels, factor)


def _hue(pixels: Pixels, factor: float) -> Pixels:
    """Hue and saturation are whole levels on the way, as in Pillow's HSV images."""
    hue, saturation, value = _to_hsv(pixels)
    turned = (hue + int(factor * 255)) & 255
    return _from_hsv(turned, saturation, value)


def _to_hsv(pixels: Pixels) -> tuple[Ints, Ints, Ints]:
    wide = pixels.astype(np.int64)
    red, green, blue = wide[:, :, 0], wide[:, :, 1], wide[:, :, 2]
    value = wide.max(axis=2)
    spread = value - wide.min(axis=2)
    safe = np.maximum(spread, 1)
    hue = np.where(
        value == red,
        (green - blue) / safe,
        np.where(value == green, 2 + (blue - red) / safe, 4 + (red - green) / safe),
    )
    hue_level = (hue / 6 % 1 * 255).astype(np.int64) * (spread > 0)
    return hue_level, spread * 255 // np.maximum(value, 1), value


def _from_hsv(hue: Ints, saturation: Ints, value: Ints) -> Pixels:
    sixths = hue * 6 / 255
    sector = np.floor(sixths).astype(np.int64)
    within = sixths - sector
    share: Floats = saturation / 255
    low, falling, rising = (
        np.floor(value * (1 - share * part) + 0.5).astype(np.int64)
        for part in (np.ones_like(within), within, 1 - within)
    )
    sector %= 6
    red = np.choose(sector, [value, falling, low, low, rising, value])
    green = np.choose(sector, [rising, value, value, falling, low, low])
    blue = np.choose(sector, [low, low, rising, value, value, falling])
    return np.stack([red, green, blue], axis=2).astype(np.uint8)


_COLOUR_EFFECTS: dict[Effect, Callable[..., Pixels]] = {
    Effect.CONTRAST: _contrast,
    Effect.SATURATION: lambda pixels, factor: _blend(_to_gray(pixels), pixels, factor),
    Effect.HUE: _hue,
    Effect.SHARPNESS: _sharpness,
    Effect.INVERT: lambda pixels: 255 - pixels,
    Effect.AUTOCONTRAST: _autocontrast,
    Effect.EQUALIZE: _equalize,
    Effect.GRAYSCALE: lambda pixels: np.repeat(_to_gray(pixels), 3, axis=2),
}
_WARPS: dict[Effect, Callable[..., Pixels]] = {
    Effect.AFFINE: _warp_affine,
    Effect.PERSPECTIVE: _warp_perspective,
}
