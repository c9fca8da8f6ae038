"""Which samples an epoch has, in which order, and under which keys their draws are made.

Everything is a function of (seed, epoch, position), so any number of ranks and any resumed run
see the same epoch.
"""

from __future__ import annotations

import zlib
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError
from penstock.geometry import Floats, Ints
from penstock.loading.sampler import Order
from penstock.rng import ORDER_STREAM, REPEAT_SHIFT, Draws

_MOST_REPEATED = 1 << REPEAT_SHIFT  # samples whose keys leave room for a count of repeats


@dataclass(frozen=True, slots=True)
class Picked:
    """Some positions of an epoch: the samples there, and the keys of their random draws.

    A sample that comes several times in an epoch has another key each time, so that it is
    augmented anew.
    """

    samples: Ints
    keys: Ints


class EpochOrder(Protocol):
    """The samples of one epoch, by position."""

    def __len__(self) -> int:
        """Return the number of samples in the epoch, of all ranks together."""
        ...

    def at(self, positions: Ints) -> Picked:
        """Return what comes at these positions."""
        ...


class Selection(Protocol):
    """Chooses the samples of every epoch."""

    def __len__(self) -> int:
        """Return the number of samples in an epoch, of all ranks together."""
        ...

    def epoch(self, number: int) -> EpochOrder:
        """Return the samples of one epoch."""
        ...

    def describe(self) -> str:
        """Return what is chosen of the data set, for `repr`; empty if that is all of it."""
        ...

    def allowed(self) -> Ints | None:
        """Return the samples that may come in an epoch, ascending; None if all of them may."""
        ...

    def fingerprint(self) -> int:
        """Return a number that differs for other choices; 0 for the whole data set."""
        ...


@dataclass(frozen=True, slots=True)
class Chosen:
    """Samples that come as often as they are listed; None lists each once.

    `count` is the length of an epoch: a part of a pass over the list, or several passes.
    """

    length: int  # of the data set
    indices: Ints | None
    times: Ints | None  # how often each entry's sample was listed before; None: never
    count: int
    shuffle: bool
    seed: int

    def __len__(self) -> int:
        return self.count

    @property
    def listed(self) -> int:
        """How many samples one pass over the list has."""
        return self.length if self.indices is None else len(self.indices)

    def epoch(self, number: int) -> EpochOrder:
        """Return the list of this epoch, shuffled by its own key."""
        return _ChosenEpoch(self, number)

    def describe(self) -> str:
        """Return how many of how many."""
        words = [] if self.indices is None else [f"{self.listed:,} of {self.length:,} samples"]
        if self.count != self.listed:
            words.append(f"{self.count:,} in an epoch")
        return ", ".join(words)

    def allowed(self) -> Ints | None:
        """Return the samples in the list."""
        return None if self.indices is None else np.unique(self.indices)

    def fingerprint(self) -> int:
        """Return a checksum of the list; 0 without one."""
        return 0 if self.indices is None else zlib.crc32(self.indices.tobytes())


class _ChosenEpoch:
    def __init__(self, chosen: Chosen, number: int) -> None:
        self._chosen = chosen
        self._first = Order(chosen.listed, chosen.seed, number, chosen.shuffle)
        self._number = number

    def __len__(self) -> int:
        return self._chosen.count

    def at(self, positions: Ints) -> Picked:
        chosen = self._chosen
        turns = positions // chosen.listed
        if not turns.any():
            places = self._first.at(positions)
        else:
            places = np.empty_like(positions)
            for turn in np.unique(turns).tolist():
                here = turns == turn
                order = Order(chosen.listed, chosen.seed, self._number, chosen.shuffle, turn)
                places[here] = order.at(positions[here] % chosen.listed)
        samples = places if chosen.indices is None else chosen.indices[places]
        if chosen.times is not None:
            turns = chosen.times[places] + turns * (int(chosen.times.max()) + 1)
        return Picked(samples, samples | turns << REPEAT_SHIFT)


@dataclass(frozen=True, slots=True)
class Weighted:
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
    def __init__(self, weighted: Weighted, number: int) -> None:
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
    def __init__(self, weighted: Weighted, number: int) -> None:
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


