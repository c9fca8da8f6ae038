"""Colours of pixels, by the core in one pass.

Images are plain ones of bytes or float32 (see `tried`). A function returns None for those that it
does not take.
"""

from __future__ import annotations

import torch
from torch import Tensor

from penstock._core import (
    Element,
    contrast_levels,
    gray_values,
    permute_values,
    saturate_values,
    turn_hue_values,
)
from penstock.transforms.functional.native.tensors.values import is_counted_in_float32

_ELEMENTS = {torch.uint8: Element.UINT8, torch.float32: Element.FLOAT32}


def _colours_of(image: Tensor) -> tuple[int, int, bool] | None:
    """How many images, of how many pixels, and whether their colours lie side by side."""
    shape = image.shape
    pixels = shape[-1] * shape[-2]
    if not image.numel():
        return None
    if image.is_contiguous():
        return image.numel() // (shape[-3] * pixels), pixels, False
    if image.ndim == 3 and image.stride() == (1, 3 * shape[-1], 3):
        return 1, pixels, True
    return None


def gray(image: Tensor, dtype: torch.dtype) -> Tensor | None:
    """Gray, in the image's own type or, of bytes in whole numbers, as floats."""
    colours = _colours_of(image) if image.ndim > 2 and image.shape[-3] == 3 else None
    if colours is None:
        return None
    images, pixels, is_interleaved = colours
    shape = list(image.shape)
    shape[-3] = 1
    out = image.new_empty(shape) if dtype is image.dtype else image.new_empty(shape, dtype=dtype)
    written, element = _ELEMENTS[dtype], _ELEMENTS[image.dtype]
    target, source = out.data_ptr(), image.data_ptr()
    for _ in range(images):
        gray_values(target, written, source, element, pixels, is_interleaved)
        target += pixels * out.element_size()
        source += 3 * pixels * image.element_size()
    return out


def saturate(image: Tensor, factor: float) -> Tensor | None:
    """Each pixel mixed with its gray."""
    colours = _colours_of(image)
    if colours is None:
        return None
    images, pixels, is_interleaved = colours
    out = torch.empty_like(image)
    element = _ELEMENTS[image.dtype]
    step = 3 * pixels * image.element_size()
    target, source = out.data_ptr(), image.data_ptr()
    for at in range(0, images * step, step):
        saturate_values(
            target + at, source + at, element, pixels, is_interleaved, factor, 1.0 - factor
        )
    return out


def turn_hue(image: Tensor, turn: float) -> Tensor | None:
    """All colours turned by a part of the circle."""
    colours = _colours_of(image)
    if colours is None:
        return None
    images, pixels, is_interleaved = colours
    # torch puts planes apart here.
    out = image.new_empty(image.shape) if is_interleaved else torch.empty_like(image)
    element = _ELEMENTS[image.dtype]
    step = 3 * pixels * image.element_size()
    target, source = out.data_ptr(), image.data_ptr()
    for at in range(0, images * step, step):
        turn_hue_values(target + at, source + at, element, pixels, is_interleaved, turn)
    return out


def adjust_contrast(image: Tensor, ratio: float) -> Tensor | None:
    """Bytes mixed with the mean of their gray, where that does not depend on who adds it up."""
    colours = _colours_of(image) if is_counted_in_float32(image) else None
    if colours is None:
        return None
    images, pixels, is_interleaved = colours
    out = torch.empty_like(image)
    channels = image.shape[-3]
    target, source = out.data_ptr(), image.data_ptr()
    for at in range(0, images * channels * pixels, channels * pixels):
        if not contrast_levels(
            target + at, source + at, pixels, channels, is_interleaved, ratio, 1.0 - ratio
        ):
            return None
    return out


def permute_channels(image: Tensor, order: list[int]) -> Tensor | None:
    """Planes in another order."""
    if not image.is_contiguous() or not image.numel():
        return None
    out = torch.empty_like(image)
    plane = image.shape[-1] * image.shape[-2]
    images = image.numel() // (plane * len(order))
    permute_values(out.data_ptr(), image.data_ptr(), images, plane * image.element_size(), order)
    return out
