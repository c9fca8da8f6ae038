"""What values the pixels of a Pillow image have, by Pillow's ImageEnhance and ImageOps."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from penstock.errors import TransformError
from penstock.transforms.functional.arguments import (
    Padding,
    Sigma,
    require_gamma,
    require_gray_channels,
    require_hue,
    require_permutation,
)
from penstock.transforms.functional.pillow.conversions import (
    by_tensor,
    to_pil_image,
    with_channels,
)

_WITHOUT_HUE = {"L", "1", "I", "F"}


def rgb_to_grayscale(image: Image.Image, num_output_channels: int = 1) -> Image.Image:
    """Gray, in one channel or in three equal ones."""
    require_gray_channels(num_output_channels)
    gray = image.convert("L")
    return gray if num_output_channels == 1 else Image.merge("RGB", (gray, gray, gray))


def grayscale_to_rgb(image: Image.Image) -> Image.Image:
    """Three channels, whatever the image had."""
    return image.convert(mode="RGB")


def adjust_brightness(image: Image.Image, brightness_factor: float) -> Image.Image:
    """0 is black, 1 the image itself."""
    return ImageEnhance.Brightness(image).enhance(brightness_factor)


def adjust_contrast(image: Image.Image, contrast_factor: float) -> Image.Image:
    """0 is the image's mean, 1 the image itself."""
    return ImageEnhance.Contrast(image).enhance(contrast_factor)


def adjust_saturation(image: Image.Image, saturation_factor: float) -> Image.Image:
    """0 is gray, 1 the image itself."""
    return ImageEnhance.Color(image).enhance(saturation_factor)


def adjust_sharpness(image: Image.Image, sharpness_factor: float) -> Image.Image:
    """0 is smooth, 1 the image itself."""
    return ImageEnhance.Sharpness(image).enhance(sharpness_factor)


def adjust_hue(image: Image.Image, hue_factor: float) -> Image.Image:
    """Turn all colours by a part of the circle."""
    require_hue(hue_factor)
    if image.mode in _WITHOUT_HUE:
        return image
    hue, saturation, value = image.convert("HSV").split()
    turned = np.asarray(hue) + np.int32(hue_factor * 255).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert(image.mode)


def adjust_gamma(image: Image.Image, gamma: float, gain: float = 1) -> Image.Image:
    """Each level to the power of gamma, times gain."""
    require_gamma(gamma)
    return image.convert("RGB").point(gamma_table(gamma, gain) * 3).convert(image.mode)


def gamma_table(gamma: float, gain: float) -> list[int]:
    """What becomes of each level; it may lie beyond 255, where Pillow cuts it off."""
    return [int((255 + 1 - 1e-3) * gain * pow(level / 255.0, gamma)) for level in range(256)]


def invert(image: Image.Image) -> Image.Image:
    """White becomes black."""
    return ImageOps.invert(image)


def posterize(image: Image.Image, bits: int) -> Image.Image:
    """Keep the highest bits of each level."""
    return ImageOps.posterize(image, bits)


def solarize(image: Image.Image, threshold: float) -> Image.Image:
    """Invert the levels from `threshold` on."""
    return ImageOps.solarize(image, threshold)  # type: ignore[arg-type]  # fractions compare as well


def autocontrast(image: Image.Image) -> Image.Image:
    """Stretch the levels of each channel to the whole range."""
    return ImageOps.autocontrast(image)


def equalize(image: Image.Image) -> Image.Image:
    """Make all levels equally frequent."""
    return ImageOps.equalize(image)


def permute_channels(image: Image.Image, permutation: Sequence[int]) -> Image.Image:
    """Channels in another order."""
    pixels = with_channels(image)
    require_permutation(permutation, pixels.shape[2])
    return to_pil_image(pixels[:, :, list(permutation)])


def gaussian_noise(
    image: Image.Image, mean: float = 0.0, sigma: float = 0.1, clip: bool = True
) -> Image.Image:
    """Refused, as in torchvision."""
    del image, mean, sigma, clip
    raise TransformError(
        "Gaussian Noise is not implemented for PIL images. Convert the image with to_image first."
    )


def jpeg(image: Image.Image, quality: int) -> Image.Image:
    """Written as a JPEG file and read again."""
    written = io.BytesIO()
    image.save(written, format="JPEG", quality=quality)
    return Image.open(written).copy()  # a copy is a plain image, not one of a file


def gaussian_blur(image: Image.Image, kernel_size: Padding, sigma: Sigma = None) -> Image.Image:
    """Blurred as torch does, in float32."""
    return by_tensor(image, "gaussian_blur_image", kernel_size=kernel_size, sigma=sigma)


def erase(
    image: Image.Image, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False
) -> Image.Image:
    """A rectangle replaced; the given image stays as it is."""
    return by_tensor(image, "erase_image", i=i, j=j, h=h, w=w, v=v, inplace=inplace)
