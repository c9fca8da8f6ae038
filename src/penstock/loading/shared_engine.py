"""Threads of the core for work that no loader runs: started once, and kept for later calls."""

from __future__ import annotations

import os
from functools import lru_cache

from penstock._core import Engine, EnginePart
from penstock.loading.row_memory import row_memory_bytes

_READERS = 1
_WAIT_S = 0.25  # so that Ctrl-C is heard


def shared_engine(threads: int) -> Engine:
    """Return so many threads; a forked process gets its own."""
    return _engine(os.getpid(), threads)


@lru_cache(maxsize=4)
def _engine(process: int, threads: int) -> Engine:
    del process
    return Engine(threads, _READERS, row_memory_bytes())


def wait_for(part: EnginePart) -> None:
    """Wait until nothing of it is under way."""
    while not part.wait(_WAIT_S):
        pass
