"""A user's own function as a step of a pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image

from penstock.errors import TransformError
from penstock.transforms.op import Transform


@dataclass(frozen=True, slots=True, repr=False)
class PythonStep(Transform):
    """Calls `function(image)` with an RGB Pillow image, in Python, one image at a time.

    A parameter named `rng` receives a NumPy generator that depends on seed, epoch, sample and step
    only, so that its draws can be repeated. The function returns a Pillow image or a uint8 array
    of height x width x 3.
    """

    function: Callable[..., Any]
    wants_rng: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.function, type):
            name = self.function.__name__
            raise TransformError(f"{name} is a class, not a transform. Write {name}(...).")
        if not callable(self.function):
            raise TransformError(
                f"{self.function!r} is not a transform. Give one of penstock.transforms, "
                f"or a function that takes a Pillow image."
            )
        self._keep(wants_rng=_has_rng_parameter(self.function))

    @property
    def name(self) -> str:
        """What to call the step in messages."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def apply(self, image: Image.Image, rng: np.random.Generator, step: int) -> Image.Image:
        """Call the function on one image; `step` counts from 1, for messages."""
        returned = self.function(image, rng=rng) if self.wants_rng else self.function(image)
        where = f"{self.name} (step {step})"
        result = _to_image(where, returned)
        if result.width < 1 or result.height < 1:
            raise TransformError(
                f"{where}: returned an empty image of {result.height}x{result.width}. "
                f"Return at least one pixel."
            )
        return result


def _has_rng_parameter(function: Callable[..., Any]) -> bool:
    try:
        return "rng" in inspect.signature(function).parameters
    except ValueError:  # some built-in functions do not tell
        return False


def _to_image(where: str, returned: object) -> Image.Image:
    if isinstance(returned, Image.Image):
        return returned if returned.mode == "RGB" else returned.convert("RGB")
    if isinstance(returned, np.ndarray):
        if returned.dtype == np.uint8 and returned.ndim == 3 and returned.shape[2] == 3:
            return Image.fromarray(np.ascontiguousarray(returned))
        got = f"a {returned.dtype} array of shape {returned.shape}"
    else:
        got = f"{type(returned).__name__}"
    raise TransformError(
        f"{where}: returned {got}. Return a Pillow image or a uint8 array of height x width x 3."
    )
