"""Which samples an epoch has, in which order, and under which keys their draws are made.

Everything is a function of (seed, epoch, position), so any number of ranks and any resumed run
see the same epoch.
"""

from __future__ import annotations

import zlib
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.sampler import Order
from penstock.loading.stretch import Stretch
from penstock.rng import REPEAT_SHIFT


@dataclass(frozen=True, slots=True)
class Picked:
    """Some positions of an epoch: the samples there, and the keys of their random draws.

    A sample that comes several times in an epoch has another key each time, so that it is
    augmented anew.
    """

    samples: Ints
    keys: Ints
    stretch: Stretch | None = None  # what they are a piece of, where that is known beforehand
    first: int = 0  # place of the first of them in it


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


@runtime_checkable
class RankedSelection(Selection, Protocol):
    """A selection whose epochs depend on how many ranks share them."""

    @property
    def listed(self) -> int:
        """How many samples take part, whatever the number of ranks."""
        ...

    def shared(self, batch_size: int, world_size: int) -> RankedSelection:
        """Return the same selection for batches of this size on so many ranks."""
        ...


@runtime_checkable
class BatchedSelection(RankedSelection, Protocol):
    """A selection that also decides where batches end: its epochs are `Cuts`."""

    @property
    def unreadable(self) -> Ints:
        """Samples that are left out because their files cannot be read."""
        ...

    @property
    def batches(self) -> int:
        """How many batches each rank has in an epoch."""
        ...

    @property
    def batch_counts(self) -> tuple[int, ...]:
        """How many samples batches of one rank have, each number once, the largest first."""
        ...

    @property
    def most_in_batch(self) -> int:
        """How many samples a batch may have, whatever the number of ranks."""
        ...

    @property
    def batch_shape(self) -> int:
        """A number that differs where the ranks together take other samples in a step."""
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


class Listed:
    """An epoch whose samples somebody else has listed."""

    def __init__(self, samples: Ints) -> None:
        self._samples = samples
        self._times = repeats(samples)

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
        before = repeats(samples)
        if before is not None:
            times += before
        np.add.at(self.seen, samples, 1)
        return Picked(samples, samples | times << REPEAT_SHIFT)


def read_indices(indices: Any, length: int) -> Ints:
    """Read positions of samples, or one true or false value per sample."""
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


def repeats(indices: Ints) -> npt.NDArray[np.int64] | None:
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
