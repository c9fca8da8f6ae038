"""Classes equally often: an epoch takes as many samples of a rare class as of a common one."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError
from penstock.geometry import Floats, Ints
from penstock.loading.sampler import Order, at_many
from penstock.loading.sampling.asked import Asked, check_room, samples_in_epoch
from penstock.loading.sampling.sampling import Sampling
from penstock.loading.selection import EpochOrder, Picked, Selection, repeats
from penstock.rng import ORDER_STREAM, REPEAT_SHIFT, Draws

_WHERE = "ClassBalanced"


@dataclass(frozen=True)
class ClassBalanced(Sampling):
    """Takes every class equally often in an epoch, by the labels of samples.

    `power` says how far: 1 is equally often, 0 leaves classes as frequent as they are, and 0.5
    takes them by the square root of their numbers. An epoch has `samples_per_epoch` samples, or as
    many as take part. The numbers are exact to one sample per class; within a class, no sample
    comes again before all others have come. Samples and classes are always shuffled.
    """

    power: float = 1.0
    samples_per_epoch: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.power, bool) or not isinstance(self.power, (int, float)):
            raise LoaderError(f"{_WHERE}: power must be a number, got {self.power!r}.")
        if not 0 <= self.power <= 1:
            raise LoaderError(
                f"{_WHERE}: power must be between 0 (as they are) and 1 (equally often), got "
                f"{self.power!r}."
            )

    def select(self, asked: Asked) -> Selection:
        """Return the samples of every epoch, by class."""
        check_room(_WHERE, asked.facts.length)
        count = samples_in_epoch(_WHERE, self.samples_per_epoch, asked)
        check_room(_WHERE, count)
        labels = asked.facts.class_numbers(_WHERE)[asked.samples]
        order = np.argsort(labels, kind="stable")
        _, sizes = np.unique(labels, return_counts=True)
        # Rounded, so that the last bit of a machine's power function decides nothing.
        shares = np.round(sizes.astype(np.float64) ** (1 - self.power), 9)
        times = None if asked.indices is None else repeats(asked.indices)
        return BalancedSelection(
            length=asked.facts.length,
            members=asked.samples[order].astype(np.uint32),
            times=None if times is None else times[order],
            sizes=sizes.astype(np.int64),
            quotas=shares * (count / shares.sum()),
            count=count,
            seed=asked.seed,
        )


@dataclass(frozen=True, slots=True, eq=False)
class BalancedSelection:
    """The samples of each class, and how many of them an epoch has on average."""

    length: int  # of the data set
    members: npt.NDArray[np.uint32]  # samples, those of a class together
    times: Ints | None  # how often each member was listed before; None: never
    sizes: Ints  # members of each class
    quotas: Floats  # samples of each class in an epoch, not rounded
    count: int
    seed: int

    def __len__(self) -> int:
        return self.count

    def epoch(self, number: int) -> EpochOrder:
        """Return the samples of one epoch."""
        return _BalancedEpoch(self, number)

    def describe(self) -> str:
        """Return how many samples of how many classes."""
        least, most = f"{self.quotas.min():,.4g}", f"{self.quotas.max():,.4g}"
        times = most if least == most else f"{least} to {most}"
        return f"{self.count:,} samples in an epoch, {times} of each of {len(self.sizes):,} classes"

    def allowed(self) -> Ints | None:
        """Return the samples of all classes."""
        return np.unique(self.members).astype(np.int64)

    def fingerprint(self) -> int:
        """Return a checksum of the classes and their shares."""
        shares = np.round(self.quotas * 1e6).astype(np.int64)
        return zlib.crc32(self.members.tobytes() + self.sizes.tobytes() + shares.tobytes(), 1)


class _BalancedEpoch:
    def __init__(self, selection: BalancedSelection, number: int) -> None:
        self._selection = selection
        self._number = number
        self.counts = _round_quotas(selection.quotas, selection.count, selection.seed, number)
        self._ends = np.cumsum(self.counts)
        self._firsts = np.cumsum(selection.sizes) - selection.sizes
        self._order = Order(selection.count, selection.seed, number, shuffle=True)

    def __len__(self) -> int:
        return self._selection.count

    def at(self, positions: Ints) -> Picked:
        """Return what comes at these positions."""
        selection = self._selection
        places = self._order.at(positions)
        classes = np.searchsorted(self._ends, places, side="right")
        sizes = selection.sizes[classes]
        passes, within = np.divmod(places - (self._ends - self.counts)[classes], sizes)
        turns = 1 + classes + passes * len(selection.sizes)  # 0 is the order of the epoch
        drawn = at_many(within, sizes, turns, selection.seed, self._number)
        members = self._firsts[classes] + drawn
        samples = selection.members[members].astype(np.int64)
        if selection.times is not None:
            passes = selection.times[members] + passes * (int(selection.times.max()) + 1)
        return Picked(samples, samples | passes << REPEAT_SHIFT)


def _round_quotas(quotas: Floats, count: int, seed: int, epoch: int) -> Ints:
    """Whole numbers that are at most one off and add up to `count`; their means are the quotas.

    What the whole parts leave over is dealt by systematic sampling, with the classes in an order
    of their own and another start in every epoch.
    """
    whole = np.floor(quotas + 1e-9).astype(np.int64)
    left_over = count - int(whole.sum())
    classes = Order(len(quotas), seed, epoch, shuffle=True, turn=1 << 40).at(np.arange(len(quotas)))
    rests = np.maximum(quotas - whole, 0)[classes]
    if left_over == 0 or not rests.any():
        return whole
    ends = np.cumsum(rests) * (left_over / rests.sum())
    start = Draws(seed, epoch, np.array([1 << 40]), ORDER_STREAM).uniform()[0]
    passed = np.floor(ends - start + 1e-9).astype(np.int64) + 1  # marks at start, start + 1, ...
    passed = np.minimum(np.maximum(passed, 0), left_over)
    passed[-1] = left_over
    whole[classes] += np.diff(passed, prepend=0)
    return whole
