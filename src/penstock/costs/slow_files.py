"""Which files take a penstock loader longest."""

from __future__ import annotations

import time
from collections.abc import Sequence

from penstock.costs.dataset import FILES_NAMED
from penstock.costs.like_loader import MeasuredLoader, like

SAMPLES = 64  # files looked at
_PASSES = 3  # the least counts, since one slow reading may be the machine's doing


def slowest_files(loader: MeasuredLoader, files: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Load some files one by one on one thread; return the slowest with their milliseconds."""
    chosen = list(files[:: max(1, len(files) // SAMPLES)])[:SAMPLES]
    if not chosen:
        return ()
    single = like(loader, chosen, batch_size=1, threads=1, labels=[0] * len(chosen))
    try:
        least_s = [float("inf")] * len(chosen)
        for _ in range(_PASSES):
            single.set_epoch(0)  # the same draws every time
            before_s = time.perf_counter()
            for number, _ in enumerate(single):
                now_s = time.perf_counter()
                least_s[number] = min(least_s[number], now_s - before_s)
                before_s = now_s
    finally:
        single.close()
    slowest = sorted(zip(least_s, chosen, strict=True), reverse=True)[:FILES_NAMED]
    return tuple((name, took_s * 1e3) for took_s, name in slowest)
