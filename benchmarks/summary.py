"""Medians, spreads and ratios of what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.runner import Measured


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the least and the largest value beside it."""

    median: float
    least: float
    largest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarise one value a round."""
        return cls(median(values), min(values), max(values))


def ratio_in_each_round(rates: Sequence[float], others: Sequence[float]) -> Spread:
    """Summarise rate over other rate, each taken in the same round.

    The machine's slow and fast minutes fall on both sides of such a ratio.
    """
    return Spread.of([rate / other for rate, other in zip(rates, others, strict=True)])


def find(measured: Sequence[Measured], peer: str, cores: int, layers: int = 0) -> Measured | None:
    """Return what was measured of a peer on a number of cores, if it took part."""
    wanted = (peer, cores, layers)
    return next((one for one in measured if (one.peer, one.cores, one.layers) == wanted), None)


def share_lost(one: Measured, without: Measured) -> Spread:
    """Summarise the share of the throughput `without` that is missing, round by round."""
    kept = ratio_in_each_round(one.images_per_s, without.images_per_s)
    return Spread(1 - kept.median, 1 - kept.largest, 1 - kept.least)
