"""Which files of a data set or a loader take longest.

One slow reading may be the machine's doing, so files are timed more than once, and the quickest
reading of each one counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.costs.clocks import CallTimer
from penstock.costs.dataset_costs import get_sample, spread_indices
from penstock.costs.ops import file_name
from penstock.costs.plan_variants import MeasuredLoader, like

SlowFiles = tuple[tuple[str, float], ...]  # names with milliseconds, the slowest first

_NAMED = 10
_LOOKED_AT = 64
_CANDIDATES = 20  # of a data set, that are timed again
_READINGS = 3


def slow_files_of_dataset(
    dataset: Any, indices: Sequence[int] = (), seconds: Sequence[float] = ()
) -> SlowFiles:
    """Fetch samples one by one; what some took already, `seconds`, is not measured again."""
    timer = CallTimer()

    def timed_s(index: int) -> float:
        return timer.time_single(lambda: get_sample(dataset, index))

    indices = indices or spread_indices(len(dataset), _LOOKED_AT)
    seconds = seconds or [timed_s(index) for index in indices]
    by_time = sorted(zip(seconds, indices, strict=True), reverse=True)[:_CANDIDATES]
    again = [
        (min(once_s, *(timed_s(index) for _ in range(_READINGS - 1))), index)
        for once_s, index in by_time
    ]
    return _slowest((took_s, file_name(dataset, index)) for took_s, index in again)


def slow_files_of_loader(loader: MeasuredLoader, files: Sequence[str]) -> SlowFiles:
    """Load some files one by one on one thread."""
    chosen = list(files[:: max(1, len(files) // _LOOKED_AT)])[:_LOOKED_AT]
    if not chosen:
        return ()
    single = like(loader, chosen, batch_size=1, threads=1, labels=[0] * len(chosen))
    try:
        least_s = [float("inf")] * len(chosen)
        for _ in range(_READINGS):
            single.set_epoch(0)  # the same draws every time
            before_s = time.perf_counter()
            for number, _ in enumerate(single):
                now_s = time.perf_counter()
                least_s[number] = min(least_s[number], now_s - before_s)
                before_s = now_s
    finally:
        single.close()
    return _slowest(zip(least_s, chosen, strict=True))


def _slowest(timed: Iterable[tuple[float, str]]) -> SlowFiles:
    return tuple((name, took_s * 1e3) for took_s, name in sorted(timed, reverse=True)[:_NAMED])
