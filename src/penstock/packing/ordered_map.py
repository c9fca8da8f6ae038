"""Work on many threads whose results come in order, with few of them in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

from penstock.resources import Pool

Item = TypeVar("Item")
Result = TypeVar("Result")

WAITING_PER_THREAD = 4


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Yield `function(item)` for each item, in their order; an exception ends it."""
    waiting: deque[Future[Result]] = deque()
    pool = Pool(threads)
    try:
        for item in items:
            # The limits in force here hold there, too.
            waiting.append(pool.submit(copy_context().run, function, item))
            if len(waiting) >= threads * WAITING_PER_THREAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
