"""One pass over the data: batches in their order, prepared in the background."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from penstock.errors import LoaderError, PythonEndsError, ResourceError
from penstock.loading.batch import Batch, cut_into_parts
from penstock.loading.deliver import Delivery
from penstock.loading.runtime import Runtime, check_not_forked
from penstock.loading.selection import Picked
from penstock.resources import python_ends


@dataclass(slots=True)
class Progress:
    """How far an epoch got; outlives its iterator, so that a state can be saved after `break`."""

    epoch: int
    consumed: int = 0  # samples of this rank that were delivered or left out
    batches: int = 0  # the same
    finished: bool = False  # whether nothing is left
    ended_s: float | None = None  # when it was asked for a batch and had none left; of `monotonic`


@dataclass(frozen=True, slots=True)
class Delivering:
    """How far ahead batches are prepared, and what becomes of them."""

    prefetch: int
    delivery: Delivery
    one_size: bool
    read_ahead: int = 0  # batches that are read, but not yet computed, beyond `prefetch`


class Epoch(Iterator[Any]):
    """Yields what the delivery makes of each of `batches`, drawn with this seed and epoch.

    Parts of up to `prefetch` batches beyond the one asked for are under way, or of more where it
    takes more to keep the runner busy; within a batch they finish in any order. Where reading takes
    long, `read_ahead` more batches are read meanwhile. `batches` is asked for that many in advance.
    If it raises an error, that error comes after the batches that were before it.

    When its own last batch has begun, `follow` may return the epoch that comes next, so that
    threads need not wait for the loop to ask. That one was given this epoch as `before`: batches of
    both together are no more than `prefetch` allows, until it is `taken`.
    """

    def __init__(
        self,
        *,
        batches: Iterator[Picked],
        seed: int,
        draw_epoch: int,
        progress: Progress,
        delivering: Delivering,
        runtime: Runtime,
        before: Epoch | None = None,
        follow: weakref.WeakMethod[Callable[[Epoch], Epoch | None]] | None = None,
    ) -> None:
        self.progress = progress
        self.runtime = runtime
        self._batches: Iterator[Picked] | None = batches
        self._seed = seed
        self._draw_epoch = draw_epoch
        self._delivering = delivering
        self.ranks: Iterator[int] = count() if before is None else before.ranks  # of parts
        # No strong references: a cycle would keep the core's threads alive after `close`.
        self._before = None if before is None else weakref.ref(before)
        self._following: weakref.ref[Epoch] | None = None
        self._follow = follow
        self._topping_up = threading.RLock()  # the epoch before this one may do so, too
        self._number = progress.batches
        self._under_way: deque[tuple[Batch, list[Future[None]]]] = deque()
        self._ended = False  # whether `batches` has no more
        self._broken: Exception | None = None  # what it raised
        self._python_ends = False  # so that a batch could not begin
        self._top_up()

    def __next__(self) -> Any:
        self.runtime.check_usable()
        # Not when the batch before was handed over: who asked for that one still held its own
        # predecessor, so that there would have been memory for one batch more.
        self._top_up_unless_closed()
        while self._under_way:
            batch, futures = self._under_way[0]
            try:
                # Futures are taken out of the list first. An error refers to this frame; if the
                # frame also referred to the future that holds the error, this cycle would keep
                # the core's threads alive after `close`.
                while futures:
                    futures.pop(0).result()
                delivered = self._delivering.delivery.deliver(batch)
                self.runtime.check_unchanged(batch.samples)  # last: all has been read
            except BaseException as error:
                self._fail(error, batch)
                raise
            if not self._under_way:
                raise _was_closed()
            self._under_way.popleft()
            self.progress.consumed += len(batch.keys)
            self.progress.batches += 1
            if not self._under_way and not self._ended:  # so that the end is always known
                self._top_up_unless_closed()
            self.progress.finished = self._ended and not self._under_way and not self._python_ends
            if delivered is not None:
                return delivered
        if self._broken is not None:
            broken, self._broken = self._broken, None
            raise broken
        if self._python_ends:  # after the batches that had begun
            raise python_ends()
        if self._batches is not None:  # there is more, but it could not be begun
            self.runtime.check_usable()
            raise _was_closed()
        self.progress.ended_s = time.monotonic()
        raise StopIteration

    def _fail(self, error: BaseException, batch: Batch) -> None:
        """End after an error; raises a better one if somebody closed us or changed the data."""
        was_closed = not self._under_way
        self.close()
        if isinstance(error, ResourceError):
            self.runtime.close()  # frees threads, files and memory for others
        elif isinstance(error, Exception):
            self.runtime.check_usable()
            if was_closed:
                raise _was_closed() from error
            self.runtime.check_unchanged(batch.samples)

    def close(self) -> None:
        """Start nothing more; what is under way in the core ends by itself."""
        self._batches = self._broken = None
        for batch, futures in self._under_way:
            batch.drop()
            for future in futures:
                future.cancel()
        self._under_way.clear()

    def __del__(self) -> None:
        if hasattr(self, "_under_way"):
            self.close()

    @property
    def under_way(self) -> int:
        """How many batches have begun and were not delivered."""
        return len(self._under_way)

    def taken(self) -> Epoch:
        """Go on independently of the epoch before."""
        with self._topping_up:
            self._before = None
        return self

    def _top_up(self) -> None:
        with self._topping_up:
            self._start_batches()
        with suppress(PythonEndsError):  # which does not concern the batches of this epoch
            self._top_up_following()

    def _top_up_following(self) -> None:
        if self._following is not None:
            following = self._following()
            if following is not None:
                following.top_up_early()
        elif self._ended and self._follow is not None:
            follow = self._follow()
            following = None if follow is None else follow(self)
            self._following = None if following is None else weakref.ref(following)

    def _top_up_unless_closed(self) -> None:
        """Top up. If the loader was closed just now, whoever asks for a batch is told so there."""
        with suppress(LoaderError, PythonEndsError):
            self._top_up()

    def top_up_early(self) -> None:
        """The same, by the epoch before, unless somebody iterates this one already."""
        with self._topping_up:
            if self._before is not None:
                self._start_batches()

    def _start_batches(self) -> None:
        self._give_turns()
        while self._batches is not None and not self._python_ends and self._wants_more():
            picked = self._next_picked()
            if picked is None:
                break
            batch = Batch(
                self.runtime.maker,
                self._number,
                picked.keys,
                picked.samples,
                one_size=self._delivering.one_size,
            )
            self._number += 1
            if self._delivering.read_ahead:
                batch.hold(self.runtime.is_crowded)
            parts = cut_into_parts(
                batch,
                self._seed,
                self._draw_epoch,
                self.ranks,
                self.runtime.part_size,
                picked.stretch,
                picked.first,
            )
            try:
                self._under_way.append((batch, [self.runtime.start(part) for part in parts]))
            except PythonEndsError:
                self._python_ends = True  # this batch is lost, so none may come behind it
                raise
            self._give_turns()

    def _give_turns(self) -> None:
        """Let those batches be computed whose memory may be taken."""
        for batch, _ in islice(self._under_way, self._delivering.prefetch + 1):
            batch.give_turn()

    def _wants_more(self) -> bool:
        before = None if self._before is None else self._before()
        ahead = self.under_way - 1  # beyond the batch that is asked for
        if before is not None:
            ahead += before.under_way
        if ahead < self._delivering.prefetch + self._delivering.read_ahead:
            return True
        return sum(len(futures) for _, futures in self._under_way) < self.runtime.parts_ahead

    def _next_picked(self) -> Picked | None:
        """The samples of the next batch; None if there is none left, or none can be had."""
        if self._batches is None:
            return None
        try:
            return next(self._batches)
        except StopIteration:
            self._ended = True
            self.progress.finished = not self._under_way
        except Exception as error:  # noqa: BLE001 (of a sampler of the user's; raised in its turn)
            self._broken = error
        self._batches = None
        return None


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
            except PythonEndsError:
                if threading.current_thread().daemon:
                    raise SystemExit from None  # Python is about to stop this thread: no message
                raise
            finally:
                self._advancing = False

    def start(self) -> None:
        """Begin now."""
        if self._begin is not None:
            self._epoch, self._begin = self._begin(), None

    def _advance(self) -> Any:
        self.start()
        if self._epoch is None:
            raise StopIteration
        return next(self._epoch)

    def close(self) -> None:
        """Start nothing more."""
        self._begin = None
        if self._epoch is not None:
            self._epoch.close()
