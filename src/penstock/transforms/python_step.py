"""A user's own function as a step of a pipeline."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock.errors import TransformError
from penstock.transforms.declared import Declared, declared
from penstock.transforms.op import Transform
from penstock.transforms.torch_draws import draw_key

Pixels: TypeAlias = npt.NDArray[np.uint8]

# Transforms of these libraries are translated or refused: called as they are, they would draw
# numbers that do not depend on the loader's seed.
_LIBRARIES = frozenset(["albumentations", "kornia", "timm", "torch", "torchvision"])


@dataclass(frozen=True, slots=True, repr=False)
class PythonStep(Transform):
    """Calls `function(image)` with an RGB Pillow image, in Python, one image at a time.

    A parameter named `rng` receives a NumPy generator that depends on seed, epoch, sample and step
    only, so that its draws can be repeated. The function returns a Pillow image or a uint8 array
    of height x width x 3. With `as_array` it is given such an array too, which it may write to;
    that saves copies.

    Called, it calls the function with whatever it is given, as torchvision's Compose would.
    """

    function: Callable[..., Any]
    as_array: bool = False
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

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Call the function with whatever it is given."""
        if self.as_array:
            inputs = tuple(
                np.array(value) if isinstance(value, Image.Image) else value for value in inputs
            )
        if self.wants_rng:
            return self.function(*inputs, rng=np.random.default_rng(draw_key()))
        return self.function(*inputs)

    @property
    def declared(self) -> Declared:
        """What the user has said about the function."""
        return declared(self.function)

    @property
    def name(self) -> str:
        """What to call the step in messages."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def apply(self, image: Image.Image, rng: np.random.Generator, step: int) -> Image.Image:
        """Call the function on one image; `step` counts from 1, for messages."""
        returned = self._call(np.array(image) if self.as_array else image, rng)
        where = f"{self.name} (step {step})"
        result = _to_image(where, returned)
        _require_pixels(where, result.height, result.width)
        self._require_size(where, (image.height, image.width), (result.height, result.width))
        return result

    def apply_to_array(self, pixels: Pixels, rng: np.random.Generator, step: int) -> Pixels:
        """Call the function on an array, which it may keep or change; return a contiguous one."""
        given = pixels.shape[0], pixels.shape[1]
        returned = self._call(pixels if self.as_array else Image.fromarray(pixels), rng)
        where = f"{self.name} (step {step})"
        if not _is_rgb_array(returned):
            returned = np.asarray(_to_image(where, returned))
        _require_pixels(where, *returned.shape[:2])
        self._require_size(where, given, (returned.shape[0], returned.shape[1]))
        return np.ascontiguousarray(returned)

    def _require_size(self, where: str, given: tuple[int, int], got: tuple[int, int]) -> None:
        if self.declared >= Declared.KEEPS_SIZE and got != given:
            name = self.declared.name.lower()
            raise TransformError(
                f"{where}: is declared {name}, but made {got[0]}x{got[1]} of "
                f"{given[0]}x{given[1]}. Leave out @penstock.{name}."
            )

    def _call(self, image: Image.Image | Pixels, rng: np.random.Generator) -> Any:
        return self.function(image, rng=rng) if self.wants_rng else self.function(image)


def library_of(function: Any) -> str | None:
    """The library that a transform or a function is from; None for the user's own."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, MethodType):
        function = function.__self__
    module = getattr(function, "__module__", None) or type(function).__module__
    library = module.partition(".")[0]
    return library if library in _LIBRARIES else None


def _has_rng_parameter(function: Callable[..., Any]) -> bool:
    try:
        return "rng" in inspect.signature(function).parameters
    except ValueError:  # some built-in functions have no signature
        return False


def _require_pixels(where: str, height: int, width: int) -> None:
    if height < 1 or width < 1:
        raise TransformError(
            f"{where}: returned an empty image of {height}x{width}. Return at least one pixel."
        )


def _is_rgb_array(returned: Any) -> bool:
    return (
        isinstance(returned, np.ndarray)
        and returned.dtype == np.uint8
        and returned.ndim == 3
        and returned.shape[2] == 3
    )


def _to_image(where: str, returned: Any) -> Image.Image:
    if isinstance(returned, Image.Image):
        return returned if returned.mode == "RGB" else returned.convert("RGB")
    if _is_rgb_array(returned):
        return Image.fromarray(np.ascontiguousarray(returned))
    if isinstance(returned, np.ndarray):
        got = f"a {returned.dtype} array of shape {returned.shape}"
    else:
        got = f"{type(returned).__name__}"
    raise TransformError(
        f"{where}: returned {got}. Return a Pillow image or a uint8 array of height x width x 3."
    )
