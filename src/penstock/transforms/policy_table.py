"""Policies whose levels are bins, by look-up: all that can happen to images of one size, once.

A policy draws an op, a bin and a sign. For images of one size, which is what a crop leaves, that is
a few hundred rows of numbers; computing those once and picking rows costs a tenth of computing the
rows of every batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from penstock.geometry import Floats, Ints, Size, Sizes
from penstock.transforms.arguments import Colour
from penstock.transforms.effects import EffectMove
from penstock.transforms.policy_ops import NOTHING, PolicyOp, make_scene, policy_move


@dataclass(frozen=True, slots=True)
class BinnedOps:
    """Ops with `bins` levels each, and what those that move pixels need."""

    ops: tuple[PolicyOp, ...]
    bins: int
    filter: int
    fill: Colour

    def move(self, chosen: Ints, levels: Ints, signs: Floats, sizes: Sizes) -> EffectMove:
        """One op for each sample, as `policy_move`."""
        if not len(sizes):
            return self._compute(chosen, levels, signs, sizes)
        first = sizes[0]
        if (sizes.height != first.height).any() or (sizes.width != first.width).any():
            return self._compute(chosen, levels, signs, sizes)
        table = _table(self, first)
        rows = (chosen * self.bins + levels) * 2 + (signs > 0)
        rows = np.where(chosen == NOTHING, -1, rows)
        return EffectMove(table.effect[rows], table.numbers[rows], sizes.height, sizes.width)

    def _compute(self, chosen: Ints, levels: Ints, signs: Floats, sizes: Sizes) -> EffectMove:
        scene = make_scene(sizes, self.filter, self.fill)
        return policy_move(self.ops, chosen, levels.astype(np.float64), signs, scene)

    def all_of(self, size: Size) -> EffectMove:
        """Everything that can happen to an image: by op, bin and sign; last of all nothing."""
        count = len(self.ops) * self.bins * 2
        number = np.append(np.arange(count), 0)
        chosen = number // (2 * self.bins)
        chosen[-1] = NOTHING
        sizes = Sizes(np.full(count + 1, size.height), np.full(count + 1, size.width))
        signs = np.where(number % 2, 1.0, -1.0)
        return self._compute(chosen, number // 2 % self.bins, signs, sizes)


@lru_cache(maxsize=64)
def _table(ops: BinnedOps, size: Size) -> EffectMove:
    return ops.all_of(size)
