"""Epochs of batches whose samples share a bucket, for any number of ranks.

In each step all ranks together take the next samples of one bucket, so that each has a batch of
the same size. Samples are shuffled within their bucket, and the steps of all buckets among each
other, by keyed permutations: an epoch is a function of (seed, epoch, position) like all others.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError
from penstock.geometry import Ints, Sizes
from penstock.loading.sampler import Order, at_many
from penstock.loading.selection import Picked
from penstock.rng import REPEAT_SHIFT

WHERE = "BucketBatches"


@dataclass(frozen=True, slots=True, eq=False)
class BucketTable:
    """Which samples are in which bucket."""

    length: int  # of the data set
    sizes: Sizes  # of the buckets that have samples
    counts: Ints  # samples of each bucket
    members: npt.NDArray[np.uint32]  # samples, those of a bucket together
    times: npt.NDArray[np.uint32] | None  # how often each was listed before; None: never
    too_small: int  # samples left out because their bucket would enlarge them
    unreadable: Ints  # samples left out because their size cannot be read

    @property
    def firsts(self) -> Ints:
        """Where the members of each bucket begin."""
        firsts: Ints = np.cumsum(self.counts) - self.counts
        return firsts


@dataclass(frozen=True)
class Budget:
    """How much a batch may have: pixels, or tokens of a patch's size."""

    most: int
    patch_px: tuple[int, int]  # (1, 1) for pixels
    unit: str

    def batch_sizes(self, sizes: Sizes) -> Ints:
        """How many images of each bucket fit; LoaderError if some bucket fits not even once."""
        height, width = self.patch_px
        each = -(-sizes.height // height) * -(-sizes.width // width)
        if (each > self.most).any():
            worst = int(each.argmax())
            raise LoaderError(
                f"{WHERE}: one image of bucket {sizes[worst]} has {each[worst]:,} {self.unit}, but "
                f"a batch may have {self.most:,}. Raise {self.unit}=, or leave that bucket out."
            )
        most: Ints = self.most // each
        return most


class BucketSelection:
    """Chooses the batches of every epoch for so many ranks."""

    def __init__(
        self,
        table: BucketTable,
        *,
        budget: Budget | None,
        batch_size: int,
        world_size: int,
        drop_last: bool,
        shuffle: bool,
        seed: int,
    ) -> None:
        self.table = table
        self.world_size = world_size
        self.shuffle = shuffle
        self.seed = seed
        self._budget = budget
        self._drop_last = drop_last
        self.batch_sizes = (
            np.full(len(table.counts), batch_size, dtype=np.int64)
            if budget is None
            else budget.batch_sizes(table.sizes)
        )
        in_step = self.batch_sizes * world_size
        self.full_steps, rests = np.divmod(table.counts, in_step)
        self.rests = np.zeros_like(rests) if drop_last else rests
        self.last_counts = -(-self.rests // world_size)  # of each rank, in a bucket's last step
        self.steps = self.full_steps + (self.rests > 0)
        self._left_over = int((rests - self.rests).sum())
        if not self.batches:
            raise LoaderError(
                f"{WHERE}: drop_last=True leaves no batch: the largest bucket has "
                f"{int(table.counts.max()):,} samples, and {int(in_step.min()):,} make a step of "
                f"{world_size} rank{'' if world_size == 1 else 's'}. Lower batch_size, or use "
                "drop_last=False."
            )

    def __len__(self) -> int:
        own = self.full_steps * self.batch_sizes + self.last_counts
        return int(own.sum()) * self.world_size

    @property
    def listed(self) -> int:
        """How many samples take part, whatever the number of ranks."""
        return len(self.table.members)

    @property
    def unreadable(self) -> Ints:
        """Samples that are left out because their files cannot be read."""
        return self.table.unreadable

    @property
    def batches(self) -> int:
        """How many batches each rank has in an epoch."""
        return int(self.steps.sum())

    @property
    def batch_counts(self) -> tuple[int, ...]:
        """How many samples batches of one rank have, each number once, the largest first."""
        full = self.batch_sizes[self.full_steps > 0]
        counts = np.unique(np.concatenate([full, self.last_counts[self.rests > 0]]))
        return tuple(counts[::-1].tolist())

    @property
    def most_in_batch(self) -> int:
        """How many samples a batch may have, whatever the number of ranks."""
        return int(self.batch_sizes.max())

    @property
    def batch_shape(self) -> int:
        """A number that differs where the ranks together take other samples in a step."""
        in_step = self.batch_sizes * self.world_size
        return zlib.crc32(in_step.tobytes(), int(self._drop_last))

    def shared(self, batch_size: int, world_size: int) -> BucketSelection:
        """Return the same buckets for batches of this size on so many ranks.

        Another size than that of the largest batch replaces a budget.
        """
        return BucketSelection(
            self.table,
            budget=self._budget if batch_size == self.most_in_batch else None,
            batch_size=batch_size,
            world_size=world_size,
            drop_last=self._drop_last,
            shuffle=self.shuffle,
            seed=self.seed,
        )

    def epoch(self, number: int) -> BucketEpoch:
        """Return the batches of one epoch."""
        return BucketEpoch(self, number)

    def describe(self) -> str:
        """Return what becomes of the samples, on one line."""
        twice = int((self.last_counts * self.world_size - self.rests).sum())
        left_out = [
            f"{count:,} {why}"
            for count, why in (
                (self.table.too_small, "left out as too small"),
                (len(self.table.unreadable), "left out as unreadable"),
                (self._left_over, "left over in each epoch"),
                (twice, "come twice, to divide among the ranks"),
            )
            if count
        ]
        buckets = _told(len(self.table.counts), "bucket")
        return ", ".join([f"{_told(self.listed, 'sample')} in {buckets}", *left_out])

    def rows(self) -> list[str]:
        """Return a line for each bucket: its size, samples, steps and batch size."""
        columns = (self.table.counts, self.batch_sizes, self.steps)
        return [
            f"{self.table.sizes[row]}: {_told(count, 'sample')}, {_told(steps, 'step')} with "
            f"batches of {size:,}"
            for row, (count, size, steps) in enumerate(zip(*columns, strict=True))
        ]

    def allowed(self) -> Ints | None:
        """Return the samples in all buckets."""
        return np.unique(self.table.members).astype(np.int64)

    def fingerprint(self) -> int:
        """Return a checksum of the buckets and their samples."""
        table = self.table
        sides = table.sizes.height.tobytes() + table.sizes.width.tobytes()
        return zlib.crc32(table.members.tobytes() + table.counts.tobytes() + sides, 3)


class BucketEpoch:
    """The batches of one epoch; also says where each of them ends."""

    def __init__(self, selection: BucketSelection, number: int) -> None:
        self._selection = selection
        self._number = number
        order = Order(selection.batches, selection.seed, number, selection.shuffle)
        steps = order.at(np.arange(selection.batches))
        ends = np.cumsum(selection.steps)
        self.buckets = np.searchsorted(ends, steps, side="right").astype(np.int32)
        self._in_bucket = steps - (ends - selection.steps)[self.buckets]
        is_full = self._in_bucket < selection.full_steps[self.buckets]
        counts = np.where(
            is_full, selection.batch_sizes[self.buckets], selection.last_counts[self.buckets]
        )
        self.starts: Ints = np.concatenate([[0], np.cumsum(counts)])  # of a rank's samples

    def __len__(self) -> int:
        return self.total * self._selection.world_size

    @cached_property
    def total(self) -> int:
        """This rank's samples in all batches together."""
        return int(self.starts[-1])

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return len(self.starts) - 1

    def start_of_batch(self, batch: int) -> int:
        """Return how many samples come before this batch."""
        return int(self.starts[batch])

    def batch_at(self, start: int) -> int:
        """Return how many batches end at or before this sample."""
        return int(np.searchsorted(self.starts, start, side="right")) - 1

    def end_of_batch(self, start: int) -> int:
        """Return where the batch that begins with this sample ends."""
        return int(self.starts[self.batch_at(start) + 1])

    def at(self, positions: Ints) -> Picked:
        """Return what comes at these positions, of all ranks together."""
        selection, table = self._selection, self._selection.table
        steps = np.searchsorted(self.starts, positions // selection.world_size, side="right") - 1
        buckets = self.buckets[steps].astype(np.int64)
        before = self._in_bucket[steps] * selection.batch_sizes[buckets] * selection.world_size
        within = before + positions - self.starts[steps] * selection.world_size
        counts = table.counts[buckets]
        within %= counts  # what is lacking in a last step comes from the bucket's start
        if selection.shuffle:  # turn 0 is the order of the steps
            within = at_many(within, counts, 1 + buckets, selection.seed, self._number)
        members = table.firsts[buckets] + within
        samples = table.members[members].astype(np.int64)
        if table.times is None:
            return Picked(samples, samples)
        return Picked(samples, samples | table.times[members].astype(np.int64) << REPEAT_SHIFT)


def _told(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
