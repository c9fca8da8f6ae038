"""One pass over the data: what runs in the background for it, and batches in their order.

A `Runtime` has the threads and the memory of a loader that is iterated, for any number of epochs.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import LoaderError, ResourceError
from penstock.geometry import Ints
from penstock.loading.batch import Batch, BatchMaker, Part, parts_of
from penstock.loading.cuts import Cuts, EvenCuts
from penstock.loading.deliver import Delivery
from penstock.loading.mix import Mixer
from penstock.loading.options import OutputOptions
from penstock.loading.runner import PartRunner
from penstock.loading.sampler import Shard
from penstock.loading.selection import EpochOrder
from penstock.resources import Pool

# Parts of batches whose files are in memory at the same time. Each has a thread that takes it
# through its stages, asleep whenever the core is at work on it.
_MOST_PARTS_UNDER_WAY = 4


class Runtime:
    """Runs parts in the background until nobody refers to it, or it is closed."""

    def __init__(
        self,
        runner: PartRunner,
        output: OutputOptions,
        prefetch: int,
        mixer: Mixer | None = None,
        check: Callable[[Ints], None] | None = None,
    ) -> None:
        self.maker = BatchMaker(output, most_idle=prefetch + 2)
        self._owner = os.getpid()
        self._runner: PartRunner | None = runner
        self._mixer = mixer
        self._check = check
        self._conductors = Pool(_MOST_PARTS_UNDER_WAY, "penstock-conductor")
        # The last reference may be dropped while any lock is held, for example if the garbage
        # collector runs in the middle of a submit. So nothing is shut down then: a pool that
        # nobody refers to ends its threads by itself.
        self._end = weakref.finalize(self, _abandon, self._owner, runner, self.maker)

    def start(self, part: Part) -> Future[None]:
        """Start a part."""
        self.check_usable()
        runner = self._runner
        try:
            if runner is not None:
                return self._conductors.submit(_run, runner, self._mixer, part)
        except RuntimeError as error:  # the pool was shut down since we looked
            raise _closed() from error
        raise _closed()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._end.alive

    def check_unchanged(self, samples: Ints) -> None:
        """Raise if the data that these samples were read from has changed meanwhile."""
        if self._check is not None:
            self._check(samples)

    def check_usable(self) -> None:
        """Raise after a fork, or after closing."""
        check_not_forked(self._owner)
        if self.closed:
            raise _closed()

    def close(self) -> None:
        """Stop now, and wait until all threads have ended; any thread but its own may call it."""
        runner = self._runner
        if runner is None or os.getpid() != self._owner:
            return
        if self._conductors.holds_this_thread() or runner.holds_this_thread():
            raise LoaderError(
                "Loader.close: called from a transform or another function that this loader runs, "
                "so it would wait for itself. Close it from the loop over its batches."
            )
        if self._end.detach() is not None:
            runner.close()
            self._conductors.shutdown(wait=True, cancel_futures=True)
            self.maker.close()
            runner.end()
            self._runner = None


def _closed() -> LoaderError:
    return LoaderError("This loader was closed while it was iterated. Iterate it again.")


def check_not_forked(owner: int) -> None:
    """Raise in a forked child, whose copy of a loader has no threads."""
    if os.getpid() != owner:
        raise LoaderError(
            f"This loader was made in process {owner} and is used in process {os.getpid()}, after "
            "a fork: its threads did not come along. Make the Loader in the process that uses it; "
            "it needs no worker processes."
        )


def _run(runner: PartRunner, mixer: Mixer | None, part: Part) -> None:
    """Run a part, and mix its batch if it was the last; keeps no reference to the Runtime."""
    runner.run(part)
    if part.batch.note_done(len(part.slots)) and mixer is not None:
        mixer.mix(part.batch, part.epoch)


def _abandon(owner: int, runner: PartRunner, maker: BatchMaker) -> None:
    if os.getpid() == owner:  # a forked child has nothing to end
        runner.abandon()
        maker.close()


@dataclass(slots=True)
class Progress:
    """How far an epoch got; outlives its iterator, so that a state can be saved after `break`."""

    epoch: int
    consumed: int  # samples of this rank that were delivered or left out
    total: int

    @property
    def finished(self) -> bool:
        """Whether nothing is left."""
        return self.consumed >= self.total


@dataclass(frozen=True, slots=True)
class Batching:
    """How an epoch is cut into batches, and what becomes of them."""

    batch_size: int
    drop_last: bool
    prefetch: int
    delivery: Delivery
    one_size: bool


class Epoch(Iterator[Any]):
    """Yields what the delivery makes of each batch, from local position `start` on.

    Parts of up to `prefetch` batches beyond the one asked for are under way; within a batch they
    finish in any order.
    """

    def __init__(
        self,
        *,
        number: int,
        order: EpochOrder,
        shard: Shard,
        start: int,
        batching: Batching,
        runtime: Runtime,
    ) -> None:
        even = EvenCuts(len(shard), start, batching.batch_size, batching.drop_last)
        self._cuts: Cuts = order if isinstance(order, Cuts) else even
        self.progress = Progress(number, start, self._cuts.total)
        self._order = order
        self._shard = shard
        self._next_start = start
        self._batching = batching
        self._runtime = runtime
        self._parts = 0
        self._batches = self._cuts.batch_at(start)
        self._under_way: deque[tuple[Batch, list[Future[None]]]] = deque()
        self._top_up()

    def __next__(self) -> Any:
        self._runtime.check_usable()
        while self._under_way:
            batch, futures = self._under_way[0]
            try:
                # Futures are taken out of the list first. An error refers to this frame; if the
                # frame also referred to the future that holds the error, this cycle would keep
                # the core's threads alive after `close`.
                while futures:
                    futures.pop(0).result()
                delivered = self._batching.delivery.deliver(batch)
                self._runtime.check_unchanged(batch.samples)  # last: all has been read
            except BaseException as error:
                self._fail(error, batch)
                raise
            if not self._under_way:
                raise _was_closed()
            self._under_way.popleft()
            self.progress.consumed += len(batch.keys)
            with suppress(LoaderError):  # closed just now: the next call says so
                self._top_up()
            if delivered is not None:
                return delivered
        raise StopIteration

    def _fail(self, error: BaseException, batch: Batch) -> None:
        """End after an error; raises a better one if somebody closed us or changed the data."""
        was_closed = not self._under_way
        self.close()
        if isinstance(error, ResourceError):
            self._runtime.close()  # frees threads, files and memory for others
        elif isinstance(error, Exception):
            self._runtime.check_usable()
            if was_closed:
                raise _was_closed() from error
            self._runtime.check_unchanged(batch.samples)

    def close(self) -> None:
        """Start nothing more; what is under way in the core ends by itself."""
        self._next_start = self.progress.total
        for _, futures in self._under_way:
            for future in futures:
                future.cancel()
        self._under_way.clear()

    def __del__(self) -> None:
        if hasattr(self, "_under_way"):
            self.close()

    def _top_up(self) -> None:
        batching = self._batching
        while self._next_start < self.progress.total and len(self._under_way) <= batching.prefetch:
            count = self._cuts.end_of_batch(self._next_start) - self._next_start
            picked = self._order.at(self._shard.positions(self._next_start, count))
            self._next_start += count
            batch = Batch(
                self._runtime.maker,
                self._batches,
                picked.keys,
                picked.samples,
                one_size=batching.one_size,
            )
            self._batches += 1
            self._under_way.append(
                (batch, [self._runtime.start(part) for part in self._split(batch)])
            )

    def _split(self, batch: Batch) -> Iterator[Part]:
        slots = np.arange(len(batch.keys), dtype=np.int32)
        for part_slots in np.array_split(slots, parts_of(len(slots))):
            keys, samples = batch.keys[part_slots], batch.samples[part_slots]
            yield Part(batch, self.progress.epoch, part_slots, keys, samples, self._parts)
            self._parts += 1


def _was_closed() -> LoaderError:
    return LoaderError("This iterator was closed while a batch was awaited. Iterate again.")


class Iteration(Iterator[Any]):
    """An epoch that begins when its first batch is asked for: creating it counts nothing.

    Threads may share it: they take turns, and each batch goes to exactly one of them.
    """

    def __init__(self, begin: Callable[[], Epoch]) -> None:
        self._begin: Callable[[], Epoch] | None = begin
        self._epoch: Epoch | None = None
        self._owner = os.getpid()
        self._turn = threading.RLock()
        self._advancing = False

    def __next__(self) -> Any:
        check_not_forked(self._owner)  # before the lock, which a thread may have held in the fork
        with self._turn:
            if self._advancing:  # by this very thread: a signal handler or a finaliser in between
                raise LoaderError(
                    "This iterator is asked for a batch while the same thread waits for one. "
                    "Do not iterate in signal handlers and finalisers."
                )
            self._advancing = True
            try:
                return self._advance()
            finally:
                self._advancing = False

    def _advance(self) -> Any:
        if self._begin is not None:
            self._epoch, self._begin = self._begin(), None
        if self._epoch is None:
            raise StopIteration
        return next(self._epoch)

    def close(self) -> None:
        """Start nothing more."""
        self._begin = None
        if self._epoch is not None:
            self._epoch.close()
