"""The effects of a batch's programs, collected move by move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.geometry import Bools, Ints
from penstock.planner.access import IS_TABLE
from penstock.transforms.effects import ROOM, EffectMove

# How many numbers an effect has beside its parameters.
_HEAD = 6


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a batch, sample by sample, each in the order in which they are done."""

    # effect, step that it follows, height, width, whether it waits, whether it counts early
    heads: npt.NDArray[np.int32]
    numbers: npt.NDArray[np.float64]  # (effects, room for the parameters of these)
    counts: npt.NDArray[np.int32]  # how many of them belong to each sample

    def pick(self, samples: Bools | Ints) -> Effects:
        """The effects of some of the samples, by a mask or by rows."""
        counts = self.counts[samples]
        if not len(self.heads):
            return Effects(self.heads, self.numbers, counts)
        starts = (np.cumsum(self.counts) - self.counts)[samples]
        before = np.cumsum(counts) - counts
        chosen = np.arange(counts.sum()) + np.repeat(starts - before, counts)
        return Effects(self.heads[chosen], self.numbers[chosen], counts)

    def between(self, begin: int, end: int) -> Effects:
        """The effects of some samples that follow each other, without a copy."""
        counts = self.counts[begin:end]
        if not len(self.heads):
            return Effects(self.heads, self.numbers, counts)
        first = int(self.counts[:begin].sum())
        some = slice(first, first + int(counts.sum()))
        return Effects(self.heads[some], self.numbers[some], counts)


class EffectList:
    """Collects effects move by move."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._moves: list[tuple[EffectMove, Ints, Ints]] = []  # with its samples, and their steps
        self._tables_wait = False

    def add(self, move: EffectMove, present: Bools, after_steps: Ints) -> None:
        """Append the effects of the samples where there is one."""
        rows = np.flatnonzero(present)
        if len(rows):
            self._tables_wait |= move.tables_wait
            self._moves.append((move, rows, after_steps[rows]))

    def finish(self) -> Effects:
        """Sort by sample, keeping the order within each."""
        counts = np.zeros(self._samples, dtype=np.int32)
        for _, rows, _ in self._moves:
            counts[rows] += 1
        ends = np.cumsum(counts)
        heads = np.empty((int(ends[-1]) if len(ends) else 0, _HEAD), dtype=np.int32)
        # A kind that there is not has no room; the core refuses it.
        rooms = (int(ROOM.take(move.effect, mode="clip").max()) for move, _, _ in self._moves)
        room = max(rooms, default=0)
        numbers = np.empty((len(heads), room))
        # Every effect goes straight to its place: numbers are many bytes, which sorting would copy
        # more than once.
        free = ends - counts
        for move, rows, after_steps in self._moves:
            places = free[rows]
            free[rows] += 1
            head = np.zeros((_HEAD, len(rows)), dtype=np.int32)
            head[0], head[1] = move.effect[rows], after_steps
            head[2], head[3] = move.height[rows], move.width[rows]
            if self._tables_wait:
                head[4] = IS_TABLE[head[0]]
            if move.counts_early is not False:
                head[5] = np.broadcast_to(move.counts_early, move.effect.shape)[rows]
            heads[places] = head.T
            numbers[places] = move.numbers[rows, :room]
        return Effects(heads, numbers, counts)
