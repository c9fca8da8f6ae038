"""The end of a pipeline: the type, range and normalisation of values, and the layout of a batch.

ToDtype, ToTensor and Normalize, in the orders that make sense, come to one pass over the pixels:
(x * scale / divisor - mean) / std * gain in float32, each operation rounded, then one rounding to
the element type. That is what torchvision computes, bit for bit, or Albumentations, which
multiplies by a gain instead of dividing by std. Orders that would round in between are refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from penstock._core import Element
from penstock.errors import TransformError, TransformTypeError
from penstock.transforms import functional as F
from penstock.transforms.arguments import PerChannel, read_channels, read_numbers
from penstock.transforms.inputs import (
    ARRAY,
    IMAGE,
    PILLOW,
    TARGETS,
    TENSOR,
    TENSORS,
    VIDEO,
    has_any,
    kind_of,
    kind_of_type,
    plain,
    wrap_like,
)
from penstock.transforms.op import Params, Transform
from penstock.transforms.torch_draws import get_torch

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

_TO_UNIT_RANGE = float(np.float32(1.0 / 255.0))

Layout = Literal["chw", "hwc"]  # the order of an image's axes: channels first, or last


@dataclass(frozen=True, slots=True, repr=False)
class ToDtype(Transform):
    """Give the batch another element type; with `scale`, 0..255 becomes 0..1.

    `dtype` is a NumPy or torch dtype or its name: uint8, float16, bfloat16 or float32. Called, it
    takes tensors, and any of torch's dtypes, or a dictionary of dtypes by type and "others".
    """

    dtype: Any
    scale: bool = False
    takes: ClassVar[int] = TENSORS
    changes: ClassVar[int] = TENSOR | IMAGE | VIDEO | TARGETS
    element: Element = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        loaded = "float32" if _is_for_calls(self.dtype) else self.dtype
        self._keep(element=read_element("ToDtype", loaded))
        if isinstance(self.dtype, Mapping):
            kinds = {kind_of_type(one) for one in self.dtype if isinstance(one, type)}
            if TENSOR in kinds and kinds & {IMAGE, VIDEO}:
                warnings.warn(
                    "ToDtype: Got `dtype` values for `torch.Tensor` and either `tv_tensors.Image` "
                    "or `tv_tensors.Video`. A plain tensor is not transformed beside one of them.",
                    stacklevel=3,
                )

    @property
    def refusal(self) -> str | None:
        """The loader knows four types, and one for all images."""
        if not _is_for_calls(self.dtype):
            return None
        return (
            f"ToDtype: the loader gives images of uint8, float16, bfloat16 or float32, "
            f"got {self.dtype!r}. Use one of them."
        )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Convert images and videos; with a dictionary, whatever it names."""
        del params
        is_image = bool(kind_of(inpt) & (TENSOR | IMAGE | VIDEO))
        if not isinstance(self.dtype, Mapping):
            if not is_image:
                return inpt
            return F.to_dtype(inpt, dtype=as_torch_dtype(self.dtype), scale=self.scale)
        if type(inpt) not in self.dtype and "others" not in self.dtype:
            raise TransformError(
                f"ToDtype: No dtype was specified for type {type(inpt)}. Add it to the dictionary, "
                'or "others" for all the rest.'
            )
        dtype = self.dtype[type(inpt) if type(inpt) in self.dtype else "others"]
        if dtype is None:
            if self.scale and is_image:
                warnings.warn(
                    "ToDtype: scale was set to True but no dtype was specified for images or "
                    "videos: no scaling will be done.",
                    stacklevel=2,
                )
            return inpt
        return F.to_dtype(inpt, dtype=as_torch_dtype(dtype), scale=self.scale)


@dataclass(frozen=True, slots=True, repr=False)
class ToTensor(Transform):
    """Make values float32 and divide them by 255, as torchvision's older transform of this name.

    `ToDtype("float32", scale=True)` multiplies by 1/255 instead, as torchvision v2 does; some of
    the 256 results differ in the last bit. Called, it takes Pillow images and arrays.
    """

    takes: ClassVar[int] = PILLOW | ARRAY
    takes_every_array: ClassVar[bool] = True

    def transform(self, inpt: Any, params: Params) -> Any:
        """Channels first, divided by 255 if it is bytes."""
        del params
        torch = get_torch()
        array = np.array(inpt, dtype=_PILLOW_TYPES.get(getattr(inpt, "mode", "")), copy=True)
        if array.ndim not in (2, 3):
            raise TransformError(
                f"ToTensor: an image has 2 or 3 dimensions, got {array.ndim}. Give one image."
            )
        if getattr(inpt, "mode", "") == "1":
            array *= 255
        channels_last = array[:, :, None] if array.ndim == 2 else array
        tensor = torch.from_numpy(channels_last).permute(2, 0, 1).contiguous()
        if tensor.dtype != torch.uint8:
            return tensor
        return tensor.to(torch.get_default_dtype()).div(255)


