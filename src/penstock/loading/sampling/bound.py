"""Ways of sampling as samplers and batch samplers of a torch DataLoader. Imports no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from penstock.errors import LoaderError
from penstock.loading.cuts import Cuts
from penstock.loading.ranks import Ranks, find_ranks
from penstock.loading.sampler import Shard
from penstock.loading.sampling.asked import Asked
from penstock.loading.selection import (
    BatchedSelection,
    EpochOrder,
    RankedSelection,
    Selection,
)

if TYPE_CHECKING:
    from typing_extensions import Self

ItemT = TypeVar("ItemT")

_STATE_VERSION = 1
_AT_ONCE = 1024  # samples looked up together


class Bound(ABC, Generic[ItemT]):
    """This rank's share of every epoch: `for item in bound` is one epoch, the next one another.

    `set_epoch` says which epoch comes next. `state_dict` says where it stands, after the items
    that were asked for: a DataLoader with workers asks ahead, which torchdata's
    StatefulDataLoader takes into account.
    """

    def __init__(
        self,
        select: Callable[[Asked], Selection],
        asked: Asked,
        rank: int | None,
        world_size: int | None,
    ) -> None:
        self._given = (rank, world_size)
        self._ranks = find_ranks(rank, world_size)
        self._asked = asked
        self._selection = select(replace(asked, world_size=self._ranks.world_size))
        self._begun = False
        self.listed: int | None = None  # the epoch that was begun last
        self.set_epoch(0)

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration runs."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration run `epoch` from its start."""
        if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 0:
            raise LoaderError(f"set_epoch: epoch must be a whole number from 0, got {epoch!r}.")
        self._epoch = epoch
        self._now: tuple[int, int] | None = None  # the epoch under way, and its items so far
        self._resume: tuple[int, int] | None = None  # items of all ranks, and their batch shape

    @property
    def share(self) -> tuple[int, int]:
        """Which rank this is, and of how many."""
        self._find_ranks()
        return self._ranks.rank, self._ranks.world_size

    def again(self, epoch: int, rank: int | None = None, world_size: int | None = None) -> Self:
        """Return the same for an epoch that may be over, perhaps of another rank.

        This one stays where it is.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.set_epoch(epoch)
        if (rank, world_size) != (None, None):
            own_rank, own_count = self.share
            rank = own_rank if rank is None else rank
            world_size = own_count if world_size is None else world_size
            other._take_ranks(Ranks(rank, world_size, "batch_at"))
            other._begun = True  # the ranks are settled
        return other

    @abstractmethod
    def __len__(self) -> int:
        """Return this rank's items in an epoch."""

    @abstractmethod
    def _items(self, order: EpochOrder, shard: Shard, start: int) -> Iterator[ItemT]:
        """Yield the items of an epoch from one on."""

    @abstractmethod
    def _of_all_ranks(self, items: int) -> tuple[int, int]:
        """Return a rank's number of items as one that other numbers of ranks can go on from."""

    @abstractmethod
    def _of_this_rank(self, items: int, shape: int) -> int:
        """Return the opposite."""

    def __iter__(self) -> Iterator[ItemT]:
        """Begin the next epoch with its first item."""
        return self._walk()

    def _walk(self) -> Iterator[ItemT]:
        self._find_ranks(now=True)
        self._begun = True
        start = 0 if self._resume is None else self._of_this_rank(*self._resume)
        epoch, self._resume = self._epoch, None
        self.listed = epoch
        self._epoch += 1
        order = self._selection.epoch(epoch)
        done = start
        for item in self._items(order, self._shard(), start):
            done += 1
            self._now = (epoch, done)
            yield item
        self._now = None

    def state_dict(self) -> dict[str, int]:
        """Return where it stands, in a few integers."""
        self._find_ranks()
        if self._now is not None and self._now[1] < len(self):
            epoch, (items, shape) = self._now[0], self._of_all_ranks(self._now[1])
        else:
            epoch, (items, shape) = self._epoch, self._resume or self._of_all_ranks(0)
        return {**self._identity(), "epoch": epoch, "items": items, "shape": shape}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Make the next iteration go on from a `state_dict`; LoaderError if it is another's."""
        for key, mine in self._identity().items():
            if state.get(key) != mine:
                raise LoaderError(
                    f"load_state_dict: the state was saved with {key}={state.get(key)!r}, this "
                    f"sampler has {key}={mine}; it would not go on from there."
                )
        self.set_epoch(int(state["epoch"]))
        self._resume = (int(state["items"]), int(state["shape"]))

    def describe(self) -> str:
        """Return what an epoch has, and what does not divide among the ranks."""
        self._find_ranks()
        told = self._selection.describe() or f"{len(self._selection):,} samples"
        return f"{told}; {self._ranks.describe()}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.describe()}; epoch {self.epoch:,} comes next)"

    def _identity(self) -> dict[str, int]:
        return {
            "version": _STATE_VERSION,
            "seed": self._asked.seed,
            "shuffle": int(self._asked.shuffle),
            "length": self._asked.facts.length,
            "selection": self._selection.fingerprint(),
        }

    def _shard(self) -> Shard:
        ranks = self._ranks
        return Shard(len(self._selection), ranks.rank, ranks.world_size, self._asked.drop_last)

    def _find_ranks(self, *, now: bool = False) -> None:
        """Find out which share is ours; it is fixed once an epoch has begun, as in a Loader."""
        if self._begun:
            return
        self._take_ranks(find_ranks(*self._given, now=now))

    def _take_ranks(self, found: Ranks) -> None:
        changed = found.world_size != self._ranks.world_size
        self._ranks = found
        if changed and isinstance(self._selection, RankedSelection):
            selection = self._selection
            size = selection.most_in_batch if isinstance(selection, BatchedSelection) else 1
            self._selection = selection.shared(size, found.world_size)


