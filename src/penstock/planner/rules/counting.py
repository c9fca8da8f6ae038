"""Statistics that are taken while the image is written of which they are the statistics."""

from __future__ import annotations

from dataclasses import replace
from operator import is_

import numpy as np

from penstock._core import Effect
from penstock.geometry import Bools, Sizes
from penstock.planner.access import IS_COLOUR, IS_TABLE, lookup
from penstock.planner.draft import Moves
from penstock.planner.rules.idle import is_idle
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move

# Bytes of an RGB image that the last cache of a machine does not keep from one pass to the next,
# beside what else is in it. Smaller ones are read from there as fast as they are looked at.
LEAST_BYTES = 16 << 20

# Effects that a table may wait through.
_IS_CROSSED = lookup((Effect.AFFINE, Effect.PERSPECTIVE))


def count_while_writing(moves: Moves, sizes: Sizes) -> Moves | None:
    """Find the extremes of large images for autocontrast while these are decoded or written.

    Exact: the least and the greatest of all values do not depend on when they are looked at. Rows
    are, right after they were written, which saves a pass over memory. That is done where a step
    (a decode, a resize, a flip, a border) or an effect on colour writes the image; a crop writes
    nothing. Other statistics would gain nothing by it: equalize and contrast are busy with
    arithmetic, while the next pixels come in from memory.
    """
    planned = list(moves)
    state = _State(moves, len(sizes))
    for position, move in enumerate(moves):
        if isinstance(move, EffectMove):
            rows = move.does(Effect.AUTOCONTRAST)
            if rows.any():
                rows &= state.is_watched & (3 * sizes.height * sizes.width >= LEAST_BYTES)
                rows &= ~np.asarray(move.counts_early)
            if rows.any():
                planned[position] = replace(move, counts_early=move.counts_early | rows)
            state.follow_effect(move)
        else:
            state.follow_step(move, ~is_idle(move, sizes))
        sizes = move.out_sizes(sizes)
    return None if all(map(is_, planned, moves)) else tuple(planned)


class _State:
    """For each sample, what wrote the image as it is before the next move."""

    def __init__(self, moves: Moves, samples: int) -> None:
        self._tables_wait = any(isinstance(move, EffectMove) and move.tables_wait for move in moves)
        self.is_watched = np.ones(samples, dtype=np.bool_)  # whether the rule knows that pass
        self._writes = np.ones(samples, dtype=np.bool_)  # whether the present step does
        self._waits = np.zeros(samples, dtype=np.bool_)  # a table, so that these pixels do not tell

    def follow_effect(self, move: EffectMove) -> None:
        acts, kind = move.acts, move.effect
        waits = IS_TABLE[kind] & self._tables_wait
        self._waits = np.where(acts, waits | (self._waits & _IS_CROSSED[kind]), self._waits)
        self.is_watched = np.where(acts, IS_COLOUR[kind] & ~waits, self.is_watched)
        self._writes = self._writes & ~acts

    def follow_step(self, move: Move, acts: Bools) -> None:
        if not isinstance(move, CropMove):
            self._writes = self._writes | acts
        if not isinstance(move, CropMove | FlipMove):
            self._waits = self._waits & ~acts
        self.is_watched = np.where(acts, self._writes & ~self._waits, self.is_watched)


RULES = (
    Rule(
        "count_while_writing", Fidelity.EXACT, count_while_writing, span=None, free=True, last=True
    ),
)
