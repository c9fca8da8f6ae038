"""The moment to speak: a script has ended, however it did."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

Handler = Callable[[int, FrameType | None], None] | signal.Handlers


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a script ended.

    Python tells nobody in the process the code of a script that calls `sys.exit`.
    """

    ended: str  # "ended", "crashed", "interrupted", "terminated", or "exited" by os._exit
    exit_code: int | None = None  # as a shell reports it

    @classmethod
    def seen_by_python(cls, ended: str) -> Outcome:
        """Return the outcome of a script that Python itself brought to its end."""
        return cls(ended, {"crashed": 1, "interrupted": 130}.get(ended))


class ScriptEnd:
    """Calls `tell` with the outcome: once, and in this process only.

    That is when Python exits, after the script's own threads and exit functions; or before that,
    where the script or a signal ends the process at once.
    """

    def __init__(self, tell: Callable[[Outcome], None]) -> None:
        self._tell = tell
        self._process: int | None = os.getpid()
        self._exit_at_once: Callable[[int], NoReturn] | None = None
        self._handles_sigterm = False

    def be_prepared(self) -> None:
        """Be there in case the process is ended at once: from when there is something to tell.

        A script that asks how SIGTERM is handled before that gets the answer it is used to, and
        one with a handler of its own keeps it.
        """
        if self._process != os.getpid():
            return
        if self._exit_at_once is None:
            self._exit_at_once, os._exit = os._exit, self._before_exit_at_once
        if (
            not self._handles_sigterm
            and _is_main_thread()
            and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        ):
            self._handles_sigterm = True
            signal.signal(signal.SIGTERM, self._before_sigterm)
            if hasattr(os, "register_at_fork"):
                # Python forgets a signal that a child gets at its very beginning, unless nothing
                # handles it: then the script would wait for ever for a child it has ended.
                os.register_at_fork(
                    before=lambda: self._exchange(self._before_sigterm, signal.SIG_DFL),
                    after_in_parent=lambda: self._exchange(signal.SIG_DFL, self._before_sigterm),
                )

    def speak(self, outcome: Outcome) -> None:
        """Tell, unless that was done, or this is a child that the script forked."""
        if self._process == os.getpid():
            self._process = None
            if _is_main_thread() and hasattr(signal, "SIGCHLD"):
                # torch raises an error from here when a worker dies, as all do in these moments.
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._tell(outcome)

    def _before_exit_at_once(self, status: int) -> NoReturn:
        assert self._exit_at_once is not None  # noqa: S101 (it is what this one replaces)
        self.speak(Outcome("exited", status))
        self._exit_at_once(status)

    def _before_sigterm(self, number: int, frame: FrameType | None) -> None:
        """Speak, then end as the signal would have it: without the script's exit functions."""
        del frame
        if signal.getsignal(number) != self._before_sigterm:
            return  # the script's own handler, which found this one and passes the signal on
        self.speak(Outcome("terminated", 128 + number))
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _exchange(self, present: Handler, wanted: Handler) -> None:
        """Handle SIGTERM another way; one of the script's own is left alone."""
        if _is_main_thread() and signal.getsignal(signal.SIGTERM) == present:
            signal.signal(signal.SIGTERM, wanted)


def _is_main_thread() -> bool:
    """Whether Python lets this thread set signal handlers."""
    return threading.current_thread() is threading.main_thread()
