"""Samples drawn by weight, as torch's WeightedRandomSampler does, keyed by seed and epoch."""

from __future__ import annotations

import zlib
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import LoaderError
from penstock.geometry import Floats, Ints
from penstock.loading.sampling.asked import Asked, samples_in_epoch
from penstock.loading.sampling.sampling import Sampling
from penstock.loading.selection import EpochOrder, Picked, Selection, repeats
from penstock.rng import ORDER_STREAM, REPEAT_SHIFT, Draws

_MOST_DRAWN = 1 << (REPEAT_SHIFT - 1)  # samples, and draws: keys count both


@dataclass(frozen=True, eq=False)
class Weighted(Sampling):
    """Draws samples by weight; `Loader(weights=...)` is short for it.

    `weights` has one number per sample, or per index where the loader has `indices`. An epoch has
    `samples_per_epoch` draws, or as many as samples take part. With `replacement` each is drawn
    from all samples; without, a sample comes at most once.
    """

    weights: Any
    replacement: bool = True
    samples_per_epoch: int | None = None

    def select(self, asked: Asked) -> Selection:
        """Return the draws of every epoch."""
        count = samples_in_epoch("Loader", self.samples_per_epoch, asked)
        indices, length = asked.indices, asked.facts.length
        rates = _read_weights(self.weights, asked.listed, by_index=indices is not None)
        possible = int(np.count_nonzero(rates))
        if self.replacement and max(length, count) >= _MOST_DRAWN:
            raise LoaderError(f"Loader: weights are for up to {_MOST_DRAWN:,} samples.")
        if not self.replacement and indices is not None and repeats(indices) is not None:
            raise LoaderError(
                "Loader: replacement=False draws each sample at most once, but indices name some "
                "several times. Name each once, or use replacement=True."
            )
        if not self.replacement and count > possible:
            raise LoaderError(
                f"Loader: an epoch of {count:,} samples cannot be drawn without replacement from "
                f"{possible:,} whose weight is above 0. Lower samples_per_epoch, or use "
                "replacement=True."
            )
        return WeightedSelection(length, indices, rates, count, self.replacement, asked.seed)


@dataclass(frozen=True, slots=True)
class WeightedSelection:
    """Samples drawn by weight: every position on its own, or without replacement.

    Without replacement the order is that of exponential variables with the weights as rates
    (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006), which is the
    distribution of drawing one after the other.
    """

    length: int  # of the data set
    indices: Ints | None
    weights: Floats
    count: int
    replacement: bool
    seed: int

    def __len__(self) -> int:
        return self.count

    def epoch(self, number: int) -> EpochOrder:
        """Return the draws of this epoch."""
        return _Replaced(self, number) if self.replacement else _DrawnOnce(self, number)

    def describe(self) -> str:
        """Return how many are drawn of how many."""
        drawn = "with" if self.replacement else "without"
        return f"{self.count:,} of {len(self.weights):,} samples by weight, {drawn} replacement"

    def allowed(self) -> Ints | None:
        """Return the samples whose weight is above 0."""
        return np.unique(self.sample_of(np.flatnonzero(self.weights)))

    def fingerprint(self) -> int:
        """Return a checksum of the weights and the samples they belong to."""
        listed = b"" if self.indices is None else self.indices.tobytes()
        return zlib.crc32(self.weights.tobytes() + listed, int(self.replacement))

    def sample_of(self, places: Ints) -> Ints:
        """Return the samples that these weights belong to."""
        return places if self.indices is None else self.indices[places]


class _Replaced:
    def __init__(self, weighted: WeightedSelection, number: int) -> None:
        self._weighted = weighted
        self._number = number
        self._sums = np.cumsum(weighted.weights)
        self._last = int(np.flatnonzero(weighted.weights)[-1])

    def __len__(self) -> int:
        return self._weighted.count

    def at(self, positions: Ints) -> Picked:
        units = Draws(self._weighted.seed, self._number, positions, ORDER_STREAM).uniform()
        found = np.searchsorted(self._sums, units * self._sums[-1], side="right")
        samples = self._weighted.sample_of(np.minimum(found, self._last))
        return Picked(samples, samples | (positions + 1) << REPEAT_SHIFT)


class _DrawnOnce:
    def __init__(self, weighted: WeightedSelection, number: int) -> None:
        self._weighted = weighted
        places = np.arange(len(weighted.weights), dtype=np.int64)
        units = Draws(weighted.seed, number, places, ORDER_STREAM).uniform()
        with np.errstate(divide="ignore"):
            arrivals = -np.log1p(-units) / weighted.weights
        arrivals[weighted.weights == 0] = np.inf
        self._order = np.argsort(arrivals, kind="stable")[: weighted.count]

    def __len__(self) -> int:
        return self._weighted.count

    def at(self, positions: Ints) -> Picked:
        samples = self._weighted.sample_of(self._order[positions])
        return Picked(samples, samples)


def _read_weights(weights: Any, available: int, *, by_index: bool) -> Floats:
    if isinstance(weights, (AbstractSet, dict, str, bytes)):
        raise LoaderError(
            f"Loader: weights must be a list or an array, one number per sample, got a "
            f"{type(weights).__name__}."
        )
    try:
        given = np.asarray(weights if hasattr(weights, "__array__") else list(weights), np.float64)
    except (TypeError, ValueError) as error:
        raise LoaderError(f"Loader: weights cannot be read as numbers ({error}).") from error
    what = "index" if by_index else "sample"
    if given.shape != (available,):
        raise LoaderError(
            f"Loader: weights have shape {given.shape}, but there are {available:,} to choose "
            f"from. Give one weight per {what}."
        )
    wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if len(wrong) or not given.any():
        value = given[wrong[0]] if len(wrong) else 0
        place = f"weight {wrong[0]:,} is {value}" if len(wrong) else "all weights are 0"
        raise LoaderError(
            f"Loader: {place}. Weights must be finite, 0 or more, and some of them above 0."
        )
    return given
