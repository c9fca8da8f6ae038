"""Messages of Pillow and libtiff about odd files, assigned to the file that they are about.

These libraries write to places that the whole process shares: `warnings`, `logging` and stderr.
`warnings.catch_warnings` also changes the whole process, and would catch other threads' warnings.
So each of the three places gets one listener, which takes messages of threads that listen, and
leaves all others alone.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import PIL.Image  # noqa: F401 (brings in Pillow's native part)

from penstock import _core

_MOST_SHOWN = 3  # in one line


class _Thread(threading.local):
    told: list[str] | None = None  # None: this thread does not listen
    warning = ""


_thread = _Thread()


class _ByText:
    """Takes a regular expression's place in a filter of `warnings`: sees a warning's text."""

    def match(self, text: str) -> bool:
        _thread.warning = str(text)
        return _thread.told is not None


class _ByModule:
    """The same for the module that warns, which is looked at after the text."""

    def match(self, module: str) -> bool:
        if _thread.told is None or not module.startswith("PIL."):
            return False
        _thread.told.append(_thread.warning)
        return True


_FILTER: Any = ("ignore", _ByText(), Warning, _ByModule(), 0)


def _is_for_others(record: logging.LogRecord) -> bool:
    # What Pillow logs as an error it raises as well.
    return _thread.told is None or record.levelno < logging.WARNING


@dataclass(slots=True)
class Messages:
    """What was said while listening, each message once."""

    texts: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        shown = "; ".join(" ".join(text.split()).rstrip(".") for text in self.texts[:_MOST_SHOWN])
        more = len(self.texts) - _MOST_SHOWN
        return f"{shown}; and {more} more" if more > 0 else shown


@contextmanager
def heard() -> Iterator[Messages]:
    """Listen to Pillow and libtiff in this thread; the messages are complete after the block."""
    _start_listening()
    messages = Messages()
    told: list[str] = []
    _thread.told = told
    _core.listen_to_libtiff()
    try:
        yield messages
    finally:
        _thread.told = None
        # libtiff reads from memory, under a name that Pillow made up.
        told += [text.removeprefix("tempfile.tif: ") for text in _core.heard_from_libtiff()]
        messages.texts.extend(dict.fromkeys(told))


_lock = threading.Lock()
_hears_others = False


def _start_listening() -> None:
    global _hears_others  # noqa: PLW0603 (once for the process, as what it listens to is)
    # Whoever restores the filters of a moment ago, as tests do, takes ours away.
    if _FILTER not in warnings.filters:
        warnings.filters.insert(0, _FILTER)  # type: ignore[attr-defined]
    if not _hears_others:
        with _lock:
            if not _hears_others:
                logging.getLogger("PIL.TiffImagePlugin").addFilter(_is_for_others)
                _core.hear_libtiff(str(sys.modules["PIL._imaging"].__file__))
                _hears_others = True
