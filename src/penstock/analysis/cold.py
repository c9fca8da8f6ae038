"""Cold against cached: how long files keep a reader waiting once the system has forgotten them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.analysis.thread_clock import StageClock

_FILES = 24


@dataclass(frozen=True, slots=True)
class ReadTimes:
    """Seconds in which a file keeps its reader waiting."""

    cold_s: float | None  # None where the system cannot be made to forget
    cached_s: float


def measure_reads(files: Sequence[str]) -> ReadTimes | None:
    """Read some files twice, first after dropping them from the cache; None if there are none.

    The system may keep pages that other processes use; then cold is no slower than cached.
    """
    chosen = list(files[:: max(1, len(files) // _FILES)])[:_FILES]
    chosen = [name for name in chosen if os.path.isfile(name)]
    if not chosen:
        return None
    can_forget = hasattr(os, "posix_fadvise")
    cold_s = _blocked_s(chosen, forget=True) if can_forget else None
    return ReadTimes(cold_s, _blocked_s(chosen, forget=False))


def _blocked_s(files: Sequence[str], *, forget: bool) -> float:
    clock = StageClock()
    try:
        for name in files:
            descriptor = os.open(name, os.O_RDONLY)
            try:
                size = os.fstat(descriptor).st_size
                if forget:
                    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                with clock.stage("read"):
                    os.pread(descriptor, size, 0)
            finally:
                os.close(descriptor)
    finally:
        clock.close()
    return clock.spent["read"].blocked_s / len(files)
