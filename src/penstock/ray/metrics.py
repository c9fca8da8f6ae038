"""What a RayLoader counts."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RayMetrics:
    """Counts since the loader was made."""

    batches: int = 0  # delivered
    parts: int = 0  # of batches, that workers prepared and the loader took
    recomputed: int = 0  # parts that were asked for again because a worker or its answer was lost
    hedged: int = 0  # parts that a second worker was asked for because the first took long
    restarts: int = 0  # workers that were lost and are replaced
    wire_bytes: int = 0  # of the parts taken
    waited_s: float = 0.0  # that whoever iterates waited for batches


@dataclass(slots=True)
class Counters:
    """The same, while it is counted; any thread may add."""

    _counts: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, **amounts: float) -> None:
        """Add to counts by their names."""
        with self._lock:
            for name, amount in amounts.items():
                self._counts[name] = self._counts.get(name, 0) + amount

    def read(self) -> RayMetrics:
        """Return the counts of this moment."""
        with self._lock:
            counts = dict(self._counts)
        waited_s = counts.pop("waited_s", 0.0)
        return RayMetrics(**{name: int(count) for name, count in counts.items()}, waited_s=waited_s)
