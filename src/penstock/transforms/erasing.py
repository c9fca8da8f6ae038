"""Erasing a random rectangle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import read_numbers, read_probability, read_range
from penstock.transforms.effects import Effect, EffectMove, effect_where, split_key
from penstock.transforms.op import ImageOp

_TRIES = 10

Values = tuple[float, ...]


@dataclass(frozen=True, slots=True, repr=False)
class RandomErasing(ImageOp):
    """With probability `p`, overwrite a random rectangle.

    It covers a share of the image drawn from `scale`, with height / width drawn from `ratio`
    (evenly on a logarithmic scale); if ten draws do not fit, nothing is erased. `value` is a number
    or one for each of red, green and blue, on the scale the image has here; "random" is normal
    noise. `inplace` is taken for torchvision's sake and changes nothing.
    """

    p: float = 0.5
    scale: Sequence[float] = (0.02, 0.33)
    ratio: Sequence[float] = (0.3, 3.3)
    value: float | Sequence[float] | str = 0.0
    inplace: bool = False
    _shares: tuple[float, float] = field(init=False, repr=False, compare=False)
    _ratios: tuple[float, float] = field(init=False, repr=False, compare=False)
    _values: Values | None = field(init=False, repr=False, compare=False)  # None is noise

    def __post_init__(self) -> None:
        where = "RandomErasing"
        read_probability(where, self.p)
        self._keep(
            _shares=read_range(where, "scale", self.scale),
            _ratios=read_range(where, "ratio", self.ratio),
            _values=_read_value(self.value),
        )
        if self._shares[0] < 0 or self._shares[1] > 1:
            raise TransformError(f"{where}: scale must be between 0 and 1, got {self.scale!r}.")
        if self._ratios[0] <= 0:
            raise TransformError(f"{where}: ratio must be greater than 0, got {self.ratio!r}.")

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """Draw ten rectangles and a place at once; each image takes the first that fits."""
        draws.reserve(2 * _TRIES + 4)
        chosen = draws.uniform() < self.p
        drawn = draws.units(2 * _TRIES)
        smallest, largest = self._shares
        area = sizes.height * sizes.width * (smallest + (largest - smallest) * drawn[0::2])
        flattest, steepest = math.log(self._ratios[0]), math.log(self._ratios[1])
        ratio = np.exp(flattest + (steepest - flattest) * drawn[1::2])
        heights = np.rint(np.sqrt(area * ratio)).astype(np.int64)
        widths = np.rint(np.sqrt(area / ratio)).astype(np.int64)
        fits = (heights < sizes.height) & (widths < sizes.width)
        first, rows = fits.argmax(axis=0), np.arange(len(sizes))
        chosen &= fits[first, rows]
        height = np.where(chosen, heights[first, rows], 0)
        width = np.where(chosen, widths[first, rows], 0)
        top = draws.integers(sizes.height - height + 1)
        left = draws.integers(sizes.width - width + 1)
        is_noise = float(self._values is None)
        colour = self._values or (0.0, 0.0, 0.0)
        key = split_key(draws.bits()[0]) if is_noise else (0.0, 0.0)
        numbers = (top, left, height, width, *colour, is_noise, *key)
        return (effect_where(chosen, Effect.ERASE, sizes, *numbers),)


def _read_value(given: float | Sequence[float] | str) -> Values | None:
    if isinstance(given, str):
        if given == "random":
            return None
        raise TransformError(
            f'RandomErasing: value must be a number, three numbers or "random", got {given!r}.'
        )
    values = read_numbers(
        "RandomErasing", "value", given if isinstance(given, Sequence) else (given,)
    )
    if len(values) not in (1, 3):
        raise TransformError(
            f"RandomErasing: value must have one number, or one for each of red, green and blue, "
            f"got {given!r}."
        )
    return values * (3 // len(values))
