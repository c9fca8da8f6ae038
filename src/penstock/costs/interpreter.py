"""How far a Python function keeps other threads of its process from running."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from penstock.costs.thread_clock import Spent, ThreadClock
from penstock.errors import ResourceError
from penstock.resources import MORE_THREADS

_CPU_S = 0.2  # for which the function is watched
_LONGEST_S = 2.0
_SLICE = range(2_000)  # some ten microseconds of Python


def lock_share(call: Callable[[], object]) -> float:
    """Return the share of a function's CPU time in which it holds the interpreter lock.

    One thread calls it over and over; another computes in Python all the time, and so always wants
    the lock. While the second is asleep, and not just without a core, the first has it.
    Where the CPU time of another thread cannot be read, the answer is 0.
    """
    if not hasattr(time, "pthread_getcpuclockid"):
        return 0.0
    errors: list[Exception] = []
    is_over = threading.Event()

    def repeat() -> None:
        try:
            while not is_over.is_set():
                call()
        except Exception as error:  # noqa: BLE001 (raised again in the thread that asked)
            errors.append(error)
            is_over.wait()  # so that its clock can be read to the end

    worker = threading.Thread(target=repeat, daemon=True)
    try:
        worker.start()
    except RuntimeError as error:
        raise ResourceError(
            f"How long the interpreter is locked cannot be measured: {error}. {MORE_THREADS}"
        ) from error
    try:
        return _held_share(worker, errors)
    finally:
        is_over.set()
        worker.join()
        if errors:
            raise errors[0]


def _held_share(worker: threading.Thread, errors: list[Exception]) -> float:
    theirs = time.pthread_getcpuclockid(worker.ident or 0)
    mine = ThreadClock()
    latest_s = time.perf_counter() + _LONGEST_S
    began_s = used_s = time.clock_gettime(theirs)
    before = mine.read()
    while used_s - began_s < _CPU_S and time.perf_counter() < latest_s and not errors:
        for _ in _SLICE:
            pass
        used_s = time.clock_gettime(theirs)
    waited = Spent()
    waited.add(mine.read(), before)
    mine.close()
    # The waiting thread wakes up now and then to ask for the lock, and may have to queue for a core
    # to do so: on a busy machine the answer is too low, never too high.
    return min(1.0, waited.blocked_s / max(used_s - began_s, 1e-9))