class Listed:
    """An epoch whose samples somebody else has listed."""

    def __init__(self, samples: Ints) -> None:
        self._samples = samples
        self._times = _repeats(samples)

    def __len__(self) -> int:
        return len(self._samples)

    def at(self, positions: Ints) -> Picked:
        """Return what comes at these positions."""
        samples = self._samples[positions]
        if self._times is None:
            return Picked(samples, samples)
        return Picked(samples, samples | self._times[positions] << REPEAT_SHIFT)


class Counting:
    """Keys for the samples of an epoch that somebody lists little by little.

    A sample has another key each time it comes, as in `Listed`.
    """

    def __init__(self, length: int) -> None:
        self.seen = np.zeros(length, dtype=np.int32)  # pages that are never touched cost nothing

    def pick(self, samples: Ints) -> Picked:
        """Return what comes next."""
        times = self.seen[samples].astype(np.int64)
        repeats = _repeats(samples)
        if repeats is not None:
            times += repeats
        np.add.at(self.seen, samples, 1)
        return Picked(samples, samples | times << REPEAT_SHIFT)


def select(
    length: int,
    *,
    indices: Any,
    weights: Any,
    samples_per_epoch: int | None,
    replacement: bool,
    shuffle: bool,
    seed: int,
) -> Selection:
    """Read what the user asked for; raises LoaderError where it does not fit the data set."""
    chosen = None if indices is None else _read_indices(indices, length)
    available = length if chosen is None else len(chosen)
    count = available if samples_per_epoch is None else samples_per_epoch
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise LoaderError(
            f"Loader: samples_per_epoch must be a whole number from 1 on, got {count!r}."
        )
    if weights is None:
        times = None if chosen is None else _repeats(chosen)
        return Chosen(length, chosen, times, count, shuffle, seed)
    rates = _read_weights(weights, available, by_index=chosen is not None)
    possible = int(np.count_nonzero(rates))
    if replacement and max(length, count) >= _MOST_REPEATED // 2:
        raise LoaderError(f"Loader: weights are for up to {_MOST_REPEATED // 2:,} samples.")
    if not replacement and chosen is not None and _repeats(chosen) is not None:
        raise LoaderError(
            "Loader: replacement=False draws each sample at most once, but indices name some "
            "several times. Name each once, or use replacement=True."
        )
    if not replacement and count > possible:
        raise LoaderError(
            f"Loader: an epoch of {count:,} samples cannot be drawn without replacement from "
            f"{possible:,} whose weight is above 0. Lower samples_per_epoch, or use "
            "replacement=True."
        )
    return Weighted(length, chosen, rates, count, replacement, seed)


def _read_indices(indices: Any, length: int) -> Ints:
    if isinstance(indices, (str, bytes, AbstractSet)):
        raise LoaderError(
            f"Loader: indices must be a list or an array of positions, got a "
            f"{type(indices).__name__}. Give sorted(...) of a set."
        )
    if isinstance(indices, slice):
        indices = range(*indices.indices(length))
    try:
        given = np.asarray(indices if hasattr(indices, "__array__") else list(indices))
    except (TypeError, ValueError) as error:
        raise LoaderError(f"Loader: indices cannot be read as positions ({error}).") from error
    if given.dtype == np.bool_:
        if given.shape != (length,):
            raise LoaderError(
                f"Loader: indices are {len(given):,} true or false values for {length:,} samples. "
                "Give one for each, or positions."
            )
        given = np.flatnonzero(given)
    if given.ndim != 1 or not len(given) or given.dtype.kind not in "iu":
        raise LoaderError(
            "Loader: indices must be positions, at least one whole number, got "
            f"{given.dtype} of shape {given.shape}."
        )
    outside = (given < 0) | (given >= length)
    if outside.any():
        raise LoaderError(
            f"Loader: indices name sample {given[outside][0]}, but the data set's samples are 0 "
            f"to {length - 1:,}."
        )
    positions: Ints = given.astype(np.int64)
    return positions


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


def _repeats(indices: Ints) -> npt.NDArray[np.int64] | None:
    """How often each entry's sample was listed before it; None if every sample is listed once."""
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    if first.all():
        return None
    begin = np.maximum.accumulate(np.where(first, np.arange(len(indices)), 0))
    times = np.empty(len(indices), dtype=np.int64)
    times[order] = np.arange(len(indices)) - begin
    return times
