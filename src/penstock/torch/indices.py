"""The samples of an epoch, batch by batch, as a torch sampler lists them."""

from __future__ import annotations

import copy
import operator
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch.utils import data as torch_data
from torch.utils.data import Subset

from penstock.errors import LoaderError, SampleIndexError
from penstock.geometry import Ints
from penstock.loading.selection import Counting, Picked
from penstock.torch.dataset import Dataset

_OTHER_DATASET = (
    "Give a penstock.torch.Dataset, a Subset of one, or the path of a data set. For others, "
    "penstock.accelerate(torch.utils.data.DataLoader(...)) translates a whole loader; or stay with "
    "torch's DataLoader."
)


def is_data(dataset: Any) -> bool:
    """Whether it is a data set as `penstock.Loader` takes it: a path, a list of files, a Source."""
    if isinstance(dataset, torch_data.Dataset):
        return False
    return isinstance(dataset, (str, bytes, os.PathLike, list, tuple)) or hasattr(
        dataset, "describe"
    )


def unwrap(dataset: Any) -> tuple[Dataset, Ints | None]:
    """Return the Dataset of ours, and where in it the samples are; None if they are all of it."""
    if isinstance(dataset, Dataset):
        return dataset, None
    kind = type(dataset)
    if (
        isinstance(dataset, Subset)
        and kind.__getitem__ is Subset.__getitem__
        and kind.__getitems__ is Subset.__getitems__
    ):
        whole, within = unwrap(dataset.dataset)
        chosen = np.array([_whole_number(index) for index in dataset.indices], dtype=np.int64)
        length = len(whole) if within is None else len(within)
        positions = _positions(chosen, length)
        return whole, positions if within is None else within[positions]
    raise LoaderError(
        f"DataLoader: samples of a {kind.__name__} cannot be made natively. {_OTHER_DATASET}"
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A batch that was asked for, and how its sampler stood then."""

    samples: Ints
    sampler: Any


class EpochIndices(Iterator[Picked]):
    """Reads what a sampler lists, some batches before they are delivered.

    Where the sampler has a `state_dict`, that is asked for after each batch; `before` is the first.
    """

    def __init__(
        self,
        listed: Iterator[Any],
        dataset: Dataset,
        within: Ints | None,
        stateful: Any,
        *,
        single: bool,
        before: Any = None,
    ) -> None:
        self._listed = listed
        self._within = within  # None: the whole data set
        self._length = len(dataset) if within is None else len(within)
        self._stateful = stateful
        self._single = single  # whether the sampler lists samples, not batches
        self._counting = Counting(len(dataset))
        self._ahead: deque[_Asked] = deque()  # not known to be delivered
        self._delivered = 0
        self._first: Picked | None = None  # asked for already
        self._last_state = before  # of the sampler, after what was delivered

    def __next__(self) -> Picked:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return self._ask()

    def ask_first(self) -> None:
        """Ask for the first batch now; it comes in its turn."""
        self._first = next(self, None)

    def _ask(self) -> Picked:
        listed = next(self._listed)
        picked = self._counting.pick(self._read([listed] if self._single else listed))
        if self._stateful is not None:
            state = copy.deepcopy(self._stateful.state_dict())
            self._ahead.append(_Asked(picked.samples, state))
        return picked

    @property
    def is_stateful(self) -> bool:
        """Whether the sampler can say how it stands."""
        return self._stateful is not None

    def skip(self, batches: int) -> None:
        """Leave out what was delivered before."""
        for number in range(batches):
            if next(self, None) is None:
                raise LoaderError(
                    f"DataLoader.load_state_dict: {batches:,} batches were delivered, but the "
                    f"sampler lists only {number:,} now. Use the sampler that the state was saved "
                    "with."
                )
        self._ahead.clear()

    def count_on(self, seen: Any) -> None:
        """Count on from how often each sample had come."""
        self._counting.seen[:] = np.asarray(seen)

    def state_after(self, batches: int) -> tuple[Any, Ints]:
        """How the sampler stood after so many batches of this iterator, and what had come then."""
        while self._delivered < batches and self._ahead:
            self._last_state = self._ahead.popleft().sampler
            self._delivered += 1
        seen = self._counting.seen.astype(np.int64)
        for asked in self._ahead:
            np.subtract.at(seen, asked.samples, 1)
        return self._last_state, seen

    def _read(self, listed: Iterable[Any]) -> Ints:
        given = np.array([_whole_number(index) for index in listed], dtype=np.int64)
        if not len(given):
            raise LoaderError("DataLoader: the batch sampler lists a batch without samples.")
        positions = _positions(given, self._length)
        return positions if self._within is None else self._within[positions]


def _whole_number(index: Any) -> int:
    try:
        return operator.index(index)
    except TypeError as error:
        raise LoaderError(
            f"DataLoader: a sampler must list whole numbers, got {type(index).__name__}."
        ) from error


def _positions(given: Ints, length: int) -> Ints:
    outside = (given < -length) | (given >= length)
    if outside.any():
        raise SampleIndexError(
            f"DataLoader: a sampler lists sample {given[outside][0]} of {length:,}."
        )
    return np.where(given < 0, given + length, given)
