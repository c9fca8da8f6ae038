"""Tensors blurred and sharpened: each pixel from those around it."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import conv2d
from torch.nn.functional import pad as pad_tensor

from penstock._core import Effect
from penstock.errors import TransformError, TransformTypeError
from penstock.transforms.functional.arguments import (
    Padding,
    Sigma,
    read_blur,
    require_channels,
)
from penstock.transforms.functional.native.blur import blur_numbers
from penstock.transforms.functional.native.tensors.tables import run_effect
from penstock.transforms.functional.native.tensors.tried import Tried, is_plain
from penstock.transforms.functional.native.tensors.values import convolve
from penstock.transforms.functional.tensors.rename import renamed
from penstock.transforms.functional.tensors.values import most_of


def gaussian_blur_image(image: Tensor, kernel_size: Padding, sigma: Sigma = None) -> Tensor:
    """Blur; `kernel_size` and `sigma` are one number, or (across, down)."""
    read_blur(kernel_size, sigma)
    if image.numel() == 0:
        return image
    require_channels(image.shape, "gaussian_blur")
    if image.dtype == torch.uint8 and image.ndim == 3:
        numbers = blur_numbers((image.shape[1], image.shape[2]), kernel_size, sigma)
        native = None if numbers is None else run_effect(image, Effect.GAUSSIAN_BLUR, *numbers)
        if native is not None:
            return native
    return blur_by_torch(image, kernel_size, sigma)


def blur_by_torch(image: Tensor, kernel_size: Padding, sigma: Sigma = None) -> Tensor:
    """The same by torch alone."""
    (across, down), sigmas = read_blur(kernel_size, sigma)
    shape, given = image.shape, image.dtype
    dtype = given if given.is_floating_point else torch.float32
    is_usual = dtype == torch.float32 and is_plain(image)
    kernel = (_kept_kernel if is_usual else _kernel)((across, down), sigmas, dtype, image.device)
    source = _as_images(image).to(dtype)
    borders = [across // 2, across // 2, down // 2, down // 2]
    padded = pad_tensor(source, borders, mode="reflect")
    output = _convolve(padded, kernel).reshape(shape)
    return output if given.is_floating_point else output.round_().to(given)


def _as_images(image: Tensor) -> Tensor:
    """(images, channels, height, width), in the layout that torch's sums depend on."""
    if image.ndim == 4:
        return image
    return image.unsqueeze(0) if image.ndim == 3 else image.reshape(-1, *image.shape[-3:])


def _convolve_by_torch(image: Tensor, kernel: Tensor) -> Tensor:
    channels = image.shape[-3]
    return conv2d(image, kernel.expand(channels, 1, *kernel.shape), groups=channels)


def _tried_kernels() -> list[tuple[Tensor]]:
    generator = torch.Generator().manual_seed(0)
    sizes = ((3, 3), (5, 5), (3, 7))
    return [(torch.rand(sides, generator=generator, device="cpu"),) for sides in sizes]


_convolve = Tried(convolve, _convolve_by_torch, _tried_kernels())


def _kernel(
    sides: tuple[int, int], sigmas: tuple[float, float], dtype: torch.dtype, device: torch.device
) -> Tensor:
    down = _bell(sides[1], sigmas[1], dtype, device)
    return down.unsqueeze(-1) * _bell(sides[0], sigmas[0], dtype, device)


_kept_kernel = lru_cache(maxsize=256)(_kernel)  # sigmas that are not drawn come again


def _bell(side: int, sigma: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Weights that add up to 1."""
    reach = (side - 1) / (2.0 * math.sqrt(2.0))
    places = torch.linspace(-reach, reach, steps=side, dtype=dtype, device=device)
    return torch.softmax(places.div(sigma).pow(2).neg(), dim=0)


def adjust_sharpness_image(image: Tensor, sharpness_factor: float) -> Tensor:
    """0 is smooth, 1 the image itself; the outermost pixels stay."""
    channels, height, width = image.shape[-3:]
    if channels not in {1, 3}:
        raise TransformTypeError(
            f"Input image tensor can have 1 or 3 channels, but found {channels}"
        )
    if sharpness_factor < 0:
        raise TransformError(f"sharpness_factor ({sharpness_factor}) is not non-negative.")
    if image.numel() == 0 or height <= 2 or width <= 2:
        return image
    given = image.dtype
    dtype = given if given.is_floating_point else torch.float32
    output = _as_images(image).to(dtype=dtype, copy=True)
    # Sums of whole numbers over 13 are never halfway between two: any way of rounding is right.
    native = run_effect(image, Effect.SHARPNESS, 0.0)
    if native is not None:
        smooth = native[..., 1:-1, 1:-1].to(dtype).unsqueeze(0)
    else:
        smooth = _convolve(output, _smoothing(dtype, image.device))
        smooth = smooth if given.is_floating_point else smooth.round_()
    inner = output[..., 1:-1, 1:-1]
    inner.add_(smooth.sub_(inner), alpha=1.0 - sharpness_factor)
    return output.clamp_(0, most_of(given)).to(given).reshape(image.shape)


def _smoothing(dtype: torch.dtype, device: torch.device) -> Tensor:
    """Pillow's smoothing: a pixel counts five times as much as each of its neighbours."""
    around, middle = 1.0 / 13.0, 5.0 / 13.0
    rows = [[around] * 3, [around, middle, around], [around] * 3]
    return torch.tensor(rows, dtype=dtype, device=device)


gaussian_blur_video = renamed(gaussian_blur_image, "video")
adjust_sharpness_video = renamed(adjust_sharpness_image, "video")
