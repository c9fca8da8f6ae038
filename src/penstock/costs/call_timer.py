"""How long a call takes, also where it is shorter than reading the clock is exact."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import repeat
from math import ceil
from time import perf_counter
from typing import Any

SHORT_S = 100e-6  # calls below this are timed many at a time
MEASURED_S = 500e-6  # for about this long
MOST_CALLS = 1000
CLOCK_READINGS = 1000
ATTEMPTS = 3

if sys.platform == "linux":
    import resource

    def _preemptions() -> int:
        """How often another thread was given this one's core in the middle of its work."""
        return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw

else:

    def _preemptions() -> int:
        """Not known on this system."""
        return 0


class CallTimer:
    """Times calls, less what reading the clock costs on this machine."""

    def __init__(self) -> None:
        self._clock_s = min(_empty_measurement_s() for _ in range(CLOCK_READINGS))

    def time(self, call: Callable[[], Any]) -> tuple[float, Any]:
        """Return the seconds one call takes, and what the last one returned.

        Calls are repeated where they are short, or were disturbed by other work on the machine, so
        they must bear that. The first of several short ones is left out as warm-up.
        """
        return _undisturbed(lambda: self._time_repeated(call))

    def time_single(self, call: Callable[[], Any]) -> float:
        """Return the seconds one call takes, by one call, or a few where they are disturbed."""
        return _undisturbed(lambda: self._time_once(call))[0]

    def _time_once(self, call: Callable[[], Any]) -> tuple[float, Any]:
        started_s = perf_counter()
        result = call()
        return max(perf_counter() - started_s - self._clock_s, 0.0), result

    def _time_repeated(self, call: Callable[[], Any]) -> tuple[float, Any]:
        once_s, result = self._time_once(call)
        if once_s >= SHORT_S:
            return once_s, result
        calls = min(ceil(MEASURED_S / max(once_s, 1e-9)), MOST_CALLS)
        started_s = perf_counter()
        for _ in repeat(None, calls):
            result = call()
        return max(perf_counter() - started_s - self._clock_s, 0.0) / calls, result


def _undisturbed(measure: Callable[[], tuple[float, Any]]) -> tuple[float, Any]:
    """Measure until nothing came between; return the shortest where something always does."""
    timed: list[tuple[float, Any]] = []
    for _ in range(ATTEMPTS):
        preemptions = _preemptions()
        timed.append(measure())
        if _preemptions() == preemptions:
            return timed[-1]
    return min(timed, key=lambda one: one[0])


def _empty_measurement_s() -> float:
    started_s = perf_counter()
    return perf_counter() - started_s
