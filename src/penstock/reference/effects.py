"""The oracle of effects: each one on a Pillow image, by the calls torchvision makes of Pillow.

Where torchvision has no way through Pillow (blur, elastic, noise) the arithmetic is spelled out in
`reference_filters`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageEnhance, ImageOps

from penstock._core import Effect
from penstock.geometry import Size
from penstock.reference.filters import add_noise, bend, blur, normal_numbers

Numbers = list[float]
Pixels = npt.NDArray[np.uint8]


def apply_effect(image: Image.Image, effect: Effect, numbers: Numbers, size: Size) -> Image.Image:
    """One effect on one image, which has `size` afterwards; the mixing ones are in `Mix`."""
    if effect == Effect.NONE:
        return image
    if effect in _TRANSFORMS:
        return _warp(image, effect, numbers, size)
    if effect in ON_ARRAYS:
        return Image.fromarray(ON_ARRAYS[effect](np.asarray(image), numbers))
    return _ON_IMAGES[effect](image, numbers)


class Mix:
    """The three effects that add up images: what is remembered between them."""

    EFFECTS = (Effect.MIX_BEGIN, Effect.MIX_ADD, Effect.MIX_END)

    def __init__(self) -> None:
        self._remembered = np.zeros((1, 1, 3), dtype=np.uint8)
        self._sum = np.zeros(0, dtype=np.float32)

    def apply(self, pixels: Pixels, effect: Effect, weight: float) -> Pixels:
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
    Effect.AFFINE: (Image.Transform.AFFINE, 6),
    Effect.PERSPECTIVE: (Image.Transform.PERSPECTIVE, 8),
}


def _warp(image: Image.Image, effect: Effect, numbers: Numbers, size: Size) -> Image.Image:
    method, count = _TRANSFORMS[effect]
    return image.transform(
        (size.width, size.height),
        method,
        numbers[:count],
        Image.Resampling(int(numbers[count])),
        fillcolor=unpack_colour(numbers[count + 1]),
    )


def _turn_hue(image: Image.Image, numbers: Numbers) -> Image.Image:
    hue, saturation, value = image.convert("HSV").split()
    turned = np.asarray(hue) + np.int32(numbers[0] * 255).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert("RGB")


def _posterize(image: Image.Image, numbers: Numbers) -> Image.Image:
    """Pillow 13 refuses 0 bits, which older ones and torchvision's tensors take for black."""
    bits = int(numbers[0])
    return ImageOps.posterize(image, bits) if bits else image.point([0] * 768)


def _solarize_add(image: Image.Image, numbers: Numbers) -> Image.Image:
    added, threshold = int(numbers[0]), numbers[1]
    table = [min(255, value + added) if value < threshold else value for value in range(256)]
    return image.point(table * 3)


def _erase(pixels: Pixels, numbers: Numbers) -> Pixels:
    """Values are cut to whole numbers and come around at 256, as a tensor's would."""
    top, left, height, width = (int(number) for number in numbers[:4])
    values: npt.NDArray[Any] = np.array(numbers[4:7])
    if numbers[7]:
        noise = normal_numbers((numbers[8], numbers[9]), 3 * height * width)
        values = noise.reshape(3, height, width).transpose(1, 2, 0)
    erased: Pixels = pixels.copy()
    erased[top : top + height, left : left + width] = values.astype(np.int64) & 255
    return erased


_ON_IMAGES: dict[Effect, Callable[[Image.Image, Numbers], Image.Image]] = {
    Effect.BRIGHTNESS: lambda image, numbers: ImageEnhance.Brightness(image).enhance(numbers[0]),
    Effect.CONTRAST: lambda image, numbers: ImageEnhance.Contrast(image).enhance(numbers[0]),
    Effect.SATURATION: lambda image, numbers: ImageEnhance.Color(image).enhance(numbers[0]),
    Effect.HUE: _turn_hue,
    Effect.SHARPNESS: lambda image, numbers: ImageEnhance.Sharpness(image).enhance(numbers[0]),
    Effect.POSTERIZE: _posterize,
    Effect.SOLARIZE: lambda image, numbers: ImageOps.solarize(image, numbers[0]),  # type: ignore[arg-type]
    Effect.SOLARIZE_ADD: _solarize_add,
    Effect.INVERT: lambda image, _: ImageOps.invert(image),
    Effect.AUTOCONTRAST: lambda image, _: ImageOps.autocontrast(image),
    Effect.EQUALIZE: lambda image, _: ImageOps.equalize(image),
    Effect.GRAYSCALE: lambda image, _: image.convert("L").convert("RGB"),
}

ON_ARRAYS: dict[Effect, Callable[[Pixels, Numbers], Pixels]] = {
    Effect.PERMUTE_CHANNELS: lambda pixels, numbers: np.ascontiguousarray(
        pixels[:, :, [int(channel) for channel in numbers[:3]]]
    ),
    Effect.GAUSSIAN_BLUR: lambda pixels, numbers: blur(
        pixels,
        kernel=(int(numbers[0]), int(numbers[1])),
        sigma=(numbers[2], numbers[3]),
        weights=numbers[4:],
    ),
    Effect.GAUSSIAN_NOISE: lambda pixels, numbers: add_noise(
        pixels, numbers[0], numbers[1], clip=bool(numbers[2]), key=(numbers[3], numbers[4])
    ),
    Effect.ERASE: _erase,
    Effect.ELASTIC: lambda pixels, numbers: bend(
        pixels,
        alpha=(numbers[0], numbers[1]),
        sigma=(numbers[2], numbers[3]),
        filter=int(numbers[4]),
        fill=unpack_colour(numbers[5]),
        key=(numbers[6], numbers[7]),
    ),
}
