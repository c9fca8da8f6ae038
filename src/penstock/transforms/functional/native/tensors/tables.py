"""Tensors of bytes: those effects of the core that give the bits of torchvision's tensors too.

Many do not, since torchvision computes otherwise on tensors than Pillow does; those are left to
the kernels in `tensors`. But what is done to each value on its own can be done to 256 of them, and
then looked up. Here a function returns None for what is not for the core.
"""

from __future__ import annotations

from functools import cache

import torch

from penstock._core import Effect, Element, Format, Pixels, copy_one, effect_one
from penstock.transforms.functional.native.tensors.tried import is_plain

_CHANNELS = frozenset({1, 3})


def pixels_of(image: torch.Tensor, element: Element = Element.UINT8) -> Pixels | None:
    """The memory of an image (channels, height, width), planes apart or pixels side by side."""
    if image.ndim != 3 or image.shape[0] not in _CHANNELS or image.device.type != "cpu":
        return None
    channels, height, width = image.shape
    if not (height and width):
        return None
    strides = image.stride()
    if strides == (height * width, width, 1):
        is_interleaved = False
    elif strides == (1, channels * width, channels):
        is_interleaved = True
    else:
        return None
    address = image.data_ptr()
    return Pixels.at(address, height, width, channels, is_interleaved, element, image)


def _has_bytes(image: torch.Tensor) -> bool:
    """Whether there is memory with bytes in it."""
    return image.dtype is torch.uint8 and is_plain(image)


def run_effect(image: torch.Tensor, effect: Effect, *numbers: float) -> torch.Tensor | None:
    """The image after one effect, in the same layout."""
    if not _has_bytes(image):
        return None
    source = pixels_of(image)
    if source is None:
        return None
    out = torch.empty_like(image)
    room = pixels_of(out)
    if room is None:
        return None
    effect_one(room, source, effect, numbers)
    return out


def as_fractions(image: torch.Tensor) -> torch.Tensor | None:
    """Bytes as float32 from 0 to 1, by the multiplication that torchvision does."""
    if not _has_bytes(image):
        return None
    source = pixels_of(image)
    if source is None:
        return None
    out = torch.empty_like(image, dtype=torch.float32)
    room = pixels_of(out, Element.FLOAT32)
    if room is None:
        return None
    copy_one(room, source, 0, 0, False, False, _fractions())
    return out


@cache
def _fractions() -> Format:
    nothing, one = [0.0] * 3, [1.0] * 3
    return Format(Element.FLOAT32, "chw", 1 / 255, nothing, one)
