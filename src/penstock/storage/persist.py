"""Asking a store until it answers: retries with pauses, a deadline, and few requests at a time."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakKeyDictionary

from penstock.errors import StorageError
from penstock.storage.address import Address
from penstock.storage.backend import PassingError
from penstock.storage.counts import Counter
from penstock.storage.options import StorageOptions

ResultT = TypeVar("ResultT")

# How much longer than its deadline a request may take before whoever waits gives up by himself.
SPARE_S = 5.0
_WAIT_S = 0.25  # how often a waiting thread looks whether it is still wanted

_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, asyncio.Semaphore]] = (
    WeakKeyDictionary()
)


@dataclass(frozen=True, slots=True)
class Persistence:
    """How long and how often an object's store is asked, and where that is counted."""

    address: Address
    options: StorageOptions
    counter: Counter

    async def ask(
        self,
        once: Callable[[float], Awaitable[ResultT]],
        what: str,
        patience_s: float = 0.0,
    ) -> ResultT:
        """Ask until there is an answer, attempts or time are used up, or it will never come.

        `once` makes one request, and is told how many seconds it may take. `what` reads well
        before "could not be read". `patience_s` is added to the time of a request and to the
        deadline of all of them, for what takes long because it is large.
        """
        options = self.options
        deadline = time.monotonic() + options.deadline_s + patience_s * options.attempts
        backoff, said = options.first_backoff_s, ""
        for attempt in range(1, options.attempts + 1):
            if attempt > 1:
                self.counter.add(retries=1)
                await asyncio.sleep(random.uniform(0, backoff))
                backoff = min(2 * backoff, options.longest_backoff_s)
            left = deadline - time.monotonic()
            if left <= 0:
                break
            may_take = min(options.request_s + patience_s, left)
            try:
                async with self._slot():
                    self.counter.add(requests=1)
                    return await asyncio.wait_for(once(may_take), may_take)
            except PassingError as error:
                said = str(error)
            except (asyncio.TimeoutError, TimeoutError):
                said = f"no answer in {may_take:.3g} s"
        self.counter.add(failures=1)
        if time.monotonic() >= deadline:
            raise self.late(what, said)
        raise StorageError(
            f"{self.address}: {what} in {options.attempts} attempts; the last one: {said}. Check "
            "the store and the network, or allow more by storage=StorageOptions(attempts=...)."
        )

    def wait(
        self,
        future: Future[ResultT],
        check: Callable[[], None] | None = None,
        deadline_s: float | None = None,
    ) -> ResultT:
        """Wait for what runs on the thread of requests; `check` is called now and then."""
        begin = time.monotonic()
        allowed_s = self.options.deadline_s if deadline_s is None else deadline_s
        try:
            while True:
                try:
                    return future.result(timeout=_WAIT_S)
                except FutureTimeoutError:
                    if future.done():
                        raise
                if check is not None:
                    check()
                if time.monotonic() > begin + allowed_s + SPARE_S:
                    raise self.late("no answer", "")
        finally:
            future.cancel()
            self.counter.add(waited_s=time.monotonic() - begin)

    def late(self, what: str, said: str) -> StorageError:
        """Return the error for a request that took too long."""
        last = f"; the last attempt: {said}" if said else ""
        return StorageError(
            f"{self.address}: {what} within {self.options.deadline_s:g} s{last}. Check the store "
            "and the network, or allow more by storage=StorageOptions(deadline_s=...)."
        )

    def _slot(self) -> asyncio.Semaphore:
        """Return what bounds the requests under way: one for all objects of this process."""
        of_loop = _slots.setdefault(asyncio.get_running_loop(), {})
        return of_loop.setdefault(self.options.in_flight, asyncio.Semaphore(self.options.in_flight))


async def all_or_none(works: list[Awaitable[None]]) -> None:
    """Wait for all; the first error ends the others."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