@dataclass(frozen=True, slots=True, repr=False)
class Normalize(Transform):
    """Subtract `mean` and divide by `std`, for red, green and blue, in float32.

    In the loader, an image that is still uint8 goes through `ToDtype("float32", scale=True)` first,
    which torchvision would ask you to write. Called, it takes tensors of floats with as many
    channels as `mean` has numbers; `inplace` writes to them.

    `flavor` "albumentations" computes as that library does on a uint8 image: subtract mean * 255,
    multiply by 1 / (std * 255). Some results differ in the last bit.
    """

    mean: Sequence[float]
    std: Sequence[float]
    inplace: bool = False
    flavor: Literal["torchvision", "albumentations"] = "torchvision"
    changes: ClassVar[int] = TENSOR | IMAGE | VIDEO
    channel_mean: PerChannel = field(init=False, repr=False, compare=False)
    channel_std: PerChannel = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        loaded = self._channels in ((1, 1), (1, 3), (3, 1), (3, 3))
        self._keep(
            channel_mean=_read_singles("mean", self.mean if loaded else (0.0,)),
            channel_std=_read_singles("std", self.std if loaded else (1.0,)),
        )
        if 0.0 in read_numbers("Normalize", "std", self.std):
            raise TransformError(f"Normalize: std must not contain 0, got {self.std!r}.")
        if self.flavor not in ("torchvision", "albumentations"):
            raise TransformError(
                f'Normalize: flavor must be "torchvision" or "albumentations", got {self.flavor!r}.'
            )

    @property
    def _channels(self) -> tuple[int, int]:
        """How many numbers mean and std have."""
        mean, std = (
            read_numbers("Normalize", "mean", self.mean),
            read_numbers("Normalize", "std", self.std),
        )
        return len(mean), len(std)

    @property
    def refusal(self) -> str | None:
        """The loader's images have three channels."""
        if all(count in (1, 3) for count in self._channels):
            return None
        return (
            f"Normalize: the loader's images are red, green and blue, and mean has "
            f"{self._channels[0]} numbers, std {self._channels[1]}. Give one or three."
        )

    def check_inputs(self, flat_inputs: Sequence[Any]) -> None:
        """Raise for images that are not tensors yet."""
        if has_any(flat_inputs, PILLOW):
            raise TransformTypeError(
                "Normalize() does not support PIL images. Put ToImage and ToDtype before it."
            )
        if len(flat_inputs) == 1 and has_any(flat_inputs, ARRAY):
            raise TransformTypeError(
                "Normalize() does not support arrays. Put ToImage and ToDtype before it."
            )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Normalise it."""
        del params
        if self.flavor == "albumentations":
            return self._normalise_levels(inpt)
        mean, std = [float(m) for m in self.mean], [float(s) for s in self.std]
        return F.normalize(inpt, mean=mean, std=std, inplace=self.inplace)

    def _normalise_levels(self, inpt: Any) -> Any:
        torch = get_torch()
        if inpt.dtype != torch.uint8:
            raise TransformError(
                f'Normalize: flavor "albumentations" takes uint8 images, got {inpt.dtype}. '
                "Leave out what comes before, or the flavor."
            )
        spec = _normalise_levels("Normalize", FinalSpec(), self)
        mean, gain = torch.tensor(spec.mean)[:, None, None], torch.tensor(spec.gain)[:, None, None]
        return wrap_like((plain(inpt).float() - mean) * gain, inpt)


FinalOp: TypeAlias = ToDtype | ToTensor | Normalize  # what ends a pipeline


_PILLOW_TYPES = {"I": np.int32, "I;16": np.int16, "F": np.float32, "1": np.uint8}


def _is_for_calls(dtype: Any) -> bool:
    """Whether it is a dictionary, or one of torch's dtypes that the loader does not know."""
    if isinstance(dtype, Mapping):
        return all(isinstance(kind, type) or kind == "others" for kind in dtype)
    of_torch = type(dtype).__module__.partition(".")[0] == "torch"
    return of_torch and str(dtype).removeprefix("torch.").upper() not in Element.__members__


def as_torch_dtype(dtype: Any) -> Any:
    """torch's dtype from one of its own, or from NumPy's, or from a name."""
    torch = get_torch()
    if isinstance(dtype, torch.dtype):
        return dtype
    return getattr(torch, read_element("ToDtype", dtype).name.lower())


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
