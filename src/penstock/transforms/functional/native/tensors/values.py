"""Values of tensors, by the core in one pass: floats each by itself, and the colours of pixels.

Images are plain ones of bytes or float32 (see `tried`). A function returns None for those that it
does not take.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from penstock._core import (
    Element,
    ValueMap,
    convolve_values,
    gray_values,
    map_floats,
    saturate_values,
    stretch_values,
    turn_hue_values,
)

_WORTH_A_CALL = 1024  # values; with fewer, torch is as quick
_LISTS = frozenset({list, tuple})
_ELEMENTS = {torch.uint8: Element.UINT8, torch.float32: Element.FLOAT32}


def map_image(image: Tensor, map: ValueMap, *numbers: float) -> Tensor | None:  # noqa: A002  # as the core calls it
    """Floats, each changed by itself."""
    count = image.numel()
    if image.dtype is not torch.float32 or count < _WORTH_A_CALL:
        return None
    out = torch.empty_like(image)
    if out.stride() != image.stride():  # there are gaps between them, or some are the same
        return None
    map_floats(out.data_ptr(), image.data_ptr(), count, map, *numbers)
    return out


def scale(image: Tensor, factor: float) -> Tensor | None:
    """Times a factor, kept within 0 and 1."""
    return map_image(image, ValueMap.SCALE, factor)


def solarize(image: Tensor, threshold: float) -> Tensor | None:
    """Inverted from the threshold on."""
    return map_image(image, ValueMap.SOLARIZE, threshold)


def posterize(image: Tensor, levels: int) -> Tensor | None:
    """The lower end of its part, for each value."""
    return map_image(image, ValueMap.POSTERIZE, levels, 1.0 / levels)


def blend_level(image: Tensor, level: Tensor, ratio: float) -> Tensor | None:
    """Each value mixed with one level; of one image, with one such level."""
    if level.numel() != 1:
        return None
    return map_image(image, ValueMap.BLEND, ratio, level.item(), 1.0 - ratio)


def normalize(image: Tensor, means: Sequence[float], stds: Sequence[float]) -> Tensor | None:
    """A mean subtracted from each channel, and divided by its deviation."""
    if not all(
        type(numbers) in _LISTS and len(numbers) == image.shape[-3] for numbers in (means, stds)
    ):
        return None
    channels = image.shape[-3]
    size = image.shape[-1] * image.shape[-2]
    if image.dtype is not torch.float32 or image.numel() < _WORTH_A_CALL:
        return None
    if not image.is_contiguous():
        return None
    out = torch.empty_like(image)
    target, source = out.data_ptr(), image.data_ptr()
    for plane in range(image.numel() // size):
        offset, channel = 4 * plane * size, plane % channels
        map_floats(
            target + offset,
            source + offset,
            size,
            ValueMap.NORMALIZE,
            means[channel],
            stds[channel],
        )
    return out


def autocontrast(image: Tensor) -> Tensor | None:
    """Each channel stretched to the whole range; not if there are values that are no numbers."""
    if image.dtype is not torch.float32 or image.numel() < _WORTH_A_CALL:
        return None
    if not image.is_contiguous():
        return None
    out = torch.empty_like(image)
    size = image.shape[-1] * image.shape[-2]
    planes = image.numel() // size
    return out if stretch_values(out.data_ptr(), image.data_ptr(), planes, size) else None


def _colours_of(image: Tensor) -> tuple[int, int, bool] | None:
    """How many images, of how many pixels, and whether their colours lie side by side."""
    if image.ndim < 3 or image.shape[-3] != 3 or image.numel() < _WORTH_A_CALL:
        return None
    height, width = image.shape[-2:]
    pixels = height * width
    if image.is_contiguous():
        return image.numel() // (3 * pixels), pixels, False
    if image.ndim == 3 and image.stride() == (1, 3 * width, 3):
        return 1, pixels, True
    return None


def gray(image: Tensor, dtype: torch.dtype) -> Tensor | None:
    """Gray, in the image's own type or, of bytes in whole numbers, as floats."""
    colours = _colours_of(image)
    if colours is None:
        return None
    images, pixels, is_interleaved = colours
    shape = (*image.shape[:-3], 1, *image.shape[-2:])
    out = torch.empty(shape, dtype=dtype)
    written, element = _ELEMENTS[dtype], _ELEMENTS[image.dtype]
    target, source = out.data_ptr(), image.data_ptr()
    steps = pixels * out.element_size(), 3 * pixels * image.element_size()
    for number in range(images):
        gray_values(
            target + number * steps[0],
            written,
            source + number * steps[1],
            element,
            pixels,
            is_interleaved,
        )
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
    out = torch.empty(image.shape, dtype=image.dtype)  # torch puts planes apart here
    element = _ELEMENTS[image.dtype]
    step = 3 * pixels * image.element_size()
    target, source = out.data_ptr(), image.data_ptr()
    for at in range(0, images * step, step):
        turn_hue_values(target + at, source + at, element, pixels, is_interleaved, turn)
    return out


def convolve(image: Tensor, kernel: Tensor) -> Tensor | None:
    """Three channels, each summed up under a kernel (height, width); borders fall away.

    For other numbers of channels, torch has other orders of its sums.
    """
    down, across = kernel.shape
    if image.dtype is not torch.float32 or image.shape[-3] != 3 or not image.is_contiguous():
        return None
    if kernel.dtype is not torch.float32 or not kernel.is_contiguous():
        return None
    height, width = image.shape[-2:]
    if height < down or width < across:
        return None
    out = torch.empty(
        (*image.shape[:-2], height - down + 1, width - across + 1), dtype=torch.float32
    )
    convolve_values(
        out.data_ptr(),
        image.data_ptr(),
        image.numel() // (height * width),
        height,
        width,
        kernel.data_ptr(),
        down,
        across,
    )
    return out
