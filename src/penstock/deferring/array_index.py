"""Indices of arrays that are not computed yet: parts of an image, and mirrors of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from penstock.deferring.chain import Chain

Strides: TypeAlias = tuple[int, ...]
View: TypeAlias = Callable[[Any], Any]


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
    """Those of a new array."""
    strides = [itemsize]
    for side in shape[:0:-1]:
        strides.insert(0, strides[0] * side)
    return tuple(strides)


class _Range(NamedTuple):
    first: int  # of the image's own order
    length: int
    step: int  # 1 or -1


def read_index(key: Any, axes: str, shape: tuple[int, ...], strides: Strides) -> Part | None:
    """Read slices with steps of 1 or -1, which leave all channels; None for all else."""
    keys = _whole(key if type(key) is tuple else (key,), len(axes))
    if keys is None:
        return None
    ranges = [_range_of(one, side) for one, side in zip(keys, shape, strict=True)]
    if None in ranges:
        return None
    found = dict(zip(axes, ranges, strict=True))
    rows, columns, channels = found["h"], found["w"], found.get("c")
    if rows is None or columns is None:
        return None
    is_turned = False
    if channels is not None:
        if channels.length != shape[axes.index("c")]:
            return None
        is_turned = channels.step < 0
    return Part(
        rows.first,
        columns.first,
        rows.length,
        columns.length,
        columns.step < 0,
        rows.step < 0,
        is_turned,
        tuple(one.length for one in ranges if one is not None),
        tuple(s * one.step for s, one in zip(strides, ranges, strict=True) if one is not None),
    )


def _whole(keys: tuple[Any, ...], axes: int) -> list[Any] | None:
    """A slice for each axis; None if there is something else among the keys."""
    dots = [number for number, one in enumerate(keys) if one is Ellipsis]
    slices = [one for one in keys if one is not Ellipsis]
    if len(dots) > 1 or len(slices) > axes or any(type(one) is not slice for one in slices):
        return None
    missing = [slice(None)] * (axes - len(slices))
    place = dots[0] if dots else len(keys)
    return [*slices[:place], *missing, *slices[place:]]


def _range_of(key: slice, side: int) -> _Range | None:
    try:
        start, stop, step = key.indices(side)
    except (TypeError, ValueError):
        return None  # NumPy says what it thinks of that
    if step not in (1, -1):
        return None
    length = len(range(start, stop, step))
    if not length:
        return None
    return _Range(start if step > 0 else start - length + 1, length, step)
