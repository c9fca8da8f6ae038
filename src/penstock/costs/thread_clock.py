"""What a thread spent its time on: computing, queueing for a core, or blocked."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


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
        return self.cpu / 1e9

    def add(self, after: tuple[int, int, int], before: tuple[int, int, int]) -> None:
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

    def read(self) -> tuple[int, int, int]:
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


@dataclass(slots=True)
class StageClock:
    """Splits one thread's time among named stages; what an inner stage takes is not the outer's."""

    spent: dict[str, Spent] = field(default_factory=dict)
    _clock: ThreadClock = field(default_factory=ThreadClock)
    _open: list[str] = field(default_factory=list)
    _since: tuple[int, int, int] = (0, 0, 0)
    _owner: int = field(default_factory=threading.get_ident)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time inside for `name`; other threads pass uncounted."""
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

    def close(self) -> None:
        """End the counting."""
        self._clock.close()

    def _charge(self) -> None:
        now = self._clock.read()
        if self._open:
            self.spent.setdefault(self._open[-1], Spent()).add(now, self._since)
        self._since = now
