"""One rank's share of an epoch: its batches from some sample on, or any one of them by its number.

A batch is a function of the seed, the epoch and its number, so none of those before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from penstock.errors import LoaderError
from penstock.loading.cuts import Cuts, EvenCuts
from penstock.loading.options import BatchOptions
from penstock.loading.pipeline import Pipeline
from penstock.loading.sampler import Shard
from penstock.loading.selection import EpochOrder, Picked
from penstock.loading.stretch import MOST_IN_STRETCH, Stretch

_MOST_AT_ONCE = 4096  # samples that are looked up together


@dataclass(frozen=True, slots=True)
class Coming:
    """What is left of an epoch for one rank, from its sample `start` on."""

    order: EpochOrder
    shard: Shard
    cuts: Cuts
    start: int

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return max(0, self.cuts.total - self.start)

    def batches(self) -> Iterator[Picked]:
        """Yield them, batch by batch.

        The first is looked up alone, so that it comes soon; then more and more at once, since most
        of the time that looking up takes is the same for any number of samples.
        """
        begin, wanted = self.start, 1
        while begin < self.cuts.total:
            ends = [self.cuts.end_of_batch(begin)]
            while ends[-1] < self.cuts.total and ends[-1] - begin < wanted:
                ends.append(self.cuts.end_of_batch(ends[-1]))
            found = self._between(begin, ends[-1])
            yield from _in_stretches(found, [end - begin for end in ends])
            wanted = min(_MOST_AT_ONCE, 4 * (ends[-1] - begin))
            begin = ends[-1]

    def batch_count(self) -> int:
        """How many batches there are."""
        return max(0, self.cuts.batches - self.cuts.batch_at(self.start))

    def batch(self, epoch: int, number: int) -> Picked:
        """Return one batch by its number in the epoch; LoaderError if it is not there."""
        if number >= self.cuts.batches:
            raise LoaderError(
                f"batch_at: step {number:,} of epoch {epoch:,}, but the epoch has "
                f"{self.cuts.batches:,} steps. Give one from 0 to {self.cuts.batches - 1:,}."
            )
        begin = self.cuts.start_of_batch(number)
        if begin < self.start and self.cuts.start_of_batch(0):
            raise LoaderError(
                f"batch_at: step {number:,} of epoch {epoch:,} comes before sample "
                f"{self.start:,}, from which this loader went on with another batch size. Make a "
                "Loader with the batch size from before, and ask that."
            )
        return self._between(begin, self.cuts.end_of_batch(begin))

    def _between(self, begin: int, end: int) -> Picked:
        return self.order.at(self.shard.positions(begin, end - begin))


def _in_stretches(found: Picked, ends: list[int]) -> Iterator[Picked]:
    """Cut what was found into batches, which end there, as pieces of stretches."""
    begin, number = 0, 0
    while number < len(ends):
        last = number
        while last + 1 < len(ends) and ends[last + 1] - begin <= MOST_IN_STRETCH:
            last += 1
        stretch = Stretch(found.samples[begin : ends[last]], found.keys[begin : ends[last]])
        for first, end in pairwise([begin, *ends[number : last + 1]]):
            some = slice(first, end)
            yield Picked(found.samples[some], found.keys[some], stretch, first - begin)
        begin, number = ends[last], last + 1


def share_of(
    pipeline: Pipeline, batching: BatchOptions, order: EpochOrder, epoch: int, start: int
) -> Coming:
    """This rank's share of an epoch with this order, from its sample `start` on."""
    if pipeline.reusing is not None:
        order = pipeline.reusing.order(pipeline.selection, order, epoch, batching)
    shard = Shard(len(order), batching.rank, batching.world_size, batching.drop_last)
    even = EvenCuts(len(shard), start, batching.batch_size, batching.drop_last)
    return Coming(order, shard, order if isinstance(order, Cuts) else even, start)
