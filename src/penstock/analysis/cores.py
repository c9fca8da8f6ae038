"""Which processor cores this process may use, and how to keep to some of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

CAN_PIN = sys.platform == "linux"


def available_cores() -> int:
    """Return how many cores this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def pinned_to(cores: int) -> Iterator[None]:
    """Run on the first `cores` allowed cores, together with all threads and processes begun inside.

    Where the system cannot pin, this does nothing.
    """
    if sys.platform == "linux":
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, sorted(allowed)[:cores])
        try:
            yield
        finally:
            os.sched_setaffinity(0, allowed)
    else:
        yield
