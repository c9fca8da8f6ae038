"""How long a training loop waits for each batch, and how long it then computes."""

from __future__ import annotations

from array import array
from math import isnan
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

FIRST_CAPACITY = 4096  # steps; doubled when full, so that a step itself allocates nothing
UNKNOWN_S = float("nan")


class StepTimes:
    """Times of the steps of one loader, over all its epochs.

    Call `begin_epoch` before the loader is asked for an iterator, then `ask` before and `give`
    after each batch, or `end_epoch` where there was none left.
    """

    def __init__(self, capacity: int = FIRST_CAPACITY) -> None:
        self.steps = 0
        self.epoch_starts: list[int] = []
        self._waited_s = array("d", bytes(8 * capacity))
        self._computed_s = array("d", bytes(8 * capacity))
        self._images = array("q", bytes(8 * capacity))
        self._capacity = capacity
        self._asked_s = 0.0
        self._given_s = 0.0
        self._is_computing = False
        self._is_starting = False

    def begin_epoch(self) -> None:
        """Note that an iterator is asked for: its making is part of the wait for its first batch.

        A step that was left by `break` stays without a computing time.
        """
        self._is_computing = False
        self._is_starting = True
        self._asked_s = perf_counter()

    def ask(self) -> None:
        """Note that the loop wants its next batch."""
        if self._is_starting:
            self.epoch_starts.append(self.steps)
            self._is_starting = False
            return
        self._asked_s = perf_counter()
        if self._is_computing:
            self._computed_s[self.steps - 1] = self._asked_s - self._given_s

    def restart_wait(self) -> None:
        """Leave the time since `ask` out of the wait: it was spent on telling others."""
        self._asked_s = perf_counter()

    def give(self, images: int) -> None:
        """Note that the loop gets a batch."""
        step = self.steps
        if step == self._capacity:
            self._grow()
        self._images[step] = images
        self._computed_s[step] = UNKNOWN_S
        self.steps = step + 1
        self._is_computing = True
        self._given_s = perf_counter()
        self._waited_s[step] = self._given_s - self._asked_s

    def end_epoch(self) -> None:
        """Note that there was no batch left."""
        self._is_computing = False

    @property
    def waited_s(self) -> NDArray[np.float64]:
        """Seconds waited for each batch, as a copy."""
        return np.array(self._waited_s[: self.steps], dtype=np.float64)

    @property
    def computed_s(self) -> NDArray[np.float64]:
        """Seconds computed on each batch, as a copy; NaN where the loop never came back."""
        return np.array(self._computed_s[: self.steps], dtype=np.float64)

    @property
    def images(self) -> NDArray[np.int64]:
        """Images in each batch, as a copy."""
        return np.array(self._images[: self.steps], dtype=np.int64)

    def last_step_s(self) -> tuple[float, float]:
        """Seconds waited and computed in the step that ended last."""
        return self._waited_s[self.steps - 1], self._computed_s[self.steps - 1]

    def recent(self, steps: int) -> tuple[float, float, int]:
        """Seconds waited, seconds computed and images of the last `steps` steps that ended."""
        ended = slice(max(0, self.steps - steps), self.steps)
        computed_s = self._computed_s[ended]
        if computed_s and isnan(computed_s[-1]):  # still under way
            ended = slice(ended.start, self.steps - 1)
        return (
            sum(self._waited_s[ended]),
            sum(self._computed_s[ended]),
            sum(self._images[ended]),
        )

    def _grow(self) -> None:
        for column in (self._waited_s, self._computed_s, self._images):
            column.frombytes(bytes(8 * self._capacity))
        self._capacity *= 2
