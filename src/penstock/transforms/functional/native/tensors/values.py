"""Values of tensors, each changed by itself or by the range of its plane, in one pass.

Images are plain ones of bytes or float32 (see `tried`). A function returns None for those that it
does not take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from penstock._core import (
    ValueMap,
    convolve_values,
    curve_floats,
    curve_levels,
    map_floats,
    map_levels,
    normalize_values,
    stretch_levels,
    stretch_values,
)

_LISTS = frozenset({list, tuple})
_CHANGES = {torch.uint8: map_levels, torch.float32: map_floats}
_WORTH_A_BLEND = 1024  # floats; with fewer, torch is as quick
WORTH_A_CURVE = 4096  # floats; with fewer, torch's powers are as quick
_WORTH_THREADS = 32768  # floats, from which on torch shares them among its threads
_VECTORS = 64  # floats that fill some of torch's vectors, however wide they are
_MOST = 1e30  # a factor that makes no level infinite


def map_image(image: Tensor, map: ValueMap, *numbers: float) -> Tensor | None:  # noqa: A002  # as the core calls it
    """Values, each changed by itself."""
    count = image.numel()
    out = torch.empty_like(image)
    # Other strides say that there are gaps between values, or that some are the same.
    if not count or out.stride() != image.stride():
        return None
    is_done = _CHANGES[image.dtype](out.data_ptr(), image.data_ptr(), count, map, *numbers)
    return out if is_done else None


def is_counted_in_float32(image: Tensor) -> bool:
    """Whether torch computes in float32: bytes are counted in what the user has as default."""
    return image.dtype is torch.float32 or torch.get_default_dtype() is torch.float32


def scale(image: Tensor, factor: float) -> Tensor | None:
    """Times a factor, kept within black and white."""
    # Bytes times a whole number are bytes to torch, which wrap around.
    is_usual = isinstance(factor, float) or image.dtype is torch.float32
    if not (is_usual and factor < _MOST and is_counted_in_float32(image)):
        return None
    return map_image(image, ValueMap.SCALE, factor)


def solarize(image: Tensor, threshold: float) -> Tensor | None:
    """Inverted from the threshold on."""
    # torch takes a whole number below 0 for a byte, which is far above it.
    is_usual = is_counted_in_float32(image) and (threshold >= 0 or image.dtype is torch.float32)
    return map_image(image, ValueMap.SOLARIZE, threshold) if is_usual else None


def posterize(image: Tensor, bits: int) -> Tensor | None:
    """The lower end of its part, for each value."""
    levels = 1 << bits
    return map_image(image, ValueMap.POSTERIZE, levels, 1.0 / levels)


def blend_level(image: Tensor, level: Tensor, ratio: float) -> Tensor | None:
    """Each value mixed with one level; of one image, with one such level."""
    if level.numel() != 1 or not (ratio < _MOST and is_counted_in_float32(image)):
        return None
    numbers = ratio, level.item(), 1.0 - ratio
    if image.dtype is not torch.float32:
        return map_image(image, ValueMap.BLEND, *numbers)
    if image.numel() < _WORTH_A_BLEND or not _is_in_one_row(image):
        return None
    out = map_image(image, ValueMap.BLEND, *numbers)
    ends = None if out is None else _ends(image, out)
    if ends is not None:
        rest = ends.given.mul(ratio).add_(level.view(1), alpha=1.0 - ratio)
        torch.clamp(rest, 0, 1, out=ends.made)
    return out


def _is_in_one_row(image: Tensor) -> bool:
    """Whether torch computes an image from its first value to its last, in one thread."""
    is_alone = image.numel() < _WORTH_THREADS or torch.get_num_threads() == 1
    return is_alone and image.is_contiguous()


class _Ends(NamedTuple):
    given: Tensor
    made: Tensor


def _ends(image: Tensor, out: Tensor) -> _Ends | None:
    """The last values of an image and of what was made of it, if some fill no vector of torch's.

    torch computes those in another way, and may round otherwise: so it is to compute them here.
    Before them lie whole vectors, of whatever width torch has.
    """
    count = image.numel()
    rest = count % _VECTORS
    if not rest:
        return None
    first = count - rest
    given = image.as_strided((rest,), (1,), image.storage_offset() + first)
    return _Ends(given, out.as_strided((rest,), (1,), first))


def adjust_gamma(image: Tensor, gamma: float, gain: float) -> Tensor | None:
    """Fractions of white to a power, by torch's powers of the 256 that bytes can be.

    So it is for bytes, and for floats that were bytes before.
    """
    if not (gamma < _MOST and abs(gain) < _MOST):
        return None
    if image.dtype is not torch.uint8:
        return _adjust_gamma_of_floats(image, gamma, gain)
    count = image.numel()
    out = torch.empty_like(image)
    if not count or out.stride() != image.stride():
        return None
    curve = _fractions().multiplied.pow(gamma)
    curve_levels(out.data_ptr(), image.data_ptr(), count, curve.data_ptr(), gain)
    return out


class _Fractions(NamedTuple):
    """All levels as fractions of white, in the two ways in which they are rounded."""

    both: Tensor  # 256 that were divided, and 256 that were multiplied
    multiplied: Tensor  # as torchvision does it


@cache
def _fractions() -> _Fractions:
    levels = torch.arange(256, dtype=torch.float32, device="cpu")
    multiplied = levels * (1.0 / 255)
    return _Fractions(torch.cat((levels / 255, multiplied)), multiplied)


def _adjust_gamma_of_floats(image: Tensor, gamma: float, gain: float) -> Tensor | None:
    if image.numel() < WORTH_A_CURVE or not (_is_in_one_row(image) and _powers_agree()):
        return None
    return _look_powers_up(image, gamma, gain)


def _look_powers_up(image: Tensor, gamma: float, gain: float) -> Tensor | None:
    """None if one of the floats was no byte before."""
    out = torch.empty_like(image)
    fractions = _fractions().both
    curve = _powers(fractions, gamma, gain)
    known = fractions.data_ptr(), curve.data_ptr()
    if not curve_floats(out.data_ptr(), image.data_ptr(), image.numel(), *known):
        return None
    ends = _ends(image, out)
    if ends is not None:
        ends.made.copy_(_powers(ends.given, gamma, gain))
    return out


@cache
def _powers_agree() -> bool:
    """Whether the powers of floats do not depend on where they lie, but for the last ones."""
    fractions = _fractions().multiplied
    image = torch.cat((fractions[3:], fractions, fractions[:250]))
    for gamma in (1.2, 0.45, 3):
        found = _look_powers_up(image, gamma, 1.0)
        if found is None or not torch.equal(found, image.pow(gamma)):
            return False
    return True


def _powers(values: Tensor, gamma: float, gain: float) -> Tensor:
    powers = values.pow(gamma)
    return powers if gain == 1.0 else powers.mul_(gain).clamp_(0.0, 1.0)


def normalize(image: Tensor, means: Sequence[float], stds: Sequence[float]) -> Tensor | None:
    """A mean subtracted from each channel, and divided by its deviation."""
    channels = image.shape[-3]
    if not (
        image.dtype is torch.float32
        and type(means) in _LISTS
        and type(stds) in _LISTS
        and len(means) == len(stds) == channels
        and image.is_contiguous()
        and image.numel()
    ):
        return None
    out = torch.empty_like(image)
    size = image.shape[-1] * image.shape[-2]
    images = image.numel() // (size * channels)
    normalize_values(out.data_ptr(), image.data_ptr(), images, size, means, stds)
    return out


def autocontrast(image: Tensor) -> Tensor | None:
    """Each channel stretched to the whole range; not if there are values that are no numbers."""
    if not image.is_contiguous() or not image.numel():
        return None
    out = torch.empty_like(image)
    size = image.shape[-1] * image.shape[-2]
    planes = image.numel() // size
    if image.dtype is torch.uint8:
        stretch_levels(out.data_ptr(), image.data_ptr(), planes, size)
        return out
    return out if stretch_values(out.data_ptr(), image.data_ptr(), planes, size) else None


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
    if height < down or width < across or not math.prod(image.shape[:-2]):
        return None
    shape = (*image.shape[:-2], height - down + 1, width - across + 1)
    out = image.new_empty(shape)
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
