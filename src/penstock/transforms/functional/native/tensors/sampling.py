"""Tensors resized and warped by the core, with torch's weights and grids.

Images are plain ones of bytes or float32 (see `tried`). A function returns None for those that it
does not take.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from penstock._core import Element, Pixels, resize_like_torch, resize_values, sample_values
from penstock.transforms.functional.arguments import Canvas, Fill

_ELEMENTS = {torch.uint8: Element.UINT8, torch.float32: Element.FLOAT32}
_CHANNELS = frozenset({1, 3})
_LONGEST_SAMPLED = 1 << 14  # pixels of a side
_MOST_SAMPLED = 1 << 23  # pixels, of which the core makes a copy


def resize(image: Tensor, size: Canvas, filter_number: int, antialias: bool) -> Tensor | None:
    """Images in another size; `filter_number` is Pillow's."""
    if image.dtype is torch.float32:
        return _resize_floats(image, size, filter_number) if antialias else None
    channels, height, width = image.shape[-3:]
    # torch takes an image with a side of one pixel for one of another layout, and may refuse it.
    if channels not in _CHANNELS or min(height, width, *size) < 2:
        return None
    if image.ndim == 3:
        return _resize_one(image, size, filter_number, antialias)
    if not image.is_contiguous():
        return None
    out = image.new_empty((*image.shape[:-2], *size))
    rooms = out.view(-1, channels, *size)
    for frame, room in zip(image.view(-1, channels, height, width), rooms, strict=True):
        source, target = _pixels_of(frame), _pixels_of(room)
        if source is None or target is None:
            return None
        resize_like_torch(target, source, filter_number, antialias)
    return out


def _resize_floats(image: Tensor, size: Canvas, filter_number: int) -> Tensor | None:
    channels, height, width = image.shape[-3:]
    if channels not in _CHANNELS or min(height, width, *size) < 2 or image.stride(-1) != 1:
        return None
    out = image.new_empty((*image.shape[:-2], *size))
    frames = (image,) if image.ndim == 3 else image.reshape(-1, channels, height, width)
    step = 4 * channels * size[0] * size[1]
    target = out.data_ptr()
    for number, frame in enumerate(frames):
        resize_values(
            target + number * step,
            frame.data_ptr(),
            channels,
            frame.stride(),
            (height, width),
            size,
            filter_number,
        )
    return out


def _resize_one(image: Tensor, size: Canvas, filter_number: int, antialias: bool) -> Tensor | None:
    source = _pixels_of(image)
    if source is None:
        return None
    channels, _, width = image.shape
    is_interleaved = channels == 3 and image.stride() == (1, 3 * width, 3)
    if is_interleaved:
        out = image.new_empty((*size, 3)).permute(2, 0, 1)
    else:
        out = image.new_empty((channels, *size))
    target = Pixels.at(out.data_ptr(), *size, channels, is_interleaved, Element.UINT8, out)
    resize_like_torch(target, source, filter_number, antialias)
    return out


def _pixels_of(image: Tensor) -> Pixels | None:
    """Planes apart or pixels side by side, with gaps between rows and planes where a crop is."""
    channels, height, width = image.shape
    plane, row, pixel = image.stride()
    if pixel == 1 and row >= width and (plane > 0 or channels == 1):
        return Pixels.at(
            image.data_ptr(), height, width, channels, False, Element.UINT8, image, row, plane
        )
    if (plane, pixel) == (1, 3) and channels == 3 and row >= 3 * width:
        return Pixels.at(image.data_ptr(), height, width, 3, True, Element.UINT8, image, row)
    return None


class Grid(NamedTuple):
    """Where the pixels of a result lie in an image, by the numbers of its matrix.

    Without a depth they are counted from the middle of the image; with one, from its corner.
    """

    size: Canvas
    across: Sequence[float]
    down: Sequence[float]
    depth: Sequence[float] | None = None


def sample(image: Tensor, grid: Grid, is_bilinear: bool, fill: Fill) -> Tensor | None:
    """Images (..., channels, height, width), looked up at the places of a grid."""
    channels, height, width = image.shape[-3:]
    if channels not in _CHANNELS or not image.numel() or height * width > _MOST_SAMPLED:
        return None
    is_fused = _is_fused()
    if is_fused is None or max(height, width, *grid.size) > _LONGEST_SAMPLED or min(grid.size) < 1:
        return None
    colour = None if fill is None else _colour_of(fill, image.dtype)
    if fill is not None and colour is None:
        return None
    if grid.size == (height, width) and image.is_contiguous():
        out = torch.empty_like(image)
    else:
        out = image.new_empty((*image.shape[:-2], *grid.size))
    element = _ELEMENTS[image.dtype]
    frames = (image,) if image.ndim == 3 else image.reshape(-1, channels, height, width)
    step = channels * grid.size[0] * grid.size[1] * out.element_size()
    target = out.data_ptr()
    for number, frame in enumerate(frames):
        sample_values(
            target + number * step,
            frame.data_ptr(),
            element,
            channels,
            frame.stride(),
            (height, width),
            grid.size,
            grid.across,
            grid.down,
            grid.depth,
            is_fused,
            is_bilinear,
            colour,
        )
    return out


def _colour_of(fill: Fill, dtype: torch.dtype) -> list[float] | None:
    """A level for each channel; None where bytes cannot have it."""
    values = [float(value) for value in fill] if isinstance(fill, (tuple, list)) else [float(fill)]  # type: ignore[arg-type]  # a number
    if dtype is torch.uint8 and not all(0 <= value <= 255 for value in values):
        return None
    return values * 3 if len(values) == 1 else values


_TRIED_MATRICES = ((5, 9), (64, 65), (150, 211))


@cache
def _is_fused() -> bool | None:
    """How torch's product of places and a matrix is rounded; None if in no way that we know."""
    generator = torch.Generator().manual_seed(0)
    ways = {True, False}
    for height, width in _TRIED_MATRICES:
        rows = torch.rand(3, 2, generator=generator, device="cpu").sub_(0.5)
        places = torch.ones(1, height, width, 3, device="cpu")
        places[..., 0].copy_(torch.arange(width, device="cpu") + 0.5)
        places[..., 1].copy_((torch.arange(height, device="cpu") + 0.5).unsqueeze_(-1))
        theirs = places.view(1, -1, 3).bmm(rows.unsqueeze(0))[0]
        x, y = places.view(-1, 3)[:, :1], places.view(-1, 3)[:, 1:2]
        apart = (x * rows[0]).add_(y * rows[1]).add_(rows[2])
        # Doubles hold the product of two floats, so this rounds once, but for very rare numbers.
        fused = (y.double() * rows[1].double()).add_((x * rows[0]).double()).float().add_(rows[2])
        ways &= {way for way, ours in ((False, apart), (True, fused)) if torch.equal(ours, theirs)}
    return ways.pop() if len(ways) == 1 else None
