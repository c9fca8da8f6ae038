"""How far a Python function keeps threads from running side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from penstock.analysis.thread_clock import Spent, ThreadClock

_THREADS = 2


def lock_share(call: Callable[[], object], seconds: float = 0.3) -> float:
    """Return 0 if two threads can run `call` at the same time, 1 if they take turns.

    Two threads call it over and over. One that waits for the interpreter lock is asleep; one that
    waits for a core is not. So the answer holds on a single core and on a busy machine.
    """
    spent = [Spent() for _ in range(_THREADS)]
    errors: list[BaseException] = []
    start = threading.Barrier(_THREADS)

    def repeat(mine: Spent) -> None:
        clock = ThreadClock()
        try:
            start.wait()
            before = clock.read()
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                call()
            mine.add(clock.read(), before)
        except Exception as error:  # noqa: BLE001 (raised again in the thread that asked)
            errors.append(error)
        finally:
            clock.close()

    threads = [threading.Thread(target=repeat, args=(mine,)) for mine in spent]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    blocked = sum(mine.blocked_s for mine in spent)
    ran = sum(mine.cpu_s for mine in spent)
    # Two threads in turn are blocked for as long as they run.
    return min(1.0, blocked / ran) if ran else 0.0
