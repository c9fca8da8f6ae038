"""Values of tensors that only change places: parts of them, and borders.

Images are plain ones (see `tried`); nothing is computed, so no bit can differ from torch's. A
function returns None for what it does not take.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import torch
from torch import Tensor

from penstock._core import PadMode, pad_values
from penstock.transforms.functional.arguments import Borders, Canvas

_BYTES = {
    torch.uint8: 1,
    torch.int8: 1,
    torch.bool: 1,
    torch.int16: 2,
    torch.float16: 2,
    torch.bfloat16: 2,
    torch.int32: 4,
    torch.float32: 4,
    torch.int64: 8,
    torch.float64: 8,
}
# torch repeats these by way of float32, which has all their numbers; floats it repeats as quickly.
_REPEATED = frozenset({torch.uint8, torch.int8, torch.int16})
_REPEATED_BY_INDEX = _REPEATED | {torch.float32, torch.float64}  # as symmetric borders are
_MODES = {
    "edge": PadMode.EDGE,
    "reflect": PadMode.REFLECT,
    "symmetric": PadMode.SYMMETRIC,
}
_ZEROS = {count: bytes(count) for count in (1, 2, 4, 8)}
_LARGEST_FLOAT = 3e38
_WIDEST = 1 << 20  # of a border


def parts(image: Tensor, places: Sequence[tuple[int, int]], size: Canvas) -> tuple[Tensor, ...]:
    """Views of parts of one size, in one call each; they must lie inside of the image."""
    strides = image.stride()
    down, across = strides[-2:]
    first = image.storage_offset()
    shape = (*image.shape[:-2], *size)
    return tuple(
        image.as_strided(shape, strides, first + top * down + left * across) for top, left in places
    )


def pad(image: Tensor, borders: Borders, fill: float) -> Tensor | None:
    """Borders of one value."""
    value = _value(fill, image.dtype)
    return None if value is None else _pad(image, borders, PadMode.CONSTANT, [value])


def pad_with_colour(image: Tensor, borders: Borders, fill: Sequence[float]) -> Tensor | None:
    """Borders of one colour, which has a value for each channel."""
    values = [_value(one, image.dtype) for one in fill]
    if image.ndim != 3 or len(values) != image.shape[0]:
        return None
    known = [value for value in values if value is not None]
    return _pad(image, borders, PadMode.CONSTANT, known) if len(known) == len(values) else None


def is_repeated(image: Tensor, padding_mode: str) -> bool:
    """Whether borders that repeat an image may be for `pad_by_repeating`."""
    repeated = _REPEATED_BY_INDEX if padding_mode == "symmetric" else _REPEATED
    return image.dtype in repeated and image.ndim >= 3


def pad_by_repeating(image: Tensor, borders: Borders, padding_mode: str) -> Tensor | None:
    """Borders that repeat the image."""
    height, width = image.shape[-2:]
    # torch refuses those that the image cannot fill at once.
    lacking = 1 if padding_mode == "reflect" else 0
    left, top, right, bottom = borders
    if padding_mode != "edge" and (
        max(left, right) > width - lacking or max(top, bottom) > height - lacking
    ):
        return None
    return _pad(image, borders, _MODES[padding_mode], [_ZEROS[_BYTES[image.dtype]]])


def _value(fill: float, dtype: torch.dtype) -> bytes | None:
    """The bytes of a value; None for what would have to be rounded or cut off."""
    if fill == 0:
        return _ZEROS.get(_BYTES.get(dtype, 0))
    if dtype is torch.uint8:
        return bytes([int(fill)]) if 0 <= fill <= 255 and fill == int(fill) else None
    if dtype is torch.float32:
        return struct.pack("f", fill) if abs(fill) < _LARGEST_FLOAT else None
    return None


def _pad(image: Tensor, borders: Borders, mode: PadMode, fills: list[bytes]) -> Tensor | None:
    """The planes with borders; there is one value for all of them, or one for each."""
    left, top, right, bottom = borders
    *others, height, width = image.shape
    if not (
        min(borders) >= 0
        and 0 < max(borders) <= _WIDEST  # without any, torch only copies
        and type(left + top + right + bottom) is int
        and image.is_contiguous()
        and image.numel()
        # Sides of one pixel may have any strides, of which torch makes a layout of its own.
        and image.stride(-2) == width
        and (not others or image.stride(-3) == height * width)
    ):
        return None
    out_height, out_width = top + height + bottom, left + width + right
    out = image.new_empty((*others, out_height, out_width))
    size, bytes_each = (height, width), len(fills[0])
    target, source = out.data_ptr(), image.data_ptr()
    if len(fills) == 1:
        planes = image.numel() // (height * width)
        pad_values(target, source, planes, size, bytes_each, borders, mode, fills[0])
        return out
    for channel, fill in enumerate(fills):
        to = target + channel * out_height * out_width * bytes_each
        at = source + channel * height * width * bytes_each
        pad_values(to, at, 1, size, bytes_each, borders, mode, fill)
    return out
