"""How much memory is used to remember where the rows of files begin, from epoch to epoch."""

from __future__ import annotations

import os

from penstock.storage.options import read_size

_MOST_BYTES = 256 * 2**20  # for half a million usual photos
_VARIABLE = "PENSTOCK_ROW_MEMORY"


def row_memory_bytes(processes: int = 1) -> int:
    """Return how many bytes the core may use for it, in each of so many processes."""
    told = os.environ.get(_VARIABLE, "").strip()
    if told:
        return (0 if told == "0" else read_size(_VARIABLE, told)) // processes
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(_MOST_BYTES, memory // 100) // processes
