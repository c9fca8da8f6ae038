"""Colours on whole arrays: tables, blends and the colour circle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from penstock.geometry import Floats, Ints
from penstock.reference.libraries.level_tables import (
    blend_table,
    equalize_table,
    posterize_table,
    solarize_add_table,
    solarize_table,
    stretch_table,
)
from penstock.transforms.effects import Effect

Numbers = list[float]
Pixels = npt.NDArray[np.uint8]


def _blend(start: Pixels, end: Pixels, factor: float) -> Pixels:
    """`start` at factor 0, `end` at 1, beyond either for other factors; fractions are cut off."""
    begin = start.astype(np.float32)
    values: npt.NDArray[np.float32] = begin + np.float32(factor) * (end - begin)
    return values.clip(0, 255).astype(np.uint8)


def _to_gray(pixels: Pixels) -> Pixels:
    """The brightness of each pixel, height x width x 1."""
    weighted = pixels.astype(np.int32) @ np.array([[19595], [38470], [7471]], dtype=np.int32)
    return ((weighted + 0x8000) >> 16).astype(np.uint8)


def _autocontrast(pixels: Pixels, numbers: Numbers) -> Pixels:
    del numbers
    low, high = pixels.min(axis=(0, 1)).tolist(), pixels.max(axis=(0, 1)).tolist()
    return _look_up(pixels, [stretch_table(*ends) for ends in zip(low, high, strict=True)])


def _equalize(pixels: Pixels, numbers: Numbers) -> Pixels:
    del numbers
    counts = [np.bincount(pixels[:, :, channel].ravel(), minlength=256) for channel in range(3)]
    return _look_up(pixels, [equalize_table(each) for each in counts])


def _look_up(pixels: Pixels, tables: list[Pixels]) -> Pixels:
    """A table for each channel."""
    return np.stack([table[pixels[:, :, c]] for c, table in enumerate(tables)], axis=2)


def _contrast(pixels: Pixels, numbers: Numbers) -> Pixels:
    mean = int(_to_gray(pixels).mean() + 0.5)
    return blend_table(mean, numbers[0])[pixels]


def _sharpness(pixels: Pixels, numbers: Numbers) -> Pixels:
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
    return _blend(smooth, pixels, numbers[0])


def _hue(pixels: Pixels, numbers: Numbers) -> Pixels:
    """Hue and saturation are whole levels on the way, as in Pillow's HSV images."""
    hue, saturation, value = _to_hsv(pixels)
    turned = (hue + int(numbers[0] * 255)) & 255
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


COLOUR_EFFECTS: dict[Effect, Callable[[Pixels, Numbers], Pixels]] = {
    Effect.BRIGHTNESS: lambda pixels, numbers: blend_table(0, numbers[0])[pixels],
    Effect.CONTRAST: _contrast,
    Effect.SATURATION: lambda pixels, numbers: _blend(_to_gray(pixels), pixels, numbers[0]),
    Effect.HUE: _hue,
    Effect.SHARPNESS: _sharpness,
    Effect.POSTERIZE: lambda pixels, numbers: posterize_table(int(numbers[0]))[pixels],
    Effect.SOLARIZE: lambda pixels, numbers: solarize_table(numbers[0])[pixels],
    Effect.SOLARIZE_ADD: lambda pixels, numbers: solarize_add_table(int(numbers[0]), numbers[1])[
        pixels
    ],
    Effect.INVERT: lambda pixels, _: 255 - pixels,
    Effect.AUTOCONTRAST: _autocontrast,
    Effect.EQUALIZE: _equalize,
    Effect.GRAYSCALE: lambda pixels, _: np.repeat(_to_gray(pixels), 3, axis=2),
}
