"""What users declare about their own functions, so that the planner may move work past them.

A function in a pipeline is a closed box: nothing is moved past it, and the size of what it returns
is not known before. With a declaration the planner believes what the user says, and the loader
checks it on samples:

    @penstock.per_pixel
    def warmer(pixels):
        return np.minimum(pixels * np.float32([1.1, 1.0, 0.9]), 255).astype(np.uint8)
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar

from penstock.errors import TransformError

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_ATTRIBUTE = "__penstock_declares__"


class Declared(IntEnum):
    """What is known of a function; each includes the one before."""

    NOTHING = 0
    KEEPS_SIZE = 1  # it returns an image as high and wide as the one it was given
    PER_PIXEL = 2  # it makes each pixel from that pixel alone, wherever it lies


def keeps_size(function: FunctionT) -> FunctionT:
    """Declare that a function returns images of the size that it was given.

    The planner then knows the sizes behind it. An image of another size is an error.
    """
    return _declare(function, Declared.KEEPS_SIZE)


def per_pixel(function: FunctionT) -> FunctionT:
    """Declare that a function makes each pixel of its result from that pixel alone.

    It may not look at pixels around it, at a figure over the image, or at where the pixel lies; it
    may draw numbers from `rng` for an image, but not for each pixel. Crops are then moved before
    it, so that it has less to do. On some samples the loader compares the result for a part of the
    image with that part of the result, and raises an error if they differ.
    """
    return _declare(function, Declared.PER_PIXEL)


def declared(function: object) -> Declared:
    """What was declared of a function."""
    return Declared(getattr(function, _ATTRIBUTE, Declared.NOTHING))


def _declare(function: FunctionT, what: Declared) -> FunctionT:
    name = what.name.lower()
    if not callable(function):
        raise TransformError(f"{name}: takes a function, got {function!r}.")
    try:
        setattr(function, _ATTRIBUTE, what)
    except AttributeError:
        raise TransformError(
            f"{name}: {function!r} cannot be marked. Wrap it in a function of your own."
        ) from None
    return function
