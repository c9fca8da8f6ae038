"""Clocks for code that runs in Python.

`ThreadClock` and `StageClock` tell what a thread spent its time on: computing, queueing for a core,
or asleep. `CallTimer` times calls that are shorter than a clock is exact, by repeating them.
`lock_share` says how far a function keeps other threads of its process from running.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from math import ceil
from time import perf_counter
from typing import Any

from penstock.errors import ResourceError
from penstock.resources import MORE_THREADS

SHORT_S = 100e-6  # calls below this are timed many at a time
_MEASURED_S = 500e-6  # for about this long
_MOST_CALLS = 1000
_CLOCK_READINGS = 1000
_ATTEMPTS = 3

_WATCHED_CPU_S = 0.2  # of a function that may hold the interpreter lock
_LONGEST_WATCHED_S = 2.0
_SLICE = range(2_000)  # some ten microseconds of Python

_Reading = tuple[int, int, int]


@dataclass(slots=True)
class Spent:
    """Time of one thread, in nanoseconds."""

    wall: int = 0
    cpu: int = 0
    queued: int = 0  # ready to run, but other work had the core

    @property
    def blocked_s(self) -> float:
        """Seconds asleep: waiting for a disk, a lock or a timer."""
        return max(0, self.wall - self.cpu - self.queued) / 1e9

    @property
    def cpu_s(self) -> float:
        """Seconds of computing."""
        return max(0, self.cpu) / 1e9

    @property
    def used_s(self) -> float:
        """Seconds of computing and of sleep; waiting for a core counts for nothing."""
        return self.cpu_s + self.blocked_s

    def add(self, after: _Reading, before: _Reading) -> None:
        """Count what passed between two readings of a `ThreadClock`."""
        self.wall += after[0] - before[0]
        self.cpu += after[1] - before[1]
        self.queued += after[2] - before[2]


class ThreadClock:
    """Reads wall time, CPU time and queueing time of the thread that made it.

    Only Linux tells how long a thread queued; elsewhere that counts as blocked.
    """

    def __init__(self) -> None:
        self._scheduler: int | None = None
        if sys.platform == "linux":
            try:
                self._scheduler = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
            except OSError:  # a kernel without these figures
                self._scheduler = None

    def read(self) -> _Reading:
        """Return wall, CPU and queueing time in nanoseconds."""
        queued = 0
        if self._scheduler is not None:
            queued = int(os.pread(self._scheduler, 64, 0).split()[1])
        return time.perf_counter_ns(), time.thread_time_ns(), queued

    def close(self) -> None:
        """Let go of the kernel's file."""
        if self._scheduler is not None:
            os.close(self._scheduler)
            self._scheduler = None


class StageClock:
    """Splits one thread's time among named stages; what an inner stage takes is not the outer's.

    What reading the clock costs on this machine is measured first, and subtracted.
    """

    def __init__(self) -> None:
        self.spent: dict[str, Spent] = {}
        self._clock = ThreadClock()
        self._open: list[str | None] = []
        self._since: _Reading = (0, 0, 0)
        self._owner = threading.get_ident()
        self._reading = (0, 0)  # wall and CPU time between two readings with nothing in between
        empty = [self._empty_stage() for _ in range(_CLOCK_READINGS)]
        self._reading = min(one.wall for one in empty), min(one.cpu for one in empty)

    @contextmanager
    def stage(self, name: str | None) -> Iterator[None]:
        """Count the time inside for `name`, or for nothing; other threads pass uncounted."""
        if threading.get_ident() != self._owner:
            yield
            return
        self._charge()
        self._open.append(name)
        try:
            yield
        finally:
            self._charge()
            self._open.pop()

    @property
    def used_s(self) -> float:
        """Seconds of computing and of sleep in all stages so far."""
        return sum(spent.used_s for spent in self.spent.values())

    def close(self) -> None:
        """End the counting."""
        self._clock.close()

    def _charge(self) -> None:
        now = self._clock.read()
        name = self._open[-1] if self._open else None
        if name is not None:
            spent = self.spent.setdefault(name, Spent())
            spent.add(now, self._since)
            spent.wall -= self._reading[0]
            spent.cpu -= self._reading[1]
        self._since = now

    def _empty_stage(self) -> Spent:
        with self.stage("empty"):
            pass
        return self.spent.pop("empty")


