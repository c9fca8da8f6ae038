"""A clock around a user's op, which passes for the op itself."""

from __future__ import annotations

import math
from typing import Any

from penstock.costs.thread_clock import StageClock

_LIBRARIES = {"torchvision", "albumentations"}
_BY_INPUT = {"PIL": "Pillow", "torch": "torch", "torchvision": "torch", "numpy": "NumPy, OpenCV"}
_KEPT = 8  # images that a crop lets out, to try other ops on
_SMALLER = 0.8  # of the pixels: what leaves a crop has fewer


class TimedOp:
    """Calls the op and counts the time for `name`; everything else is the op's own.

    `isinstance` sees the op's class, since libraries ask for it.
    """

    def __init__(self, op: Any, name: str, clock: StageClock) -> None:
        self._op = op
        self._name = name
        self._clock = clock
        self.runs_in = "Python"
        self.kept: list[Any] = []  # images that left with fewer pixels than they came with

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the op, on the clock."""
        if _root(type(self._op)) in _LIBRARIES:
            given = arguments[0] if arguments else options.get("image")
            self.runs_in = _BY_INPUT.get(_root(type(given)), "Python")
        with self._clock.stage(self._name):
            result = self._op(*arguments, **options)
        if len(arguments) == 1 and not options and len(self.kept) < _KEPT:
            before, after = _pixels(arguments[0]), _pixels(result)
            if 0 < after < _SMALLER * before:
                self.kept.append(result)
        return result

    @property
    def op(self) -> Any:
        """The op without the clock."""
        return self._op

    def _class(self) -> type:
        return type(self._op)

    __class__ = property(_class)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)


def name_of(op: Any) -> str:
    """Return what a user would call an op: a function's name, or a class's."""
    return getattr(op, "__qualname__", None) or type(op).__name__


def _pixels(image: Any) -> int:
    """Return the pixels of an image, or three times as many for all; 0 for what is none."""
    shape = tuple(getattr(image, "shape", ()))
    if not shape:
        shape = getattr(image, "size", ())
    return math.prod(shape) if isinstance(shape, tuple) else 0


def _root(kind: type) -> str:
    return kind.__module__.partition(".")[0]
