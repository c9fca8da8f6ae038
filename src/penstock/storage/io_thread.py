"""The thread on which all requests of a process run; whoever reads waits for futures.

One event loop keeps many requests under way without a thread for each, and can end any of them at
once: at its deadline, or when a loader is closed.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")

_lock = threading.Lock()
_running: dict[int, IoThread] = {}  # by process: a forked child has no thread yet


class IoThread:
    """An event loop on a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
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
