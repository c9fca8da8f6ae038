"""Tensors of bytes: those effects of the core that give the bits of torchvision's tensors too.

Many do not, since torchvision computes otherwise on tensors than Pillow does; those are left to
the kernels in `tensors`. Here a function returns None for what is not for the core.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from penstock._core import Effect, Element, Format, Pixels, copy_one, effect_one
from penstock.transforms.functional.native.tensors.tried import is_plain

_CHANNELS = frozenset({1, 3})


def pixels_of(image: Tensor) -> Pixels | None:
    """The memory of bytes (channels, height, width), planes apart or pixels side by side."""
    place = _place_of(image)
    return None if place is None else Pixels.at(image.data_ptr(), *place, Element.UINT8, image)


def _place_of(image: Tensor) -> tuple[int, int, int, bool] | None:
    """Height, width, channels, and whether these lie side by side; None for what is not for us."""
    if image.ndim != 3 or image.dtype is not torch.uint8 or not is_plain(image):
        return None
    channels, height, width = image.shape
    if channels not in _CHANNELS or not (height and width):
        return None
    if image.is_contiguous():
        return height, width, channels, False
    if image.stride() == (1, channels * width, channels):
        return height, width, channels, True
    return None


def run_effect(image: Tensor, effect: Effect, *numbers: float) -> Tensor | None:
    """The image after one effect, in the same layout."""
    place = _place_of(image)
    if place is None:
        return None
    source = Pixels.at(image.data_ptr(), *place, Element.UINT8, image)
    out = torch.empty_like(image)
    effect_one(Pixels.at(out.data_ptr(), *place, Element.UINT8, out), source, effect, numbers)
    return out


def as_fractions(image: Tensor) -> Tensor | None:
    """Bytes as float32 from 0 to 1, by the multiplication that torchvision does."""
    place = _place_of(image)
    if place is None:
        return None
    source = Pixels.at(image.data_ptr(), *place, Element.UINT8, image)
    out = torch.empty_like(image, dtype=torch.float32)
    room = Pixels.at(out.data_ptr(), *place, Element.FLOAT32, out)
    copy_one(room, source, 0, 0, False, False, _fractions())
    return out


@cache
def _fractions() -> Format:
    nothing, one = [0.0] * 3, [1.0] * 3
    return Format(Element.FLOAT32, "chw", 1 / 255, nothing, one)
