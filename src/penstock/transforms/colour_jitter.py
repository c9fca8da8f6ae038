"""Changing brightness, contrast, saturation and hue at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import read_jitter, read_probability
from penstock.transforms.effects import NUMBERS, Effect, EffectMove, effect_where, only_where
from penstock.transforms.op import ImageOp

Range = tuple[float, float]
Jitter = float | Sequence[float] | None

# name, effect, the factor that changes nothing, least and most factor
_ADJUSTMENTS = (
    ("brightness", Effect.BRIGHTNESS, 1.0, 0.0, math.inf),
    ("contrast", Effect.CONTRAST, 1.0, 0.0, math.inf),
    ("saturation", Effect.SATURATION, 1.0, 0.0, math.inf),
    ("hue", Effect.HUE, 0.0, -0.5, 0.5),
)


@dataclass(frozen=True, slots=True, repr=False)
class ColorJitter(ImageOp):
    """Change brightness, contrast, saturation and hue by random factors, in random order.

    Each is a number, the largest distance from no change, or (min, max); None leaves it alone.
    """

    brightness: Jitter = None
    contrast: Jitter = None
    saturation: Jitter = None
    hue: Jitter = None
    _ranges: dict[Effect, Range] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(_ranges=_read_ranges("ColorJitter", self))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """An order for each image, and a factor for each adjustment."""
        effects = np.array(list(self._ranges), dtype=np.int64)
        count = len(effects)
        draws.reserve(2 * count)
        order = draws.orders(count)
        factors = np.array([draws.uniform(*limits) for limits in self._ranges.values()])
        rows = np.arange(len(sizes))
        moves = []
        for turn in order:
            numbers = np.zeros((len(sizes), NUMBERS))
            numbers[:, 0] = factors[turn, rows]
            moves.append(EffectMove(effects[turn], numbers, sizes.height, sizes.width))
        return tuple(moves)


@dataclass(frozen=True, slots=True, repr=False)
class RandomPhotometricDistort(ImageOp):
    """The colour changes of SSD: each with probability `p`, and then perhaps swapped channels.

    Contrast comes before saturation and hue or after them, equally often.
    """

    brightness: Sequence[float] = (0.875, 1.125)
    contrast: Sequence[float] = (0.5, 1.5)
    saturation: Sequence[float] = (0.5, 1.5)
    hue: Sequence[float] = (-0.05, 0.05)
    p: float = 0.5
    _ranges: dict[Effect, Range] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        read_probability("RandomPhotometricDistort", self.p)
        self._keep(_ranges=_read_ranges("RandomPhotometricDistort", self))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """A factor and a decision for each change, a place for contrast, an order of channels."""
        draws.reserve(2 * len(_ADJUSTMENTS) + 5)
        moves = {}
        for _, effect, unchanged, _, _ in _ADJUSTMENTS:
            factor = draws.uniform(*self._ranges.get(effect, (unchanged, unchanged)))
            chosen = draws.uniform() < self.p
            moves[effect] = effect_where(chosen, effect, sizes, factor)
        contrast_early = draws.uniform() < 0.5
        swapped = draws.uniform() < self.p
        swap = effect_where(swapped, Effect.PERMUTE_CHANNELS, sizes, *draws.orders(3))
        contrast = moves[Effect.CONTRAST]
        return (
            moves[Effect.BRIGHTNESS],
            only_where(contrast_early, contrast),
            moves[Effect.SATURATION],
            moves[Effect.HUE],
            only_where(~contrast_early, contrast),
            swap,
        )


def _read_ranges(where: str, transform: object) -> dict[Effect, Range]:
    """The ranges of the adjustments that change something."""
    ranges = {}
    for name, effect, centre, least, most in _ADJUSTMENTS:
        given = getattr(transform, name)
        limits = read_jitter(where, name, given, centre=centre, least=least, most=most)
        if limits is not None:
            ranges[effect] = limits
    return ranges
