"""A clock around a user's op, which passes for the op itself."""

from __future__ import annotations

from typing import Any

from penstock.analysis.thread_clock import StageClock

_LIBRARIES = {"torchvision", "albumentations"}
_BY_INPUT = {"PIL": "Pillow", "torch": "torch", "torchvision": "torch", "numpy": "NumPy, OpenCV"}


class TimedOp:
    """Calls the op and counts the time for `name`; everything else is the op's own.

    `isinstance` sees the op's class, since libraries ask for it.
    """

    def __init__(self, op: Any, name: str, clock: StageClock) -> None:
        self._op = op
        self._name = name
        self._clock = clock
        self.runs_in = "Python"

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the op, on the clock."""
        if _root(type(self._op)) in _LIBRARIES:
            given = arguments[0] if arguments else options.get("image")
            self.runs_in = _BY_INPUT.get(_root(type(given)), "Python")
        with self._clock.stage(self._name):
            return self._op(*arguments, **options)

    def _class(self) -> type:
        return type(self._op)

    __class__ = property(_class)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)


def name_of(op: Any) -> str:
    """Return what a user would call an op: a function's name, or a class's."""
    return getattr(op, "__qualname__", None) or type(op).__name__


def _root(kind: type) -> str:
    return kind.__module__.partition(".")[0]
