"""The moment to speak: a script has ended, however it did."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Callable
from time import perf_counter
from types import FrameType
from typing import NoReturn

from penstock.analysis.run_script import Outcome

Handler = Callable[[int, FrameType | None], None] | signal.Handlers
EXIT_TERMINATED = 143  # as shells report a program that SIGTERM ended


class ScriptEnd:
    """Calls `tell` with the outcome and the seconds it took: once, and in this process only.

    That is when Python exits, after the script's own threads and exit functions; or before that,
    where the script or a signal ends the process at once. Made before the script starts.
    """

    def __init__(self, tell: Callable[[Outcome, float], None]) -> None:
        self.outcome = Outcome("finished", 0)
        self._tell = tell
        self._process: int | None = os.getpid()
        self._started_s = perf_counter()
        self._exit_at_once = os._exit
        atexit.register(self._speak)
        os._exit = self._before_exit_at_once
        if _is_main_thread():
            signal.signal(signal.SIGTERM, self._before_sigterm)
            if hasattr(os, "register_at_fork"):
                # Python forgets a signal that a child gets at its very beginning, unless nothing
                # handles it: then the script would wait for ever for a child it has ended.
                os.register_at_fork(
                    before=lambda: self._exchange(self._before_sigterm, signal.SIG_DFL),
                    after_in_parent=lambda: self._exchange(signal.SIG_DFL, self._before_sigterm),
                )

    def _speak(self) -> None:
        """Tell, unless that was done, or this is a child that the script forked."""
        if self._process == os.getpid():
            self._process = None
            if _is_main_thread() and hasattr(signal, "SIGCHLD"):
                # torch raises an error from here when a worker dies, as all do in these moments.
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._tell(self.outcome, perf_counter() - self._started_s)

    def _before_exit_at_once(self, status: int) -> NoReturn:
        self.outcome = Outcome("exited", status)
        self._speak()
        self._exit_at_once(status)

    def _before_sigterm(self, number: int, frame: FrameType | None) -> None:
        """Speak, then end as the signal would have it: without the script's exit functions."""
        del frame
        if signal.getsignal(number) != self._before_sigterm:
            return  # the script's own handler, which found this one and passes the signal on
        self.outcome = Outcome("terminated", EXIT_TERMINATED)
        self._speak()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _exchange(self, present: Handler, wanted: Handler) -> None:
        """Handle SIGTERM another way; one of the script's own is left alone."""
        if _is_main_thread() and signal.getsignal(signal.SIGTERM) == present:
            signal.signal(signal.SIGTERM, wanted)


def _is_main_thread() -> bool:
    """Whether Python lets this thread set signal handlers."""
    return threading.current_thread() is threading.main_thread()
