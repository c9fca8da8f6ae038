"""From records of effects, one a sample, to each sample's own list of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.geometry import Bools, Ints
from penstock.transforms.effects import EffectMove, no_numbers


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a batch, sample by sample, each in the order in which they are done."""

    heads: npt.NDArray[np.int32]  # (effects, 4): effect, step that it follows, height, width
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


class EffectList:
    """Collects effects move by move."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._rows: list[Ints] = []
        self._heads: list[Ints] = []
        self._numbers: list[npt.NDArray[np.float64]] = []

    def add(self, move: EffectMove, present: Bools, after_steps: Ints) -> None:
        """Append the effects of the samples where there is one."""
        rows = np.flatnonzero(present)
        if not len(rows):
            return
        heads = np.stack([move.effect, after_steps, move.height, move.width], axis=1)
        self._rows.append(rows)
        self._heads.append(heads[rows])
        self._numbers.append(move.numbers[rows])

    def finish(self) -> Effects:
        """Sort by sample, keeping the order within each."""
        if not self._rows:
            nothing = np.zeros((0, 4), dtype=np.int32)
            counts = np.zeros(self._samples, dtype=np.int32)
            return Effects(nothing, no_numbers(0), counts)
        rows = np.concatenate(self._rows)
        order = np.argsort(rows, kind="stable")
        return Effects(
            np.concatenate(self._heads)[order].astype(np.int32),
            np.concatenate(self._numbers)[order],
            np.bincount(rows, minlength=self._samples).astype(np.int32),
        )
