"""What values pixels have: the effects of the core that Pillow has too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from penstock._core import Effect, gamma_anew, table_anew
from penstock.transforms.functional.arguments import (
    require_gamma,
    require_gray_channels,
    require_hue,
)
from penstock.transforms.functional.native.conversions import to_array, to_pillow
from penstock.transforms.functional.native.memory import (
    channels_of,
    image_of,
    instead_of,
    memory_of,
    run_effect,
)
from penstock.transforms.functional.pillow import colour as pillow
from penstock.transforms.functional.pillow.conversions import import_torch

# Beyond these, float arithmetic may go another way than Pillow's.
_LARGEST_FACTOR = 10_000.0


@instead_of(pillow.rgb_to_grayscale)
def rgb_to_grayscale(image: Any, num_output_channels: int = 1) -> Any:
    """Gray, in one channel or in three equal ones."""
    require_gray_channels(num_output_channels)
    if isinstance(image, np.ndarray) and image.ndim == 2:
        return None
    return run_effect(image, Effect.GRAYSCALE, channels=num_output_channels)


@instead_of(pillow.grayscale_to_rgb)
def grayscale_to_rgb(image: Any) -> Any:
    """Three channels, whatever the image had."""
    if not isinstance(image, np.ndarray):
        return image_of(image.im.copy(), image) if _is_plain_rgb(image) else None
    if image.shape[2:] == (3,):
        return image.copy()
    return np.repeat(image.reshape(*image.shape[:2], 1), 3, axis=2)


def _is_plain_rgb(image: Any) -> bool:
    return type(image) is Image.Image and image.mode == "RGB"


@instead_of(pillow.adjust_brightness)
def adjust_brightness(image: Any, brightness_factor: float) -> Any:
    """0 is black, 1 the image itself."""
    return _blend(image, Effect.BRIGHTNESS, brightness_factor)


@instead_of(pillow.adjust_contrast)
def adjust_contrast(image: Any, contrast_factor: float) -> Any:
    """0 is the image's mean, 1 the image itself."""
    return _blend(image, Effect.CONTRAST, contrast_factor)


@instead_of(pillow.adjust_saturation)
def adjust_saturation(image: Any, saturation_factor: float) -> Any:
    """0 is gray, 1 the image itself."""
    return _blend(image, Effect.SATURATION, saturation_factor)


@instead_of(pillow.adjust_sharpness)
def adjust_sharpness(image: Any, sharpness_factor: float) -> Any:
    """0 is smooth, 1 the image itself."""
    return _blend(image, Effect.SHARPNESS, sharpness_factor)


def _blend(image: Any, effect: Effect, factor: float) -> Any:
    if not 0 <= factor <= _LARGEST_FACTOR:
        return None
    return run_effect(image, effect, factor)


@instead_of(pillow.adjust_hue)
def adjust_hue(image: Any, hue_factor: float) -> Any:
    """Turn all colours by a part of the circle."""
    require_hue(hue_factor)
    return run_effect(image, Effect.HUE, hue_factor)


@instead_of(pillow.adjust_gamma)
def adjust_gamma(image: Any, gamma: float, gain: float = 1) -> Any:
    """Each level to the power of gamma, times gain."""
    require_gamma(gamma)
    if 0 <= gain <= 1:  # nothing is brighter than white
        return image_of(gamma_anew(memory_of(image), gamma, gain), image)
    table = pillow.gamma_table(gamma, gain)
    if not (min(table) >= 0 and max(table) <= 255):
        return None
    levels = bytes(table) * channels_of(image)
    return image_of(table_anew(memory_of(image), levels), image)


@instead_of(pillow.invert)
def invert(image: Any) -> Any:
    """White becomes black."""
    return run_effect(image, Effect.INVERT)


@instead_of(pillow.posterize)
def posterize(image: Any, bits: int) -> Any:
    """Keep the highest bits of each level."""
    if not (isinstance(bits, int) and 1 <= bits <= 8):
        return None
    return run_effect(image, Effect.POSTERIZE, bits)


@instead_of(pillow.solarize)
def solarize(image: Any, threshold: float) -> Any:
    """Invert the levels from `threshold` on."""
    if not abs(threshold) <= _LARGEST_FACTOR:
        return None
    return run_effect(image, Effect.SOLARIZE, threshold)


@instead_of(pillow.autocontrast)
def autocontrast(image: Any) -> Any:
    """Stretch the levels of each channel to the whole range."""
    return run_effect(image, Effect.AUTOCONTRAST)


@instead_of(pillow.equalize)
def equalize(image: Any) -> Any:
    """Make all levels equally frequent."""
    return run_effect(image, Effect.EQUALIZE)


@instead_of(pillow.permute_channels)
def permute_channels(image: Any, permutation: Sequence[int]) -> Any:
    """Channels in another order."""
    order = tuple(permutation)
    if channels_of(image) != 3 or sorted(order) != [0, 1, 2]:
        return None
    return run_effect(image, Effect.PERMUTE_CHANNELS, *order)


@instead_of(pillow.erase)
def erase(image: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """A rectangle of a copy replaced, by torch: it decides what becomes of fractions."""
    del inplace
    is_array = isinstance(image, np.ndarray)
    pixels = image.copy() if is_array else to_array(image)
    if pixels is None:
        return None
    torch = import_torch("erase")
    tensor = torch.from_numpy(pixels)
    planes = tensor.permute(2, 0, 1) if tensor.ndim == 3 else tensor[None]
    planes[..., i : i + h, j : j + w] = torch.from_numpy(v) if isinstance(v, np.ndarray) else v
    return pixels if is_array else to_pillow(pixels)
