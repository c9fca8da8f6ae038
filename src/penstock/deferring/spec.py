"""How the values of a tensor are made of an image's levels, as torchvision makes them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch

from penstock._core import Element, Format
from penstock.deferring.values import TYPES, Guess, Values, levels_as

_TO_UNIT_RANGE = float(np.float32(1.0 / 255.0))
_NO_MEAN, _NO_STD = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


class Spec(NamedTuple):
    """(level * scale / divisor - mean) / std in float32; or the levels themselves.

    Or what `values` says of each level, in an order of axes and channels that is not torchvision's.
    """

    is_float: bool = False
    scale: float = 1.0
    divisor: float = 1.0
    mean: tuple[float, ...] = _NO_MEAN
    std: tuple[float, ...] = _NO_STD
    is_normalised: bool = False
    channels: int = 3  # or 1: the first of three equal ones
    values: Values | None = None
    blue_first: bool = False
    layout: str = "chw"  # or "hwc", or "hw" with one channel

    @property
    def dtype(self) -> torch.dtype:
        """The type of the values."""
        if self.values is not None:
            return TYPES[self.values.dtype]
        return torch.float32 if self.is_float else torch.uint8

    @property
    def numpy_dtype(self) -> Any:
        """The same as NumPy calls it."""
        if self.values is not None:
            return self.values.dtype
        return np.dtype(np.float32 if self.is_float else np.uint8)

    @property
    def is_plain(self) -> bool:
        """Whether it has torchvision's axes, channels and arithmetic."""
        return self.values is None and not self.blue_first and self.layout == "chw"

    @property
    def is_native(self) -> bool:
        """Whether the core writes such values; of others it writes the levels, to be looked up."""
        return self.values is None or self.values.dtype in _ELEMENTS

    def levels(self) -> Spec:
        """The levels alone, in the same order of axes and channels."""
        return Spec(channels=self.channels, blue_first=self.blue_first, layout=self.layout)

    def with_values(self, values: Values) -> Spec:
        """These values in the same order of axes and channels."""
        return self.levels()._replace(values=values)

    def as_values(self) -> Values | None:
        """The values of each level; None if torch's arithmetic leads to no such."""
        if self.values is not None:
            return self.values
        if not self.is_float:
            return levels_as(self.channels)
        guess = Guess(self.scale, self.divisor, self.mean, self.std)
        return levels_as(self.channels).after(guess, self._compute, guess)

    def _compute(self, table: Any) -> Any:
        """As the core has it, rounded to single precision each time."""
        mean, std = (
            np.array(numbers[: self.channels], np.float32)[:, None] for numbers in self[3:5]
        )
        scaled = table.astype(np.float32) * np.float32(self.scale)
        return (scaled / np.float32(self.divisor) - mean) / std

    @property
    def format(self) -> Format:
        """The same for the core."""
        return _format(self)

    def as_float(self, *, scale: bool) -> Spec:
        """Bytes as floats; with `scale`, 0..255 becomes 0..1 as v2 does it."""
        return self._replace(is_float=True, scale=_TO_UNIT_RANGE if scale else 1.0)

    def divided(self) -> Spec:
        """Bytes as floats, 0..255 as 0..1 in the way of ToTensor."""
        return self._replace(is_float=True, divisor=255.0)

    def normalised(self, mean: tuple[float, ...], std: tuple[float, ...]) -> Spec:
        """Less the mean, divided by the deviation, each rounded to float32 first."""
        return self._replace(mean=_singles(mean), std=_singles(std), is_normalised=True)


_ELEMENTS = {
    np.dtype(np.float16): Element.FLOAT16,
    np.dtype(np.float32): Element.FLOAT32,
}


def _singles(numbers: tuple[float, ...]) -> tuple[float, ...]:
    three = numbers * 3 if len(numbers) == 1 else numbers
    return tuple(np.array(three, dtype=np.float32).tolist())


@lru_cache(maxsize=64)
def _format(spec: Spec) -> Format:
    order = "hwc" if spec.layout == "hwc" and spec.channels > 1 else "chw"  # of one, both are one
    if spec.values is None:
        element = Element.FLOAT32 if spec.is_float else Element.UINT8
        scale, divisor, mean, std = spec.scale, spec.divisor, spec.mean, spec.std
        table = None
    else:
        element = _ELEMENTS[spec.values.dtype]
        scale, divisor, mean, std = spec.values.guess
        three = np.broadcast_to(spec.values.table, (3, 256))
        table = np.ascontiguousarray(three, dtype=np.float32)
    return Format(
        element,
        order,
        scale,
        mean,
        std,
        divisor,
        channels=spec.channels,
        values=table,
        blue_first=spec.blue_first,
    )