if sys.platform == "linux":
    import resource

    def _preemptions() -> int:
        """How often another thread was given this one's core in the middle of its work."""
        return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw

else:

    def _preemptions() -> int:
        """Not known on this system."""
        return 0


class CallTimer:
    """Times calls, less what reading the clock costs on this machine."""

    def __init__(self) -> None:
        self._clock_s = min(_empty_measurement_s() for _ in range(_CLOCK_READINGS))

    def time(self, call: Callable[[], Any]) -> tuple[float, Any]:
        """Return the seconds one call takes, and what the last one returned.

        Calls are repeated where they are short, or were disturbed by other work on the machine, so
        they must bear that. The first of several short ones is left out as warm-up.
        """
        return _undisturbed(lambda: self._time_repeated(call))

    def time_single(self, call: Callable[[], Any]) -> float:
        """Return the seconds one call takes, by one call, or a few where they are disturbed."""
        return _undisturbed(lambda: self._time_once(call))[0]

    def _time_once(self, call: Callable[[], Any]) -> tuple[float, Any]:
        started_s = perf_counter()
        result = call()
        return max(perf_counter() - started_s - self._clock_s, 0.0), result

    def _time_repeated(self, call: Callable[[], Any]) -> tuple[float, Any]:
        once_s, result = self._time_once(call)
        if once_s >= SHORT_S:
            return once_s, result
        calls = min(ceil(_MEASURED_S / max(once_s, 1e-9)), _MOST_CALLS)
        started_s = perf_counter()
        for _ in repeat(None, calls):
            result = call()
        return max(perf_counter() - started_s - self._clock_s, 0.0) / calls, result


def _undisturbed(measure: Callable[[], tuple[float, Any]]) -> tuple[float, Any]:
    """Measure until nothing came between; return the shortest where something always does."""
    timed: list[tuple[float, Any]] = []
    for _ in range(_ATTEMPTS):
        preemptions = _preemptions()
        timed.append(measure())
        if _preemptions() == preemptions:
            return timed[-1]
    return min(timed, key=lambda one: one[0])


def _empty_measurement_s() -> float:
    started_s = perf_counter()
    return perf_counter() - started_s


def lock_share(call: Callable[[], object]) -> float:
    """Return the share of a function's CPU time in which it holds the interpreter lock.

    One thread calls it over and over; another computes in Python all the time, and so always wants
    the lock. While the second is asleep, and not just without a core, the first has it.
    Where the CPU time of another thread cannot be read, the answer is 0.
    """
    if not hasattr(time, "pthread_getcpuclockid"):
        return 0.0
    errors: list[Exception] = []
    is_over = threading.Event()

    def repeat() -> None:
        try:
            while not is_over.is_set():
                call()
        except Exception as error:  # noqa: BLE001 (raised again in the thread that asked)
            errors.append(error)
            is_over.wait()  # so that its clock can be read to the end

    worker = threading.Thread(target=repeat, daemon=True)
    try:
        worker.start()
    except RuntimeError as error:
        raise ResourceError(
            f"How long the interpreter is locked cannot be measured: {error}. {MORE_THREADS}"
        ) from error
    try:
        return _held_share(worker, errors)
    finally:
        is_over.set()
        worker.join()
        if errors:
            raise errors[0]


def _held_share(worker: threading.Thread, errors: list[Exception]) -> float:
    theirs = time.pthread_getcpuclockid(worker.ident or 0)
    mine = ThreadClock()
    latest_s = time.perf_counter() + _LONGEST_WATCHED_S
    began_s = used_s = time.clock_gettime(theirs)
    before = mine.read()
    while used_s - began_s < _WATCHED_CPU_S and time.perf_counter() < latest_s and not errors:
        for _ in _SLICE:
            pass
        used_s = time.clock_gettime(theirs)
    waited = Spent()
    waited.add(mine.read(), before)
    mine.close()
    # The waiting thread wakes up now and then to ask for the lock, and may have to queue for a core
    # to do so: on a busy machine the answer is too low, never too high.
    return min(1.0, waited.blocked_s / max(used_s - began_s, 1e-9))
