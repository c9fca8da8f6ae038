"""Transforms that stay as they are: called from the loader, and what a call costs."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from PIL import Image

from penstock.errors import TransformError
from penstock.transforms.python_step import Pixels
from penstock.translation.transforms.identify import describe, imported

_TIMED_CALLS = 8  # behind a first one; several, as some draw whether to do anything
_TIMED_SIDE_PX = 256


class RgbStep:
    """Calls a transform, and makes sure that an RGB Pillow image comes back.

    Anything else would reach the model in another form than through the DataLoader.
    """

    def __init__(self, transform: Callable[[Image.Image], Any]) -> None:
        self._transform = transform
        self.__qualname__ = describe(transform)

    def __call__(self, image: Image.Image) -> Image.Image:
        """Return what the transform makes of an image."""
        returned = self._transform(image)
        if not isinstance(returned, Image.Image) or returned.mode != "RGB":
            got = (
                f"a Pillow image of mode {returned.mode}"
                if isinstance(returned, Image.Image)
                else type(returned).__name__
            )
            raise TransformError(
                f"{self.__qualname__}: returned {got}; a step between others must return an RGB "
                "Pillow image to be accelerated."
            )
        return returned


def timed_picture() -> Pixels:
    """A picture of middling size, the same for all that is timed."""
    side = np.arange(_TIMED_SIDE_PX, dtype=np.uint16)
    pixels = np.stack([np.add.outer(side, side) // 2, *np.broadcast_arrays(side, side[:, None])], 2)
    return pixels.astype(np.uint8)


def microseconds_on_a_picture(
    transform: Callable[[Any], Any], *, as_array: bool = False
) -> float | None:
    """Return the mean time of a few calls on a picture of middling size; None if they fail."""
    pixels = timed_picture()
    picture = Image.fromarray(pixels)
    return microseconds_a_call(lambda: transform(pixels.copy() if as_array else picture.copy()))


def microseconds_a_call(call: Callable[[], Any]) -> float | None:
    """Return the mean time of a few calls; None if they fail."""
    times = []
    with _random_numbers_kept():
        for _ in range(1 + _TIMED_CALLS):
            started = time.perf_counter()
            try:
                call()
            except Exception:  # noqa: BLE001  whatever a user's function raises
                return None
            times.append(time.perf_counter() - started)
    return sum(times[1:]) / _TIMED_CALLS * 1e6


@contextmanager
def _random_numbers_kept() -> Iterator[None]:
    """Leave the generators as they were, so that timing a transform changes no training run."""
    torch = imported("torch")
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002  the user's
    torch_state = None if torch is None else torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(torch_state)
