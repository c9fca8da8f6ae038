"""The effects of a batch's programs, collected move by move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.geometry import Bools, Ints
from penstock.planner.access import IS_COLOUR, IS_TABLE
from penstock.transforms.effects import EffectMove, no_numbers

# How many numbers an effect has beside its parameters.
_HEAD = 6


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a batch, sample by sample, each in the order in which they are done."""

    # effect, step that it follows, height, width, whether it waits, whether it counts early
    heads: npt.NDArray[np.int32]
    numbers: npt.NDArray[np.float64]  # (effects, room for parameters)
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
        self._rows: list[Ints] = []
        self._heads: list[npt.NDArray[np.int32]] = []
        self._numbers: list[npt.NDArray[np.float64]] = []
        self._joins = False

    def add(self, move: EffectMove, present: Bools, after_steps: Ints) -> None:
        """Append the effects of the samples where there is one."""
        rows = np.flatnonzero(present)
        if not len(rows):
            return
        self._joins |= move.joins_tables
        heads = np.empty((len(present), _HEAD), dtype=np.int32)
        columns = move.effect, after_steps, move.height, move.width, move.waits, move.counts_early
        for place, column in enumerate(columns):
            heads[:, place] = column
        self._rows.append(rows)
        self._heads.append(heads[rows])
        self._numbers.append(move.numbers[rows])

    def finish(self) -> Effects:
        """Sort by sample, keeping the order within each."""
        if not self._rows:
            nothing = np.zeros((0, _HEAD), dtype=np.int32)
            counts = np.zeros(self._samples, dtype=np.int32)
            return Effects(nothing, no_numbers(0), counts)
        rows = np.concatenate(self._rows)
        order = np.argsort(rows, kind="stable")
        heads = np.concatenate(self._heads)[order]
        if self._joins:
            _join(heads, rows[order])
        return Effects(
            heads,
            np.concatenate(self._numbers)[order],
            np.bincount(rows, minlength=self._samples).astype(np.int32),
        )


def _join(heads: npt.NDArray[np.int32], rows: Ints) -> None:
    """Let tables wait for an effect on colour that follows them in the same sample and step."""
    kinds, steps, waits = heads[:, 0], heads[:, 1], heads[:, 4]
    follows = np.zeros(len(rows), dtype=np.bool_)
    follows[:-1] = (rows[1:] == rows[:-1]) & (steps[1:] == steps[:-1]) & IS_COLOUR[kinds[1:]]
    waits |= follows & IS_TABLE[kinds]
