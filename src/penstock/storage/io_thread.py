"""The thread on which all requests of a process run; whoever reads waits for futures.

One event loop keeps many requests under way without a thread for each, and can end any of them at
once: at its deadline, or when a loader is closed.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")

_lock = threading.Lock()
_running: dict[int, IoThread] = {}  # by process: a forked child has no thread yet


class _Loop(asyncio.SelectorEventLoop):
    """Knows whether threads of others are within it, as obstore's are when they bring a result.

    Such a thread that waits for Python's lock while Python ends takes the process down with it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._counting = threading.Lock()
        self._within = 0

    def call_soon_threadsafe(  # type: ignore[override]  # whose arguments depend on each other
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Call a function on the loop's thread."""
        with self._counting:
            self._within += 1
        try:
            return super().call_soon_threadsafe(callback, *args, context=context)
        finally:
            with self._counting:
                self._within -= 1

    def await_others(self, seconds: float) -> None:
        """Wait until nobody is within it."""
        end = time.monotonic() + seconds
        while self._within and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(0.001)  # who has just left it has a few steps to go


class IoThread:
    """An event loop on a thread of its own."""

    def __init__(self) -> None:
        self.loop = _Loop()
        self._thread = threading.Thread(target=self._run, name="penstock-storage", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()  # or Python complains of it when it ends

    def submit(self, work: Coroutine[Any, Any, ResultT]) -> Future[ResultT]:
        """Start work; cancelling the future ends it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def stop(self) -> None:
        """End all work, and the thread."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._cancel_all)
            self._thread.join(timeout=5)
            self.loop.await_others(seconds=1)

    def _cancel_all(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.call_soon(self.loop.stop)


def io_thread() -> IoThread:
    """Return this process's thread; the first call starts it."""
    with _lock:
        found = _running.get(os.getpid())
        if found is None:
            found = _running[os.getpid()] = IoThread()
        return found


def _after_fork() -> None:
    global _lock  # noqa: PLW0603  (the parent may have held it)
    _lock = threading.Lock()
    _running.clear()


def _at_exit() -> None:
    found = _running.pop(os.getpid(), None)
    if found is not None:
        found.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
