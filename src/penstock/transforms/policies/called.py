"""Policies that are called: ops drawn from torch's generator, and done to one image of a sample."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from penstock.errors import TransformTypeError
from penstock.geometry import Sizes
from penstock.transforms import functional as F
from penstock.transforms.arguments import fill_for, mode_name
from penstock.transforms.inputs import (
    EVERYTHING,
    IMAGES,
    SINGLE_IMAGES,
    TARGETS,
    TENSORS,
    chosen_kinds,
    flatten,
    kind_of,
)
from penstock.transforms.op import ImageOp
from penstock.transforms.policies.ops import PolicyOp
from penstock.transforms.torch_draws import chance_up_to, get_torch


class CalledPolicy(ImageOp):
    """A policy: it changes the one image or video of a sample, and takes no targets beside it."""

    __slots__ = ()

    interpolation: Any
    fill: Any

    @property
    def is_random(self) -> bool:
        """Always."""
        return True

    @abstractmethod
    def augment(self, image: Any) -> Any:
        """Draw ops, and do them to an image."""

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Find the one image of a sample, and augment it."""
        if len(inputs) == 1 and kind_of(inputs[0]) & SINGLE_IMAGES:
            return self.augment(inputs[0])
        values, rebuild = flatten(inputs if len(inputs) > 1 else inputs[0])
        name = type(self).__name__
        for value in values:
            if kind_of(value) & TARGETS:
                raise TransformTypeError(
                    f"Inputs of type {type(value).__name__} are not supported by {name}(). "
                    "Leave them out of the sample."
                )
        chosen = chosen_kinds(values, EVERYTHING)
        places = [place for place, kind in enumerate(chosen) if kind & IMAGES]
        if not places:
            raise TransformTypeError(f"{name}: Found no image in the sample. Give one.")
        if len(places) > 1:
            raise TransformTypeError(
                f"{name}: Auto augment transformations are only properly defined for a single "
                f"image or video, but found {len(places)}. Give one."
            )
        values[places[0]] = self.augment(values[places[0]])
        return rebuild(values)

    def do(self, op: PolicyOp, level: int | Callable[[], int], image: Any, size: Size2d) -> Any:
        """Draw the sign of an op, if it has one, and do it at a level, drawn if it has any."""
        magnitude = 0.0
        if op.argument is not None:
            magnitude = _magnitude(op, level() if callable(level) else level, size)
            if op.signed and chance_up_to(0.5):
                magnitude = -magnitude
        if op.name in _WARPS:
            look = {
                "interpolation": mode_name(self.interpolation),
                "fill": fill_for(self.fill, image),
            }
            return _WARPS[op.name](image, magnitude, look)
        return _CHANGES[op.name](image, magnitude)


Size2d = tuple[int, int]


@lru_cache(maxsize=8192)
def _magnitude(op: PolicyOp, level: int, size: Size2d) -> float:
    """The argument of an op at a level, for an image of a size."""
    if op.argument is None:
        return 0.0
    sizes = Sizes(np.array([size[0]]), np.array([size[1]]))
    return float(op.argument(np.array([float(level)]), sizes)[0])


def _shear(image: Any, across: float, down: float, look: dict[str, Any]) -> Any:
    shear = [math.degrees(math.atan(across)), math.degrees(math.atan(down))]
    return F.affine(
        image, angle=0.0, translate=[0, 0], scale=1.0, shear=shear, center=[0, 0], **look
    )


def _translate(image: Any, across: float, down: float, look: dict[str, Any]) -> Any:
    moved = [int(across), int(down)]
    return F.affine(image, angle=0.0, translate=moved, scale=1.0, shear=[0.0, 0.0], **look)


def _solarize(image: Any, share: float) -> Any:
    return F.solarize(image, threshold=_most_value(image) * share)


def _most_value(image: Any) -> float:
    """The value of white."""
    if not kind_of(image) & TENSORS:
        return 255.0
    if image.dtype.is_floating_point:
        return 1
    torch = get_torch()
    return 1 if image.dtype == torch.bool else int(torch.iinfo(image.dtype).max)


_WARPS: dict[str, Callable[[Any, float, dict[str, Any]], Any]] = {
    "ShearX": lambda image, magnitude, look: _shear(image, magnitude, 0.0, look),
    "ShearY": lambda image, magnitude, look: _shear(image, 0.0, magnitude, look),
    "TranslateX": lambda image, magnitude, look: _translate(image, magnitude, 0.0, look),
    "TranslateY": lambda image, magnitude, look: _translate(image, 0.0, magnitude, look),
    "Rotate": lambda image, magnitude, look: F.rotate(image, angle=magnitude, **look),
}

_CHANGES: dict[str, Callable[[Any, float], Any]] = {
    "Identity": lambda image, _: image,
    "Brightness": lambda image, more: F.adjust_brightness(image, brightness_factor=1.0 + more),
    "Color": lambda image, more: F.adjust_saturation(image, saturation_factor=1.0 + more),
    "Contrast": lambda image, more: F.adjust_contrast(image, contrast_factor=1.0 + more),
    "Sharpness": lambda image, more: F.adjust_sharpness(image, sharpness_factor=1.0 + more),
    "Posterize": lambda image, bits: F.posterize(image, bits=int(bits)),
    "Solarize": _solarize,
    "AutoContrast": lambda image, _: F.autocontrast(image),
    "Equalize": lambda image, _: F.equalize(image),
    "Invert": lambda image, _: F.invert(image),
}
