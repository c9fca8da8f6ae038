"""What values pixels have, on every kind of image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from penstock.transforms.functional.arguments import Padding, Sigma
from penstock.transforms.functional.dispatch import Kernels
from penstock.transforms.functional.native import blur
from penstock.transforms.functional.native import colour as native
from penstock.transforms.functional.pillow import colour as pillow

T = TypeVar("T")

_rgb_to_grayscale = Kernels("rgb_to_grayscale", native.rgb_to_grayscale)
_grayscale_to_rgb = Kernels("grayscale_to_rgb", native.grayscale_to_rgb)
_adjust_brightness = Kernels("adjust_brightness", native.adjust_brightness)
_adjust_contrast = Kernels("adjust_contrast", native.adjust_contrast)
_adjust_saturation = Kernels("adjust_saturation", native.adjust_saturation)
_adjust_sharpness = Kernels("adjust_sharpness", native.adjust_sharpness)
_adjust_hue = Kernels("adjust_hue", native.adjust_hue)
_adjust_gamma = Kernels("adjust_gamma", native.adjust_gamma)
_posterize = Kernels("posterize", native.posterize)
_solarize = Kernels("solarize", native.solarize)
_invert = Kernels("invert", native.invert)
_autocontrast = Kernels("autocontrast", native.autocontrast)
_equalize = Kernels("equalize", native.equalize)
_permute_channels = Kernels("permute_channels", native.permute_channels)
_gaussian_blur = Kernels("gaussian_blur", blur.gaussian_blur)
_gaussian_noise = Kernels("gaussian_noise", pillow.gaussian_noise)
_erase = Kernels("erase", native.erase)
_jpeg = Kernels("jpeg", pillow.jpeg)


def rgb_to_grayscale(inpt: T, num_output_channels: int = 1) -> T:
    """Gray, in one channel or in three equal ones."""
    gray: T = _rgb_to_grayscale[type(inpt)](inpt, num_output_channels)
    return gray


def grayscale_to_rgb(inpt: T) -> T:
    """Three channels; those that an image has already stay."""
    coloured: T = _grayscale_to_rgb[type(inpt)](inpt)
    return coloured


def adjust_brightness(inpt: T, brightness_factor: float) -> T:
    """Brighter or darker: 0 is black, 1 the image itself."""
    adjusted: T = _adjust_brightness[type(inpt)](inpt, brightness_factor)
    return adjusted


def adjust_contrast(inpt: T, contrast_factor: float) -> T:
    """More or less contrast: 0 is the image's mean, 1 the image itself."""
    adjusted: T = _adjust_contrast[type(inpt)](inpt, contrast_factor)
    return adjusted


def adjust_saturation(inpt: T, saturation_factor: float) -> T:
    """More or less colour: 0 is gray, 1 the image itself."""
    adjusted: T = _adjust_saturation[type(inpt)](inpt, saturation_factor)
    return adjusted


def adjust_sharpness(inpt: T, sharpness_factor: float) -> T:
    """Sharper or smoother: 0 is smooth, 1 the image itself."""
    adjusted: T = _adjust_sharpness[type(inpt)](inpt, sharpness_factor)
    return adjusted


def adjust_hue(inpt: T, hue_factor: float) -> T:
    """Turn all colours by a part of the circle, from -0.5 to 0.5."""
    adjusted: T = _adjust_hue[type(inpt)](inpt, hue_factor)
    return adjusted


def adjust_gamma(inpt: T, gamma: float, gain: float = 1) -> T:
    """Each value, as a fraction of white, to the power of `gamma`, times `gain`."""
    adjusted: T = _adjust_gamma[type(inpt)](inpt, gamma, gain)
    return adjusted


def posterize(inpt: T, bits: int) -> T:
    """Keep the highest `bits` of each value."""
    posterized: T = _posterize[type(inpt)](inpt, bits)
    return posterized


def solarize(inpt: T, threshold: float) -> T:
    """Invert the values from `threshold` on."""
    solarized: T = _solarize[type(inpt)](inpt, threshold)
    return solarized


def invert(inpt: T) -> T:
    """White becomes black."""
    inverted: T = _invert[type(inpt)](inpt)
    return inverted


def autocontrast(inpt: T) -> T:
    """Stretch the values of each channel to the whole range."""
    stretched: T = _autocontrast[type(inpt)](inpt)
    return stretched


def equalize(inpt: T) -> T:
    """Make all levels equally frequent."""
    equalized: T = _equalize[type(inpt)](inpt)
    return equalized


def permute_channels(inpt: T, permutation: Sequence[int]) -> T:
    """Channels in another order: [2, 1, 0] makes BGR of RGB."""
    permuted: T = _permute_channels[type(inpt)](inpt, permutation)
    return permuted


def gaussian_blur(inpt: T, kernel_size: Padding, sigma: Sigma = None) -> T:
    """Blur; `kernel_size` and `sigma` are one number, or (across, down)."""
    blurred: T = _gaussian_blur[type(inpt)](inpt, kernel_size, sigma)
    return blurred


def gaussian_noise(inpt: T, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> T:
    """Add normal noise from torch's generator, in fractions of white; for tensors only."""
    noisy: T = _gaussian_noise[type(inpt)](inpt, mean, sigma, clip)
    return noisy


def erase(inpt: T, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> T:
    """Replace the rectangle `h` x `w` at row `i`, column `j` by `v`, a tensor that fits."""
    erased: T = _erase[type(inpt)](inpt, i, j, h, w, v, inplace)
    return erased


def jpeg(image: T, quality: int) -> T:
    """Write as a JPEG file of that quality, and read it again."""
    read: T = _jpeg[type(image)](image, quality)
    return read


to_grayscale = rgb_to_grayscale
