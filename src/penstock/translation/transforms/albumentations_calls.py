"""Albumentations' transforms called from the loader's threads, with draws that can be repeated."""

from __future__ import annotations

import copy
import random
import threading
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from penstock.errors import TransformError
from penstock.transforms.python_step import Pixels


class Call(Protocol):
    """One thing to do to an array."""

    @property
    def transform(self) -> Any:
        """Albumentations' transform that does it."""
        ...

    def forced(self) -> Call:
        """Return a copy that does it always, whatever `p` is."""
        ...

    def run(self, pixels: Pixels, rng: np.random.Generator, python_rng: random.Random) -> Any:
        """Return what becomes of it, drawing from these generators only."""
        ...


@dataclass(frozen=True, slots=True)
class WholeCall:
    """The transform as it is, `p` included."""

    transform: Any

    def forced(self) -> WholeCall:
        """Return a copy with another `p`."""
        always = copy.deepcopy(self.transform)
        always.p = 1.0
        return WholeCall(always)

    def run(self, pixels: Pixels, rng: np.random.Generator, python_rng: random.Random) -> Any:
        """Call it with generators that it takes for its own."""
        self.transform.set_random_state(rng, python_rng)
        return self.transform(image=pixels)["image"]


@dataclass(frozen=True, slots=True)
class ResizeCall:
    """What RandomResizedCrop does to a box that was cut out already."""

    transform: Any

    def forced(self) -> ResizeCall:
        """Return the same: it is made only if `p` is 1."""
        return self

    def run(self, pixels: Pixels, rng: np.random.Generator, python_rng: random.Random) -> Any:
        """Resize; nothing is drawn."""
        del rng, python_rng
        height, width = pixels.shape[:2]
        return self.transform.apply(pixels, crop_coords=(0, 0, width, height))


class ArrayCalls:
    """Calls transforms one after the other on one image.

    A transform keeps its generators and what it drew last in itself, so every thread has copies.
    """

    def __init__(self, calls: tuple[Call, ...]) -> None:
        self._calls = copy.deepcopy(calls)  # what the user does to them later changes nothing
        self._own = threading.local()
        self.__qualname__ = ", ".join(_name(call) for call in calls)

    def __call__(self, pixels: Pixels, rng: np.random.Generator) -> Pixels:
        """Return the array that comes out, which must be RGB bytes as what went in."""
        if not hasattr(self._own, "calls"):
            self._own.calls = copy.deepcopy(self._calls)
        python_rng = random.Random(int(rng.integers(1 << 63)))
        for call in self._own.calls:
            pixels = _check(call, call.run(pixels, rng, python_rng))
        return pixels

    def followed_by(self, call: Call) -> ArrayCalls:
        """Return the same with one more at the end; in a row, images change hands once."""
        return ArrayCalls((*self._calls, call))


def _name(call: Call) -> str:
    return str(type(call.transform).__name__)


def _check(call: Call, returned: Any) -> Pixels:
    if not isinstance(returned, np.ndarray):
        got = type(returned).__name__
    elif returned.dtype != np.uint8 or returned.ndim != 3 or returned.shape[2] != 3:
        got = f"a {returned.dtype} array of shape {returned.shape}"
    else:
        return returned
    raise TransformError(
        f"{_name(call)}: returned {got}; a step between others must return a uint8 array of "
        "height x width x 3 to be accelerated."
    )
