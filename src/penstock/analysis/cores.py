"""Keeping this process to some of the processor cores."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from penstock.costs.library_threads import library_threads

CAN_PIN = sys.platform == "linux"


@contextmanager
def pinned_to(cores: int) -> Iterator[None]:
    """Run on the first `cores` allowed cores: this process with all its threads and children.

    torch and OpenCV have as many threads meanwhile, as they would on a machine of that size.

    Where the system cannot pin, this does nothing.
    """
    if sys.platform == "linux":
        allowed = os.sched_getaffinity(0)
        _pin_threads(set(sorted(allowed)[:cores]))
        try:
            with library_threads(cores):
                yield
        finally:
            _pin_threads(allowed)
    else:
        yield


def _pin_threads(cores: set[int]) -> None:
    """Pin every thread there is; those begun later follow the one that begins them."""
    for thread in os.listdir("/proc/self/task"):
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(int(thread), cores)
