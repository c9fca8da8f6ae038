"""How fast a store answers, from the requests that were made anyway."""

from __future__ import annotations

import threading
from collections import deque
from statistics import median

_REMEMBERED = 128
_SMALL_BYTES = 64 << 10  # up to here, a request takes its latency and no more


class Speed:
    """The latest requests: seconds until an answer, and bytes a second of one request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._small: deque[float] = deque(maxlen=_REMEMBERED)
        self._large: deque[tuple[int, float]] = deque(maxlen=_REMEMBERED)

    def note(self, count: int, seconds: float) -> None:
        """Remember a request that brought `count` bytes."""
        with self._lock:
            if count <= _SMALL_BYTES:
                self._small.append(seconds)
            else:
                self._large.append((count, seconds))

    def latency_s(self) -> float | None:
        """Return the usual time of a small request; None before there was one."""
        with self._lock:
            if self._small:
                return median(self._small)
            return min((seconds for _, seconds in self._large), default=None)

    def bytes_per_s(self, least_bytes: int = 0) -> float | None:
        """Return what one request brings a second once it flows; None before a large one.

        Only requests of at least so many bytes count.

        Before there was a small one, too, its latency counts as well.
        """
        with self._lock:
            latency = median(self._small) if self._small else 0.0
            rates = [
                count / max(seconds - latency, 1e-4)
                for count, seconds in self._large
                if count >= least_bytes
            ]
        return median(rates) if rates else None
