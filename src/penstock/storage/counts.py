"""What was asked of a store, and what was found in the cache: figures for users and for tests."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace


@dataclass(slots=True)
class IoCounts:
    """Sums since the data set was opened; `waited_s` is of all threads together.

    `requests` counts each attempt, `bytes_read` what arrived of those that succeeded.
    """

    requests: int = 0
    bytes_read: int = 0
    retries: int = 0
    failures: int = 0  # reads that were given up
    cache_hits: int = 0
    cache_misses: int = 0
    cache_bytes_read: int = 0
    cache_damaged: int = 0  # blocks whose checksum was wrong: thrown away and read again
    cache_not_kept: int = 0  # blocks that found no room, or that the disk refused
    waited_s: float = 0.0

    def __str__(self) -> str:
        cached = self.cache_hits + self.cache_misses
        told = (
            f"{self.requests:,} requests, {self.bytes_read:,} bytes, {self.retries:,} retries, "
            f"waited {self.waited_s:.1f} s"
        )
        if not cached:
            return told
        return f"{told}; cache: {self.cache_hits:,} of {cached:,} blocks found"


class Counter:
    """An `IoCounts` that several threads add to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = IoCounts()

    def add(self, **amounts: float) -> None:
        """Add to these figures."""
        with self._lock:
            for name, amount in amounts.items():
                setattr(self._counts, name, getattr(self._counts, name) + amount)

    def read(self) -> IoCounts:
        """Return the figures as they are now."""
        with self._lock:
            return replace(self._counts)
