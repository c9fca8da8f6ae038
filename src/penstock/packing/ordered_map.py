"""Work on many threads whose results come in order, with few of them in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

from penstock.limits import beyond
from penstock.resources import Pool

Item = TypeVar("Item")
Result = TypeVar("Result")

WAITING_PER_THREAD = 4


def map_in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int,
    size_of: Callable[[Item], int] | None = None,
) -> Iterator[Result]:
    """Yield `function(item)` for each item, in their order; an exception ends it.

    With `size_of`, which gives an item's bytes, waiting items have about as many as one record may.
    """
    waiting: deque[tuple[Future[Result], int]] = deque()
    held = 0
    pool = Pool(threads)
    try:
        for item in items:
            # The limits in force here hold there, too.
            future = pool.submit(copy_context().run, function, item)
            waiting.append((future, 0 if size_of is None else size_of(item)))
            held += waiting[-1][1]
            del item, future  # so that nothing but `waiting` holds them
            while len(waiting) >= threads * WAITING_PER_THREAD or beyond("record_bytes", held):
                first, size = waiting.popleft()
                held -= size
                yield first.result()
        while waiting:
            yield waiting.popleft()[0].result()
    finally:
        pool.shutdown(cancel_futures=True)
