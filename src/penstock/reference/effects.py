"""The oracle of effects: each one on a Pillow image, by the Pillow calls that torchvision makes.

Where torchvision has no way through Pillow (blur, elastic, noise) the arithmetic is spelled out in
`penstock.reference.filters`. Each function takes the effect's parameters by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

from penstock._core import Effect
from penstock.errors import CoreError
from penstock.geometry import Floats, Size
from penstock.reference import tensor_effects
from penstock.reference.filters import (
    add_noise,
    blur,
    displace,
    elastic_displacements,
    normal_numbers,
)

Parameters = dict[str, Any]  # of an effect, by name: see penstock.transforms.effects
Pixels = npt.NDArray[np.uint8]


def apply_effect(
    image: Image.Image, effect: Effect, parameters: Parameters, size: Size
) -> Image.Image:
    """One effect on one image, which has `size` afterwards; the mixing ones are in `Mix`."""
    if effect == Effect.NONE:
        return image
    if effect in _TRANSFORMS:
        return _warp(image, _TRANSFORMS[effect], size, **parameters)
    if effect in ON_ARRAYS:
        return Image.fromarray(ON_ARRAYS[effect](np.asarray(image), **parameters))
    if effect in _ON_IMAGES:
        return _ON_IMAGES[effect](image, **parameters)
    raise CoreError(f"{effect.name}: this effect has no reference. Add it to reference/effects.py.")


class Mix:
    """The three effects that add up images: what is remembered between them."""

    EFFECTS = (Effect.MIX_BEGIN, Effect.MIX_ADD, Effect.MIX_END)

    def __init__(self) -> None:
        self._remembered = np.zeros((1, 1, 3), dtype=np.uint8)
        self._sum = np.zeros(0, dtype=np.float32)

    def apply(self, pixels: Pixels, effect: Effect, weight: float = 0.0) -> Pixels:
        """The sum is float32; at the end its fractions are cut off."""
        if effect == Effect.MIX_END:
            return self._sum.astype(np.uint8)
        weighted = pixels.astype(np.float32) * np.float32(weight)
        if effect == Effect.MIX_BEGIN:
            self._remembered, self._sum = pixels, weighted
        else:
            self._sum += weighted
        return self._remembered


def unpack_colour(packed: float) -> tuple[int, int, int]:
    """Red, green and blue of a colour as effects carry it."""
    colour = int(packed)
    return colour & 255, colour >> 8 & 255, colour >> 16 & 255


_TRANSFORMS = {
    Effect.AFFINE: Image.Transform.AFFINE,
    Effect.PERSPECTIVE: Image.Transform.PERSPECTIVE,
}


def _warp(
    image: Image.Image,
    method: Image.Transform,
    size: Size,
    matrix: list[float],
    filter: float,
    fill: float,
    frame: list[float],
    rounded: float = 0.0,
) -> Image.Image:
    """Pillow's transform; with a frame, the window that it gives of the transform of the whole."""
    del rounded  # it lets the core be a little off, and obliges nobody
    out_top, out_left, out_height, out_width, in_top, in_left, in_height, in_width = map(int, frame)
    if not out_height:
        out_height, out_width = size.height, size.width
        in_height, in_width = image.height, image.width
    whole = Image.new(image.mode, (in_width, in_height))
    whole.paste(image, (in_left, in_top))
    warped = whole.transform(
        (out_width, out_height),
        method,
        matrix,
        Image.Resampling(int(filter)),
        fillcolor=unpack_colour(fill),
    )
    return warped.crop((out_left, out_top, out_left + size.width, out_top + size.height))


def _contrast(image: Image.Image, factor: float, has_mean: float, mean: float) -> Image.Image:
    """As ImageEnhance.Contrast; a mean that is given takes the place of the image's own."""
    if not has_mean:
        return ImageEnhance.Contrast(image).enhance(factor)
    level = int(mean + 0.5)
    return Image.blend(Image.new("RGB", image.size, (level, level, level)), image, factor)


def _turn_hue(image: Image.Image, factor: float) -> Image.Image:
    hue, saturation, value = image.convert("HSV").split()
    turned = np.asarray(hue) + np.int32(factor * 255).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert("RGB")


def _posterize(image: Image.Image, bits: float) -> Image.Image:
    """Pillow 13 refuses 0 bits, which older ones and torchvision's tensors take for black."""
    return ImageOps.posterize(image, int(bits)) if int(bits) else image.point([0] * 768)


def _box_blur(
    image: Image.Image, radius_across: float, radius_down: float, passes: float
) -> Image.Image:
    for radius in ((radius_across, 0.0), (0.0, radius_down)):
        for _ in range(int(passes)):
            image = image.filter(ImageFilter.BoxBlur(radius))
    return image


