"""The end of a pipeline: the type, range and normalisation of values, and the layout of a batch.

ToDtype, ToTensor and Normalize, in the orders that make sense, come to one pass over the pixels:
(x * scale / divisor - mean) / std * gain in float32, each operation rounded, then one rounding to
the element type. That is what torchvision computes, bit for bit, or Albumentations, which
multiplies by a gain instead of dividing by std. Orders that would round in between are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from penstock._core import Element
from penstock.errors import TransformError
from penstock.transforms.arguments import PerChannel, read_channels
from penstock.transforms.op import Transform

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

_TO_UNIT_RANGE = float(np.float32(1.0 / 255.0))

Layout = Literal["chw", "hwc"]  # the order of an image's axes: channels first, or last


@dataclass(frozen=True, slots=True, repr=False)
class ToDtype(Transform):
    """Give the batch another element type; with `scale`, 0..255 becomes 0..1.

    `dtype` is a NumPy or torch dtype or its name: uint8, float16, bfloat16 or float32.
    """

    dtype: Any
    scale: bool = False
    element: Element = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(element=read_element("ToDtype", self.dtype))


@dataclass(frozen=True, slots=True, repr=False)
class ToTensor(Transform):
    """Make values float32 and divide them by 255, as torchvision's older transform of this name.

    `ToDtype("float32", scale=True)` multiplies by 1/255 instead, as torchvision v2 does; some of
    the 256 results differ in the last bit.
    """


@dataclass(frozen=True, slots=True, repr=False)
class Normalize(Transform):
    """Subtract `mean` and divide by `std`, for red, green and blue, in float32.

    An image that is still uint8 goes through `ToDtype("float32", scale=True)` first, which
    torchvision would ask you to write. `inplace` is one of its arguments and changes nothing.

    `flavor` "albumentations" computes as that library does on a uint8 image: subtract mean * 255,
    multiply by 1 / (std * 255). Some results differ in the last bit.
    """

    mean: Sequence[float]
    std: Sequence[float]
    inplace: bool = False
    flavor: Literal["torchvision", "albumentations"] = "torchvision"
    channel_mean: PerChannel = field(init=False, repr=False, compare=False)
    channel_std: PerChannel = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            channel_mean=_read_singles("mean", self.mean),
            channel_std=_read_singles("std", self.std),
        )
        if 0.0 in self.channel_std:
            raise TransformError(f"Normalize: std must not contain 0, got {self.std!r}.")
        if self.flavor not in ("torchvision", "albumentations"):
            raise TransformError(
                f'Normalize: flavor must be "torchvision" or "albumentations", got {self.flavor!r}.'
            )


FinalOp: TypeAlias = ToDtype | ToTensor | Normalize  # what ends a pipeline


def read_element(where: str, dtype: Any) -> Element:
    """The element type that a NumPy or torch dtype names; torch need not be imported for that."""
    if isinstance(dtype, str) or type(dtype).__module__.partition(".")[0] == "torch":
        name = str(dtype).removeprefix("torch.")
    else:
        try:
            name = np.dtype(dtype).name
        except TypeError:
            name = ""
    if name.upper() not in Element.__members__:
        raise TransformError(
            f"{where}: dtype is {dtype!r}. Use uint8, float16, bfloat16 or float32."
        )
    return Element[name.upper()]


def _read_singles(name: str, given: Any) -> PerChannel:
    numbers = read_channels("Normalize", name, given)
    return _per_channel(np.array(numbers, dtype=np.float32))


@dataclass(frozen=True, slots=True)
class FinalSpec:
    """(x * scale / divisor - mean) / std * gain in float32, then cast; uint8 stays as it is."""

    element: Element = Element.UINT8
    scale: float = 1.0
    mean: PerChannel = (0.0, 0.0, 0.0)
    std: PerChannel = (1.0, 1.0, 1.0)
    divisor: float = 1.0
    gain: PerChannel = (1.0, 1.0, 1.0)


def reduce_final(steps: Iterable[tuple[int, FinalOp]]) -> FinalSpec:
    """Fold the last ops of a pipeline, each with its number (from 0) in what the user wrote."""
    spec = FinalSpec()
    normalised = False
    for position, op in steps:
        where = f"{type(op).__name__} (step {position + 1})"
        if isinstance(op, ToDtype):
            spec = _cast(where, spec, op)
        elif isinstance(op, ToTensor):
            spec = _divide(where, spec)
        elif normalised:
            raise TransformError(
                f"{where}: the image is normalised already. Combine the two into one Normalize."
            )
        else:
            spec = _normalise(where, spec, op)
            normalised = True
    return spec


def _cast(where: str, spec: FinalSpec, op: ToDtype) -> FinalSpec:
    if op.element == spec.element:
        return spec
    if spec.element == Element.UINT8:
        return replace(spec, element=op.element, scale=_TO_UNIT_RANGE if op.scale else 1.0)
    if spec.element == Element.FLOAT32 and op.element != Element.UINT8:
        return replace(spec, element=op.element)
    raise TransformError(
        f"{where}: the image is {spec.element.name.lower()} here and cannot become "
        f"{op.element.name.lower()}. Keep only the last ToDtype."
    )


def _divide(where: str, spec: FinalSpec) -> FinalSpec:
    if spec.element != Element.UINT8:
        raise TransformError(
            f"{where}: the image is {spec.element.name.lower()} here already. Leave out one of the "
            "two."
        )
    return FinalSpec(Element.FLOAT32, divisor=255.0)


def _normalise(where: str, spec: FinalSpec, op: Normalize) -> FinalSpec:
    if op.flavor == "albumentations":
        return _normalise_levels(where, spec, op)
    if spec.element == Element.UINT8:
        spec = FinalSpec(Element.FLOAT32, _TO_UNIT_RANGE)
    elif spec.element != Element.FLOAT32:
        name = spec.element.name.lower()
        raise TransformError(
            f"{where}: the image is {name} here, which would round every step of the "
            f'calculation. Put ToDtype("{name}") after Normalize.'
        )
    return replace(spec, mean=op.channel_mean, std=op.channel_std)


def _normalise_levels(where: str, spec: FinalSpec, op: Normalize) -> FinalSpec:
    """Mean and deviation times 255, for values that are still 0..255."""
    if spec.element != Element.UINT8:
        raise TransformError(
            f'{where}: flavor "albumentations" takes a uint8 image, and it is '
            f"{spec.element.name.lower()} here. Leave out what comes before, or the flavor."
        )
    levels = np.float32(255)
    mean = np.array(op.channel_mean, np.float32) * levels
    gain = np.reciprocal(np.array(op.channel_std, np.float32) * levels)
    return FinalSpec(Element.FLOAT32, mean=_per_channel(mean), gain=_per_channel(gain))


def _per_channel(numbers: npt.NDArray[np.float32]) -> PerChannel:
    red, green, blue = numbers.tolist()
    return red, green, blue
