"""What torchvision does to the colours of tensors of bytes, operation by operation in float32.

torch's `add(other, alpha)` rounds once; here the product is exact in float64, and the sum is
rounded to float64 and to float32, which comes to the same but for very rare numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Singles = npt.NDArray[np.float32]

_WHITE = np.float32(255)
_LEVELS = np.float32(255.0 + 1.0 - 1e-3)  # torchvision's own: each level gets an equal share
_ONE, _NONE = np.float32(1), np.float32(0)


def scale_levels(pixels: Pixels, factor: float) -> Pixels:
    """Each level times a factor."""
    return _cut(_singles(pixels) * np.float32(factor))


def stretch_levels_from_mean(pixels: Pixels, factor: float) -> Pixels:
    """Each level mixed with the mean of all grays, whose sum must be exact in float32."""
    mean = np.float32(_grays(pixels).sum(dtype=np.int64)) / np.float32(pixels[..., 0].size)
    return _blend(pixels, mean, factor)


def saturate_levels(pixels: Pixels, factor: float) -> Pixels:
    """Each pixel mixed with its gray."""
    return _blend(pixels, _grays(pixels)[..., None], factor)


def turn_gray(pixels: Pixels) -> Pixels:
    """Three equal channels."""
    return np.repeat(_grays(pixels)[..., None].astype(np.uint8), 3, axis=-1)


def turn_hue(pixels: Pixels, factor: float) -> Pixels:
    """All colours turned by a part of the circle, by way of hue, saturation and value."""
    colours = _singles(pixels) * np.float32(1 / 255)
    value, least = colours.max(axis=-1), colours.min(axis=-1)
    is_gray = value == least
    span = np.where(is_gray, _ONE, value - least)
    saturation = (value - least) / np.where(is_gray, _ONE, value)
    red, green, blue = np.moveaxis((value[..., None] - colours) / span[..., None], -1, 0)
    is_red, is_green = colours[..., 0] == value, colours[..., 1] == value
    by_green, by_blue = red + np.float32(2) - blue, green + np.float32(4) - red
    sixths = np.where(is_red, blue - green, np.where(is_green, by_green, by_blue))
    whole = np.fmod(sixths * np.float32(1 / 6) + _ONE, _ONE) + np.float32(factor)
    place = np.mod(whole, _ONE) * np.float32(6)
    return _cut(_coloured(place, saturation, value) * _LEVELS)


def _coloured(place: Singles, saturation: Singles, value: Singles) -> Singles:
    """Colours of a hue that is counted in sixths of the circle."""
    sixth = np.floor(place)
    by_part, rest = saturation * (place - sixth), _ONE - saturation
    candidates = [
        value,
        np.clip(rest * value, _NONE, _ONE),
        np.clip((_ONE - by_part) * value, _NONE, _ONE),
        np.clip((by_part + rest) * value, _NONE, _ONE),
    ]
    number = sixth.astype(np.int64) % 6
    chosen = [np.choose(np.choose(number, row), candidates) for row in _CANDIDATES]
    return np.stack(chosen, axis=-1)


# For each sixth, which of the candidates is red, green and blue.
_CANDIDATES = ((0, 2, 1, 1, 3, 0), (3, 0, 0, 2, 1, 1), (1, 1, 3, 0, 0, 2))


def _singles(pixels: Pixels) -> Singles:
    return pixels.astype(np.float32)


def _fused(first: Any, second: Any, added: Any) -> Singles:
    """The sum of a product and `added`, rounded once."""
    product = np.asarray(first, dtype=np.float64) * np.float64(np.float32(second))
    return np.asarray(product + added, dtype=np.float32)


def _grays(pixels: Pixels) -> Singles:
    red, green, blue = np.moveaxis(_singles(pixels), -1, 0)
    gray = _fused(green, 0.587, red * np.float32(0.2989))
    return np.floor(_fused(blue, 0.114, gray))


def _blend(pixels: Pixels, other: Any, factor: float) -> Pixels:
    return _cut(_fused(other, 1.0 - factor, _singles(pixels) * np.float32(factor)))


def _cut(values: Singles) -> Pixels:
    return np.clip(values, _NONE, _WHITE).astype(np.uint8)
