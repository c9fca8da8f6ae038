"""How the values of a tensor are made of an image's levels, as torchvision makes them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch

from penstock._core import Element, Format

_TO_UNIT_RANGE = float(np.float32(1.0 / 255.0))
_NO_MEAN, _NO_STD = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


class Spec(NamedTuple):
    """(level * scale / divisor - mean) / std in float32; or the levels themselves."""

    is_float: bool = False
    scale: float = 1.0
    divisor: float = 1.0
    mean: tuple[float, ...] = _NO_MEAN
    std: tuple[float, ...] = _NO_STD
    is_normalised: bool = False
    channels: int = 3  # or 1: the first of three equal ones

    @property
    def dtype(self) -> torch.dtype:
        """The type of the values."""
        return torch.float32 if self.is_float else torch.uint8

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


def _singles(numbers: tuple[float, ...]) -> tuple[float, ...]:
    three = numbers * 3 if len(numbers) == 1 else numbers
    return tuple(np.array(three, dtype=np.float32).tolist())


@lru_cache(maxsize=64)
def _format(spec: Spec) -> Format:
    element = Element.FLOAT32 if spec.is_float else Element.UINT8
    return Format(
        element,
        "chw",
        spec.scale,
        spec.mean,
        spec.std,
        spec.divisor,
        channels=spec.channels,
    )
