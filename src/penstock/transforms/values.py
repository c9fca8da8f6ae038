"""What becomes of pixel values at the end of a pipeline: their type, range and normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from penstock._core import Element as Element  # noqa: PLC0414  (re-exported)
from penstock.errors import TransformError
from penstock.transforms.arguments import read_numbers
from penstock.transforms.op import Transform

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

PerChannel = tuple[float, float, float]  # red, green, blue; each a float32


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

    On an image that is still uint8 this means `ToDtype("float32", scale=True)` first, which
    torchvision would ask you to write. `inplace` is taken for its sake and changes nothing.

    `flavor` "albumentations" computes as that library does on a uint8 image: subtract mean * 255,
    multiply by 1 / (std * 255). The last bit of some results is another.
    """

    mean: Sequence[float]
    std: Sequence[float]
    inplace: bool = False
    flavor: Literal["torchvision", "albumentations"] = "torchvision"
    channel_mean: PerChannel = field(init=False, repr=False, compare=False)
    channel_std: PerChannel = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            channel_mean=_read_channels("mean", self.mean),
            channel_std=_read_channels("std", self.std),
        )
        if 0.0 in self.channel_std:
            raise TransformError(f"Normalize: std must not contain 0, got {self.std!r}.")
        if self.flavor not in ("torchvision", "albumentations"):
            raise TransformError(
                f'Normalize: flavor must be "torchvision" or "albumentations", got {self.flavor!r}.'
            )


FinalOp: TypeAlias = ToDtype | ToTensor | Normalize  # what ends a pipeline


def read_element(where: str, dtype: Any) -> Element:
    """Go by name, so that torch need not be imported to know its types."""
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


def _read_channels(name: str, given: Any) -> PerChannel:
    numbers = read_numbers("Normalize", name, given)
    if len(numbers) not in (1, 3):
        raise TransformError(
            f"Normalize: {name} must have one number for each of red, green and blue, "
            f"got {given!r}."
        )
    red, green, blue = (float(np.float32(number)) for number in numbers * (3 // len(numbers)))
    return red, green, blue
