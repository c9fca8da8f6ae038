"""Measures what each unit of work costs on this machine, in seconds, on pictures made for it.

Trials run on the core alone, a part of equal pictures at a time; some more measure what files,
records, Pillow and Python take. All take turns for a few rounds, and the median time of each
counts, which a disturbance in some of the rounds does not move. Prices are those, none below zero,
that come nearest to all times.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from penstock.costs.trial_runs import all_runs
from penstock.geometry import Floats
from penstock.planner.prices import Prices
from penstock.usable_cores import pinned_to

if TYPE_CHECKING:
    from typing_extensions import Self

Clock = Callable[[], float]  # seconds
Progress = Callable[[int, int], None]  # rounds that are done, and all

# As many rounds as fit into the time, but enough of them to tell a time from a disturbance.
_MOST_ROUNDS, _LEAST_ROUNDS = 5, 2
_SECONDS = 5.0  # of the core
_PASSING_S = 6.5  # for whoever waits, if others use the core too


@dataclass(frozen=True, slots=True)
class Measured:
    """A piece of work that was timed."""

    name: str
    amounts: Floats  # by unit, of all samples together
    seconds: float


def calibrate(progress: Progress | None = None, clock: Clock = time.process_time) -> Prices:
    """Measure this machine's prices, on one core; takes less than ten seconds on most."""
    began, began_passing = clock(), time.perf_counter()
    with Calibration(clock) as calibration:
        for number in range(_MOST_ROUNDS):
            is_late = time.perf_counter() - began_passing > _PASSING_S
            if number >= _LEAST_ROUNDS and (is_late or clock() - began > _SECONDS):
                break
            calibration.run_round()
            if progress is not None:
                progress(number + 1, _MOST_ROUNDS)
        return fit(calibration.measured())


class Calibration:
    """Runs the trials, in as many rounds as are asked for."""

    def __init__(self, clock: Clock = time.process_time) -> None:
        self._clock = clock
        self._folder = tempfile.TemporaryDirectory()
        self._runs = list(all_runs(Path(self._folder.name)))
        self._seconds: list[list[float]] = []  # by round

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._runs.clear()  # so that no loader has files open any more
        self._folder.cleanup()

    def run_round(self) -> None:
        """Run and time every trial once."""
        spent = []
        with pinned_to(1):
            for run in self._runs:
                started = self._clock()
                run.go()
                spent.append(self._clock() - started)
        self._seconds.append(spent)

    def measured(self) -> list[Measured]:
        """What each trial took, over the rounds so far."""
        return [
            Measured(run.name, run.amounts, float(seconds))
            for run, seconds in zip(self._runs, np.median(self._seconds, axis=0), strict=True)
        ]


def fit(measured: list[Measured]) -> Prices:
    """The prices that explain the times best, each time by its share of error."""
    amounts = np.stack([one.amounts for one in measured])
    nanoseconds = np.maximum(1.0, 1e9 * np.array([one.seconds for one in measured]))
    prices = _least_squares(amounts / nanoseconds[:, None], np.ones(len(measured)))
    return Prices(prices, "prices measured on this machine")


def _least_squares(matrix: Floats, wanted: Floats) -> Floats:
    """The x >= 0 for which matrix @ x comes nearest to `wanted` (Lawson and Hanson's method)."""
    scale = np.sqrt((matrix**2).sum(axis=0))
    used = scale > 0
    columns = matrix[:, used] / scale[used]
    x = np.zeros(columns.shape[1])
    free = np.zeros(len(x), dtype=np.bool_)
    for _ in range(10 * len(x)):
        slope = columns.T @ (wanted - columns @ x)
        slope[free] = 0
        best = int(np.argmax(slope))
        if slope[best] < 1e-10:
            break
        free[best] = True
        while True:
            trial = np.zeros(len(x))
            trial[free] = np.linalg.lstsq(columns[:, free], wanted, rcond=None)[0]
            below = free & (trial <= 0)
            if not below.any():
                x = trial
                break
            step = (x[below] / (x[below] - trial[below])).min()
            x = x + step * (trial - x)
            free &= x > 1e-15
            x[~free] = 0
    found = np.zeros(len(scale))
    found[used] = x / scale[used]
    return found