def _solarize_add(image: Image.Image, amount: float, threshold: float) -> Image.Image:
    table = [min(255, level + int(amount)) if level < threshold else level for level in range(256)]
    return image.point(table * 3)


def _permute(pixels: Pixels, order: list[float]) -> Pixels:
    return np.ascontiguousarray(pixels[:, :, [int(channel) for channel in order]])


def _blur(
    pixels: Pixels,
    kernel_width: float,
    kernel_height: float,
    sigma_across: float,
    sigma_down: float,
    weights: list[float],
) -> Pixels:
    kernel = int(kernel_width), int(kernel_height)
    return blur(pixels, kernel=kernel, sigma=(sigma_across, sigma_down), weights=weights)


def _noise(pixels: Pixels, mean: float, sigma: float, clip: float, key: list[float]) -> Pixels:
    return add_noise(pixels, mean, sigma, clip=bool(clip), key=(key[0], key[1]))


def erased_values(
    height: float, width: float, value: list[float], by_noise: float, key: list[float]
) -> npt.NDArray[Any]:
    """What ERASE writes into its rectangle, as (channels, height, width)."""
    shape = (3, int(height), int(width))
    if by_noise:
        return normal_numbers((key[0], key[1]), math.prod(shape)).reshape(shape)
    return np.broadcast_to(np.array(value)[:, None, None], shape)


def _erase(pixels: Pixels, top: float, left: float, **rest: Any) -> Pixels:
    """Values are cut to whole numbers and come around at 256, as a tensor's would."""
    values = erased_values(**rest).transpose(1, 2, 0)
    height, width = values.shape[:2]
    erased: Pixels = pixels.copy()
    region = slice(int(top), int(top) + height), slice(int(left), int(left) + width)
    erased[region] = values.astype(np.int64) & 255
    return erased


def _bend(pixels: Pixels, filter: float, fill: float, **rest: Any) -> Pixels:
    displacements = elastic_field(pixels.shape[:2], **rest)
    return displace(pixels, displacements, int(filter), unpack_colour(fill))


def elastic_field(
    size: tuple[int, ...],
    alpha_across: float,
    alpha_down: float,
    sigma_across: float,
    sigma_down: float,
    key: list[float],
) -> tuple[Floats, Floats]:
    """How far ELASTIC displaces each pixel of an image of `size`: across and down, in pixels."""
    alpha, sigma = (alpha_across, alpha_down), (sigma_across, sigma_down)
    return elastic_displacements(size, alpha, sigma, (key[0], key[1]))


_ON_IMAGES: dict[Effect, Callable[..., Image.Image]] = {
    Effect.BRIGHTNESS: lambda image, factor: ImageEnhance.Brightness(image).enhance(factor),
    Effect.CONTRAST: _contrast,
    Effect.SATURATION: lambda image, factor: ImageEnhance.Color(image).enhance(factor),
    Effect.HUE: _turn_hue,
    Effect.SHARPNESS: lambda image, factor: ImageEnhance.Sharpness(image).enhance(factor),
    Effect.POSTERIZE: _posterize,
    Effect.SOLARIZE: ImageOps.solarize,
    Effect.SOLARIZE_ADD: _solarize_add,
    Effect.INVERT: ImageOps.invert,
    Effect.AUTOCONTRAST: ImageOps.autocontrast,
    Effect.EQUALIZE: ImageOps.equalize,
    Effect.GRAYSCALE: lambda image: image.convert("L").convert("RGB"),
    Effect.BOX_BLUR: _box_blur,
}


def _turn_gray_as_opencv(pixels: Pixels) -> Pixels:
    """Whole weights that add up to 2^15, rounded to the nearest."""
    gray = (pixels @ np.array([9798, 19235, 3735]) + (1 << 14)) >> 15
    return np.repeat(gray[..., np.newaxis], 3, axis=-1).astype(np.uint8)


ON_ARRAYS: dict[Effect, Callable[..., Pixels]] = {
    Effect.PERMUTE_CHANNELS: _permute,
    Effect.GAUSSIAN_BLUR: _blur,
    Effect.GAUSSIAN_NOISE: _noise,
    Effect.ERASE: _erase,
    Effect.ELASTIC: _bend,
    Effect.TENSOR_BRIGHTNESS: tensor_effects.scale_levels,
    Effect.TENSOR_CONTRAST: tensor_effects.stretch_levels_from_mean,
    Effect.TENSOR_SATURATION: tensor_effects.saturate_levels,
    Effect.TENSOR_HUE: tensor_effects.turn_hue,
    Effect.TENSOR_GRAYSCALE: tensor_effects.turn_gray,
    Effect.OPENCV_GRAYSCALE: _turn_gray_as_opencv,
}
