"""The numbers of a tensor: their type, their range, and what is written over them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from penstock.errors import LossyError, TransformError, TransformTypeError
from penstock.transforms.functional.native.tensors.tables import as_fractions
from penstock.transforms.functional.native.tensors.tried import Tried
from penstock.transforms.functional.native.tensors.values import normalize
from penstock.transforms.functional.tensors.rename import renamed

_VALUE_BITS = {
    torch.uint8: 8,
    torch.int8: 7,
    torch.int16: 15,
    torch.uint16: 16,
    torch.int32: 31,
    torch.int64: 63,
}


def value_bits(dtype: torch.dtype) -> int:
    """Bits of an integer type, without the sign."""
    if dtype not in _VALUE_BITS:
        raise TransformTypeError(
            f"Number of value bits is only defined for integer dtypes, but got {dtype}."
        )
    return _VALUE_BITS[dtype]


def most_of(dtype: torch.dtype) -> int:
    """White: the largest value of an integer type, and 1 for fractions."""
    return (1 << _VALUE_BITS[dtype]) - 1 if dtype in _VALUE_BITS else 1


def to_dtype_image(image: Tensor, dtype: Any = None, scale: bool = False) -> Tensor:
    """Numbers of another type, torch.float32 unless told; `scale` maps white to white."""
    given = image.dtype
    dtype = torch.float32 if dtype is None else dtype
    if given == dtype:
        return image
    if not scale or (given.is_floating_point and dtype.is_floating_point):
        return image.to(dtype)
    if given.is_floating_point:
        if _is_unsafe(given, dtype):
            raise LossyError(f"The conversion from {given} to {dtype} cannot be performed safely.")
        # Almost one more than white: so each level gets an equal share of the fractions.
        return image.mul(float(most_of(dtype)) + 1.0 - 1e-3).to(dtype)
    if dtype.is_floating_point:
        native = as_fractions(image) if dtype == torch.float32 else None
        return image.to(dtype).mul_(1.0 / most_of(given)) if native is None else native
    return _shift(image, dtype)


def _is_unsafe(given: torch.dtype, dtype: torch.dtype) -> bool:
    """Whether the integers have more digits than the fractions can count."""
    return (given == torch.float32 and dtype in {torch.int32, torch.int64}) or (
        given == torch.float64 and dtype == torch.int64
    )


def _shift(image: Tensor, dtype: torch.dtype) -> Tensor:
    given = image.dtype
    bits = value_bits(dtype) - value_bits(given)
    if bits < 0:
        if given == torch.uint16:  # torch cannot shift these
            return torch.div(image, 2**-bits).to(dtype)
        return image.bitwise_right_shift(-bits).to(dtype)
    if dtype == torch.uint16:
        return image.to(dtype).mul(2**bits)
    return image.to(dtype).bitwise_left_shift_(bits)


def convert_image_dtype(image: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """`to_dtype` with `scale`, by its older name."""
    return to_dtype_image(image, dtype=dtype, scale=True)


def normalize_image(
    image: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False
) -> Tensor:
    """Subtract the mean of each channel, and divide by its deviation."""
    if not image.is_floating_point():
        raise TransformTypeError(
            f"Input tensor should be a float tensor. Got {image.dtype}. "
            "Convert it first, by to_dtype(..., scale=True)."
        )
    if image.ndim < 3:
        raise TransformError(
            f"Expected tensor to be a tensor image of size (..., C, H, W). Got {image.shape}."
        )
    if _has_zero(std):
        raise TransformError(
            f"std evaluated to zero, leading to division by zero. Got std={std!r}."
        )
    if inplace:
        means, stds = (_per_channel(numbers, image.dtype, image.device) for numbers in (mean, std))
        return image.sub_(means).div_(stds)
    return _normalize(image, mean, std)


def _normalize_by_torch(image: Tensor, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    means, stds = (_per_channel(numbers, image.dtype, image.device) for numbers in (mean, std))
    return image.sub(means).div_(stds)


_normalize = Tried(normalize, _normalize_by_torch, [([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])


def _has_zero(std: Any) -> bool:
    if isinstance(std, (tuple, list)):
        return not all(std)
    return isinstance(std, (int, float)) and std == 0


def _per_channel(numbers: Any, dtype: torch.dtype, device: torch.device) -> Tensor:
    tensor = torch.as_tensor(numbers, dtype=dtype, device=device)
    return tensor.view(-1, 1, 1) if tensor.ndim == 1 else tensor


def gaussian_noise_image(
    image: Tensor, mean: float = 0.0, sigma: float = 0.1, clip: bool = True
) -> Tensor:
    """Add normal noise from torch's generator; bytes count as fractions of 255."""
    if sigma < 0:
        raise TransformError(f"sigma shouldn't be negative. Got {sigma}")
    if image.is_floating_point():
        out = torch.randn_like(image).mul_(sigma).add_(mean).add_(image)
        return out.clamp_(0, 1) if clip else out
    if image.dtype != torch.uint8:
        raise TransformError(
            f"Input tensor is expected to be in uint8 or float dtype, got dtype={image.dtype}"
        )
    noise = torch.randn_like(image, dtype=torch.float32).mul_(sigma * 255).add_(mean * 255)
    noisy = noise.to(torch.int16).add_(image)
    return (noisy.clamp_(0, 255) if clip else noisy).to(torch.uint8)


def erase_image(
    image: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False
) -> Tensor:
    """Replace the rectangle `h` x `w` at row `i`, column `j` by `v`."""
    if not inplace:
        image = image.clone()
    image[..., i : i + h, j : j + w] = torch.from_numpy(v) if isinstance(v, np.ndarray) else v
    return image


def jpeg_image(image: Tensor, quality: int) -> Tensor:
    """Written as JPEG files and read again: bytes, gray or in colours."""
    if image.dtype != torch.uint8 or image.shape[-3] not in {1, 3}:
        raise LossyError(
            "jpeg: Input tensor dtype should be uint8, and the number of channels 1 or 3, "
            f"got {image.dtype} of shape {tuple(image.shape)}."
        )
    if image.numel() == 0:
        return image.clone()
    flat = image.reshape(-1, *image.shape[-3:])
    return torch.stack([_by_jpeg(one, quality) for one in flat]).view(image.shape)


def _by_jpeg(image: Tensor, quality: int) -> Tensor:
    pixels = image.permute(1, 2, 0).contiguous().numpy()
    written = io.BytesIO()
    Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(
        written, format="JPEG", quality=quality
    )
    read = np.array(Image.open(written))
    return torch.from_numpy(np.atleast_3d(read)).permute(2, 0, 1)


def uniform_temporal_subsample_video(video: Tensor, num_samples: int) -> Tensor:
    """Frames at equal distances, the first and the last among them."""
    last = video.shape[-4] - 1
    frames = torch.linspace(0, last, num_samples, device=video.device).long()
    return torch.index_select(video, -4, frames)


to_dtype_video = renamed(to_dtype_image, "video")
normalize_video = renamed(normalize_image, "video")
gaussian_noise_video = renamed(gaussian_noise_image, "video")
erase_video = renamed(erase_image, "video")
jpeg_video = renamed(jpeg_image, "video")
