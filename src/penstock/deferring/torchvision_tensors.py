"""What torchvision's functions do to tensors that are not computed yet: remembered where they can.

A crop shares the memory of the tensor that it is of, as a slice does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch
from torchvision import tv_tensors

from penstock.deferring.chain import Chain
from penstock.deferring.spec import Spec
from penstock.deferring.tensor import Deferred, DeferredTensor, Patch, make, settled, view_of
from penstock.deferring.torchvision_changes import CHANGES, kernel_of, resize
from penstock.errors import TransformError
from penstock.transforms import functional as F
from penstock.transforms.functional.arguments import centre_corner, read_crop_size

Function = Callable[..., Any]

# What we have kernels for that do not take torch's time.
OURS = (
    *("adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue", "adjust_gamma"),
    *("adjust_sharpness", "autocontrast", "equalize", "invert", "posterize", "solarize"),
    *("pad", "rotate", "affine", "perspective", "gaussian_blur", "rgb_to_grayscale"),
    *("permute_channels", "resize"),
)
_CHANNELS = 3
_AXES = 3
_PLANES = (1, 3)


class DeferredTvImage(Deferred, tv_tensors.Image):  # type: ignore[misc]  # no types
    """A deferred tensor that is torchvision's Image to everybody."""

    plain_class = tv_tensors.Image


def or_else(kernel: Function, otherwise: Function) -> Function:
    """A kernel of ours; where it returns None, another one."""

    def either(given: Any, *args: Any, **kwargs: Any) -> Any:
        done = kernel(given, *args, **kwargs)
        return otherwise(given, *args, **kwargs) if done is None else done

    return either


def wrap_on_tensors(original: Function, kernel: Function) -> Function:
    """A function of v1's, which returns plain tensors whatever it is given."""

    @wraps(original)
    def either(given: Any, *args: Any, **kwargs: Any) -> Any:
        is_known = type(given) is DeferredTensor
        done = kernel(given, *args, **kwargs) if is_known else None
        return original(given, *args, **kwargs) if done is None else done

    return either


def _to_dtype(given: Any, dtype: torch.dtype = torch.float32, scale: bool = False) -> Any:
    if dtype == given.spec.dtype:
        return given
    if not _is_of_levels(given) or dtype != torch.float32:
        return None
    return _reopened(given).with_spec(given.spec.as_float(scale=scale))


def _is_of_levels(given: Any) -> bool:
    """Whether nothing has been calculated with its bytes."""
    return given.spec.values is None and not given.spec.is_float


def _reopened(given: Any) -> Any:
    """An image of bytes that was computed, as one to which more is done when the batch is whole."""
    if given.is_open or given.ndim != _AXES or given.shape[0] not in _PLANES:
        return given
    return make(type(given), Chain.of_pixels(_channels_last(given.values())), given.spec)


def _channels_last(tensor: torch.Tensor) -> Any:
    plain = tensor.as_subclass(torch.Tensor)
    return np.ascontiguousarray(plain.expand(_CHANNELS, -1, -1).permute(1, 2, 0).numpy())


def convert_image_dtype(given: Any, dtype: torch.dtype = torch.float32) -> Any:
    """Remember bytes as fractions of 255."""
    if not _is_of_levels(given) or dtype != torch.float32:
        return None
    return _reopened(given).with_spec(given.spec.divided())


def normalize(given: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
    """Remember the means and deviations."""
    numbers = [_numbers(mean), _numbers(std)]
    spec: Spec = given.spec
    if None in numbers or not spec.is_float or spec.is_normalised:
        return None
    if inplace and not (given.is_open and given.is_alone and not given.patches):
        return None  # others change with it
    changed = spec.normalised(*numbers)  # type: ignore[arg-type]  # none is None
    if 0.0 in changed.std:
        return None  # torchvision says what it thinks of that
    if inplace:
        given.change(changed)
        return given
    return given.with_spec(changed)


def _numbers(given: Any) -> tuple[float, ...] | None:
    if not isinstance(given, (list, tuple)) or len(given) not in (1, _CHANNELS):
        return None
    are_numbers = all(isinstance(one, (int, float)) for one in given)
    return tuple(map(float, given)) if are_numbers else None


def _cropped(chain: Chain | None, top: int, left: int, height: int, width: int) -> Chain | None:
    if chain is None:
        return None
    inside = 0 <= top < top + height <= chain.height and 0 <= left < left + width <= chain.width
    return chain.crop(top, left, height, width) if inside else None


def _crop(given: Any, top: int, left: int, height: int, width: int) -> Any:
    cropped = _cropped(given.chain, top, left, height, width)
    if cropped is None:
        return None
    return view_of(
        given,
        type(given),
        cropped,
        lambda values: values[..., top : top + height, left : left + width],
    )


def _center_crop(given: Any, output_size: Any) -> Any:
    sides = output_size if isinstance(output_size, (list, tuple)) else [output_size]
    if len(sides) not in (1, 2) or any(type(side) is not int for side in sides):
        return None
    height, width = read_crop_size(sides)
    top, left = centre_corner(tuple(given.shape[-2:]), (height, width))
    return _crop(given, top, left, height, width)


def _horizontal_flip(given: Any) -> Any:
    if given.chain is None:
        return None
    return make(type(given), given.chain.flip(horizontal=True, vertical=False), given.spec)


def _vertical_flip(given: Any) -> Any:
    if given.chain is None:
        return None
    return make(type(given), given.chain.flip(horizontal=False, vertical=True), given.spec)


def erase(given: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """Remember values that are put in."""
    height, width = given.shape[-2:]
    is_tensor = isinstance(v, torch.Tensor) and not isinstance(v, Deferred)
    fits = is_tensor and 0 <= i < i + h <= height and 0 <= j < j + w <= width
    if not fits or given.chain is None or (inplace and not given.is_alone):
        return None
    target = given if inplace else given.again()
    target.put(Patch(i, j, v.expand(*v.shape[:-2], h, w).clone()))
    return target


def on_values(name: str, kind: Any) -> Function:
    """A function of v2's on the values: by ours, which has the bits of torchvision's, or by that.

    What ours refuses is torchvision's to say.
    """
    theirs = kernel_of(name, kind.plain_class)
    ours = getattr(F, name) if name in OURS else theirs

    def kernel(given: Any, *args: Any, **kwargs: Any) -> Any:
        values = given.values()
        try:
            done = ours(values, *args, **kwargs)
        except TransformError:
            done = theirs(values, *args, **kwargs)
        is_image = done.ndim == _AXES and done.shape[0] in _PLANES and done.dtype == torch.uint8
        return settled(type(given), done) if is_image else done

    return kernel


def _resized_crop(
    given: Any, top: int, left: int, height: int, width: int, *args: Any, **kwargs: Any
) -> Any:
    chain = _cropped(given.chain, top, left, height, width)
    if chain is None:
        return None
    cropped = make(type(given), chain, given.spec)
    resized = resize(cropped, *args, **kwargs)
    if resized is None:
        return on_values("resize", type(given))(cropped, *args, **kwargs)
    # One that has its size already is a crop, and shares memory.
    return _crop(given, top, left, height, width) if resized is cropped else resized


ON_TENSORS: dict[str, Function] = {
    **CHANGES,
    "erase": erase,
    "resized_crop": _resized_crop,
    "to_dtype": _to_dtype,
    "normalize": normalize,
    "crop": _crop,
    "center_crop": _center_crop,
    "horizontal_flip": _horizontal_flip,
    "vertical_flip": _vertical_flip,
}
