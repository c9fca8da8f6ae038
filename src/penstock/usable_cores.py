"""How many processor cores this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return the number of cores, as far as the process is not kept to fewer of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
