"""Memory of a process and all its descendants, from Linux's /proc."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
PERIOD_S = 0.05
COUNTED = {"Rss": "rss", "Pss": "pss", "Pss_Anon": "own", "Pss_Shmem": "own"}


@dataclass(frozen=True, slots=True)
class Memory:
    """Sums over a process tree, in bytes.

    RSS counts a page shared by two processes twice; PSS gives each its half. `own_bytes` is the
    part of PSS that no file on the disk stands for: neither libraries nor data that is mapped. With
    it goes what processes share in memory, such as batches. None: not to be had.
    """

    rss_bytes: int | None = None
    pss_bytes: int | None = None
    own_bytes: int | None = None

    def peak_with(self, other: Memory) -> Memory:
        """Return the larger of both, figure by figure."""
        return Memory(
            _larger(self.rss_bytes, other.rss_bytes),
            _larger(self.pss_bytes, other.pss_bytes),
            _larger(self.own_bytes, other.own_bytes),
        )


def _larger(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)


def tree_of(pid: int) -> list[int]:
    """Return a process and its descendants; those that end meanwhile are left out."""
    found = [pid]
    for parent in found:
        for children in PROC.glob(f"{parent}/task/*/children"):
            try:
                found += [int(child) for child in children.read_text().split()]
            except OSError:  # the thread has just ended
                continue
    return found


def memory_of_tree(pid: int) -> Memory:
    """Measure now. Costs milliseconds a gigabyte, so do not call it during a timed pass."""
    totals: dict[str, int] = {}
    for process in tree_of(pid):
        try:
            text = (PROC / str(process) / "smaps_rollup").read_text()
        except OSError:  # ended meanwhile, not ours, or not Linux
            continue
        for line in text.splitlines():
            field, _, value = line.partition(":")
            if field in COUNTED:
                counted = COUNTED[field]
                totals[counted] = totals.get(counted, 0) + int(value.split()[0]) * 1024
    return Memory(totals.get("rss"), totals.get("pss"), totals.get("own"))


@contextmanager
def watch_peak(pid: int) -> Iterator[list[Memory]]:
    """Sample a process tree in the background; the one item of the list is its peak so far."""
    peak = [memory_of_tree(pid)]
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(PERIOD_S):
            peak[0] = peak[0].peak_with(memory_of_tree(pid))

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        stop.set()
        sampler.join()
        peak[0] = peak[0].peak_with(memory_of_tree(pid))
