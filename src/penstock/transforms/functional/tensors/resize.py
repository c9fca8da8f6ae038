"""Tensors in another size."""

from __future__ import annotations

import platform

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from penstock.errors import TransformError
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.functional.arguments import (
    Canvas,
    Interpolation,
    Sides,
    read_mode,
    resized_size,
)
from penstock.transforms.functional.native.tensors.sampling import resize
from penstock.transforms.functional.native.tensors.tried import Tried
from penstock.transforms.functional.tensors.geometry import crop_image
from penstock.transforms.functional.tensors.rename import renamed

_NEAREST = (InterpolationMode.NEAREST, InterpolationMode.NEAREST_EXACT)
_SMOOTH = (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC, InterpolationMode.LANCZOS)
_CUBIC = (InterpolationMode.BICUBIC, InterpolationMode.LANCZOS)
_ROUNDED = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)

# Whether torch's bilinear resizing of bytes is quicker on this CPU than that of floats.
_HAS_FAST_BYTES = torch.backends.cpu.get_cpu_capability() in {"AVX2", "AVX512"} or (
    platform.machine() in {"aarch64", "arm64"}
)


def resize_image(
    image: Tensor,
    size: Sides,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Tensor:
    """Resize; `antialias` smooths where the image shrinks, as Pillow always does."""
    mode = read_mode(interpolation)
    if mode is InterpolationMode.LANCZOS and not antialias:
        raise TransformError(
            f"InterpolationMode.LANCZOS requires antialias=True, got {antialias!r}."
        )
    shape = image.shape
    channels, height, width = shape[-3:]
    new = resized_size((height, width), size, max_size)
    if new == (height, width):
        return image
    if not image.numel():
        return image.reshape((*shape[:-3], channels, *new))
    number, tried = _FILTERS.get(mode), _RESIZES.get(image.dtype)
    if number and tried and min(height, width, *new) > 1:  # as the core wants it
        return tried(image, new, number, bool(antialias))
    return _resize_by_torch(image, new, mode, bool(antialias) and mode in _SMOOTH)


def _resize_by_torch(
    image: Tensor, size: Canvas, mode: InterpolationMode, antialias: bool
) -> Tensor:
    dtype = image.dtype
    flat = _as_batch(image)
    is_taken = _is_taken(dtype, mode, image.device.type)
    out = interpolate(
        flat if is_taken else flat.to(dtype=torch.float32),
        size=list(size),
        mode=mode.value,
        align_corners=False if mode in _SMOOTH else None,
        antialias=antialias,
    )
    if not is_taken:
        out = _cast_back(out, dtype, mode)
    return out.reshape((*image.shape[:-2], *size))


# Pillow's numbers of those that the core resizes as torch does.
_FILTERS = {InterpolationMode.BILINEAR: 2, InterpolationMode.BICUBIC: 3}
_MODES = {number: mode for mode, number in _FILTERS.items()}

_TRIALS = [
    (size, number, antialias)
    for size in ((7, 12), (23, 40), (3, 5))
    for number in _MODES
    for antialias in (True, False)
]


def _resize_as(image: Tensor, size: Canvas, number: int, antialias: bool) -> Tensor:
    return _resize_by_torch(image, size, _MODES[number], antialias)


# Bytes are resized in whole numbers, floats are not: one may agree where the other does not.
_RESIZES = {
    dtype: Tried(resize, _resize_as, _TRIALS, (dtype,)) for dtype in (torch.uint8, torch.float32)
}


def _as_batch(image: Tensor) -> Tensor:
    """(images, channels, height, width).

    One image with its channels last is given strides that tell torch so: it would write the result
    with its channels first otherwise, by way of a copy.
    """
    flat = image.reshape(-1, *image.shape[-3:])
    if flat.shape[0] == 1 and flat.is_contiguous(memory_format=torch.channels_last):
        strides = flat.stride()
        if strides[0] != flat.numel():
            return flat.as_strided(flat.shape, (flat.numel(), *strides[1:]))
    return flat


def _is_taken(dtype: torch.dtype, mode: InterpolationMode, device: str) -> bool:
    """Whether torch can resize numbers of this type as they are."""
    if dtype in {torch.float32, torch.float64}:
        return True
    if dtype != torch.uint8:
        return False
    if mode in _NEAREST:
        return True
    is_quick = _HAS_FAST_BYTES or torch.compiler.is_compiling()
    return device == "cpu" and (mode in _CUBIC or (mode in _SMOOTH and is_quick))


def _cast_back(image: Tensor, dtype: torch.dtype, mode: InterpolationMode) -> Tensor:
    if dtype == torch.uint8 and mode in _CUBIC:
        image = image.clamp_(min=0, max=255)
    if dtype in _ROUNDED:
        image = image.round_()
    return image.to(dtype=dtype)


def resized_crop_image(
    image: Tensor,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sides,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Tensor:
    """Crop, then resize."""
    cropped = crop_image(image, top, left, height, width)
    return resize_image(cropped, size, interpolation=interpolation, antialias=antialias)


resize_video = renamed(resize_image, "video")
resized_crop_video = renamed(resized_crop_image, "video")
