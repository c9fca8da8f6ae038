"""The numbers of tensors, and tensors from images and back."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from penstock.errors import TransformError, TransformTypeError
from penstock.transforms.functional.dispatch import Kernels, tv_tensors
from penstock.transforms.functional.pillow.conversions import (
    import_torch,
    pil_to_tensor,
    to_pil_image,
    with_channels,
)

__all__ = [
    "normalize",
    "pil_to_tensor",
    "to_dtype",
    "to_image",
    "to_pil_image",
    "to_tensor",
    "uniform_temporal_subsample",
]

T = TypeVar("T")


def _to_dtype_target(inpt: Any, dtype: Any = None, scale: bool = False) -> Any:
    """Masks, boxes and keypoints have no white to scale to."""
    del scale
    return inpt.to(sys.modules["torch"].float32 if dtype is None else dtype)


_normalize = Kernels("normalize")
_to_dtype = Kernels(
    "to_dtype",
    mask=_to_dtype_target,
    bounding_boxes=_to_dtype_target,
    keypoints=_to_dtype_target,
)
_uniform_temporal_subsample = Kernels("uniform_temporal_subsample")


def normalize(inpt: T, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> T:
    """Subtract the mean of each channel, and divide by its deviation; for tensors of fractions."""
    normalized: T = _normalize[type(inpt)](inpt, mean, std, inplace)
    return normalized


def to_dtype(inpt: T, dtype: Any = None, scale: bool = False) -> T:
    """Numbers of another type, torch.float32 unless told; `scale` maps white to white."""
    converted: T = _to_dtype[type(inpt)](inpt, dtype, scale)
    return converted


def uniform_temporal_subsample(inpt: T, num_samples: int) -> T:
    """Frames of a video at equal distances, the first and the last among them."""
    sampled: T = _uniform_temporal_subsample[type(inpt)](inpt, num_samples)
    return sampled


def to_image(inpt: Any) -> Any:
    """A Pillow image, array or tensor as a tensor (channels, height, width).

    Where torchvision is imported it is one of its Images, else a plain tensor.
    """
    if isinstance(inpt, Image.Image):
        tensor = pil_to_tensor(inpt)
    elif isinstance(inpt, np.ndarray):
        torch = import_torch("to_image")
        tensor = torch.from_numpy(np.atleast_3d(inpt)).permute((2, 0, 1)).contiguous()
    elif _is_tensor(inpt):
        tensor = inpt
    else:
        raise TransformTypeError(
            "Input can either be a pure Tensor, a numpy array, or a PIL image, "
            f"but got {type(inpt)} instead."
        )
    wrapped = tv_tensors()
    if wrapped is None:
        return tensor
    if tensor.ndim >= 3 and not tensor.requires_grad:  # the class would check no more than this
        return tensor.as_subclass(wrapped.Image)
    return wrapped.Image(tensor)


def _is_tensor(inpt: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(inpt, torch.Tensor)


def to_tensor(inpt: Any) -> Any:
    """A Pillow image or array as fractions from 0 to 1, by torchvision's older function."""
    warnings.warn(
        "The function `to_tensor(...)` is deprecated and will be removed in a future release. "
        "Instead, please use `to_image(...)` followed by "
        "`to_dtype(..., dtype=torch.float32, scale=True)`.",
        stacklevel=2,
    )
    if not isinstance(inpt, (Image.Image, np.ndarray)):
        raise TransformTypeError(f"pic should be PIL Image or ndarray. Got {type(inpt)}")
    torch = import_torch("to_tensor")
    if isinstance(inpt, np.ndarray):
        if inpt.ndim not in {2, 3}:
            raise TransformError(f"pic should be 2/3 dimensional. Got {inpt.ndim} dimensions.")
        pixels = inpt[:, :, None] if inpt.ndim == 2 else inpt
    else:
        pixels = with_channels(inpt)
        if inpt.mode.startswith("I;16"):
            pixels = pixels.astype(np.int16)
        elif inpt.mode == "1":
            pixels = pixels.astype(np.uint8) * 255
    tensor = torch.from_numpy(pixels.transpose((2, 0, 1))).contiguous()
    return tensor.to(torch.get_default_dtype()).div(255) if tensor.dtype == torch.uint8 else tensor
