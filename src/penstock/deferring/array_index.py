"""Indices of arrays that are not computed yet: parts of an image, and mirrors of it."""

from __future__ import annotations

from operator import mul
from typing import Any, NamedTuple, TypeAlias

from penstock.deferring.chain import Chain

Strides: TypeAlias = tuple[int, ...]

_ALL = (slice(None),) * 3
_GRAY_AXES = 2
_EACH = slice(None)
_CHANNEL_FIRST = [(None,), (None, ...), (None, _EACH, _EACH)]
_CHANNEL_LAST = [(..., None), (_EACH, _EACH, None)]


class Part(NamedTuple):
    """What an index leaves of an image."""

    top: int
    left: int
    height: int
    width: int
    flip_horizontal: bool
    flip_vertical: bool
    is_turned: bool  # the channels' order
    shape: tuple[int, ...]
    strides: Strides

    def chain_of(self, chain: Chain) -> Chain:
        """The chain of such a part."""
        if (self.height, self.width) != (chain.height, chain.width):
            chain = chain.crop(self.top, self.left, self.height, self.width)
        if self.flip_horizontal or self.flip_vertical:
            chain = chain.flip(horizontal=self.flip_horizontal, vertical=self.flip_vertical)
        return chain


def ordered_strides(shape: tuple[int, ...], itemsize: int) -> Strides:
    """Those of a new array of two or three axes."""
    inner = itemsize * shape[-1]
    if len(shape) == _GRAY_AXES:
        return inner, itemsize
    return inner * shape[1], inner, itemsize


def axes_after(key: Any) -> str:
    """The axes of a gray image after an index that only adds one for its channel; or nothing."""
    if key is None or (type(key) is tuple and key in _CHANNEL_FIRST):
        return "chw"
    return "hwc" if type(key) is tuple and key in _CHANNEL_LAST else ""


def read_index(key: Any, axes: str, shape: tuple[int, ...], strides: Strides) -> Part | None:
    """Read slices with steps of 1 or -1, which leave all channels; None for all else."""
    keys = _whole(key if type(key) is tuple else (key,), len(axes))
    if keys is None:
        return None
    firsts, lengths, steps = [], [], []
    for one, side in zip(keys, shape, strict=True):
        try:
            start, stop, step = one.indices(side)
        except (TypeError, ValueError):
            return None  # NumPy says what it thinks of that
        length = stop - start if step == 1 else start - stop
        if length < 1 or abs(step) != 1:
            return None
        firsts.append(start if step == 1 else stop + 1)
        lengths.append(length)
        steps.append(step)
    row, is_turned = axes.index("h"), False
    if len(axes) > _GRAY_AXES:
        channel = axes.index("c")
        if lengths[channel] != shape[channel]:
            return None
        is_turned = steps[channel] < 0
    column = row + 1
    return Part(
        firsts[row],
        firsts[column],
        lengths[row],
        lengths[column],
        steps[column] < 0,
        steps[row] < 0,
        is_turned,
        tuple(lengths),
        tuple(map(mul, strides, steps)),
    )


def _whole(keys: tuple[Any, ...], axes: int) -> tuple[Any, ...] | None:
    """A slice for each axis; None if there is something else among the keys."""
    dots = -1
    for number, one in enumerate(keys):
        if one is Ellipsis and dots < 0:
            dots = number
        elif type(one) is not slice:
            return None
    if dots < 0:
        return (*keys, *_ALL[: axes - len(keys)]) if len(keys) <= axes else None
    if len(keys) > axes + 1:
        return None
    return (*keys[:dots], *_ALL[: axes + 1 - len(keys)], *keys[dots + 1 :])