class BoundSampler(Bound[int]):
    """The samples of this rank, for `DataLoader(..., sampler=...)`."""

    def __len__(self) -> int:
        """Return this rank's samples in an epoch."""
        self._find_ranks()
        return len(self._shard())

    def _items(self, order: EpochOrder, shard: Shard, start: int) -> Iterator[int]:
        for first in range(start, len(shard), _AT_ONCE):
            yield from order.at(shard.positions(first, _AT_ONCE)).samples.tolist()

    def _of_all_ranks(self, items: int) -> tuple[int, int]:
        return items * self._ranks.world_size, 0

    def _of_this_rank(self, items: int, shape: int) -> int:
        del shape
        return -(-items // self._ranks.world_size)


class BoundBatches(Bound[list[int]]):
    """The batches of this rank, for `DataLoader(..., batch_sampler=...)`."""

    @property
    def _batched(self) -> BatchedSelection:
        assert isinstance(self._selection, BatchedSelection)  # noqa: S101  BucketBatches' own
        return self._selection

    def __len__(self) -> int:
        """Return the number of batches in an epoch, which is the same on all ranks."""
        self._find_ranks()
        return self._batched.batches

    def _items(self, order: EpochOrder, shard: Shard, start: int) -> Iterator[list[int]]:
        assert isinstance(order, Cuts)  # noqa: S101  as every epoch of a BatchedSelection
        first = order.start_of_batch(start)
        while first < order.total:
            end = order.end_of_batch(first)
            yield order.at(shard.positions(first, end - first)).samples.tolist()
            first = end

    def _of_all_ranks(self, items: int) -> tuple[int, int]:
        return items, self._batched.batch_shape

    def _of_this_rank(self, items: int, shape: int) -> int:
        check_shape(self._batched, items, shape)
        return items


def check_shape(selection: BatchedSelection, batches: int, shape: int) -> None:
    """Raise if a state in the middle of an epoch was saved with other batches."""
    if batches and shape != selection.batch_shape:
        raise LoaderError(
            f"load_state_dict: the state was saved after {batches:,} batches of an epoch, in which "
            "the ranks together took other numbers of samples. Keep batch_size times world_size, "
            "or go on from the start of an epoch: call set_epoch."
        )
