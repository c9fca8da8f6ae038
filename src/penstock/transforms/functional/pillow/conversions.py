"""Pillow images from arrays and tensors, and back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock._core import Pixels
from penstock.errors import TransformError, TransformTypeError
from penstock.transforms.functional.dispatch import kernel_named
from penstock.transforms.functional.native.conversions import to_array, to_pillow
from penstock.transforms.functional.native.memory import CHANNELS

_SIXTEEN_BITS = "I;16" if sys.byteorder == "little" else "I;16B"
_ONE_CHANNEL = {"uint8": "L", "int16": _SIXTEEN_BITS, "int32": "I", "float32": "F"}
# The modes that images of several bytes per pixel may have; the first is the usual one.
_MORE_CHANNELS = {
    2: ("LA",),
    3: ("RGB", "YCbCr", "HSV"),
    4: ("RGBA", "CMYK", "RGBX"),
}


def with_channels(image: Image.Image) -> npt.NDArray[Any]:
    """A copy of the pixels as (height, width, channels)."""
    pixels = to_array(image)
    if pixels is not None:
        return pixels
    return np.array(image).reshape(image.height, image.width, len(image.getbands()))


def pil_to_tensor(pic: Any) -> Any:
    """A Pillow image as a tensor (channels, height, width) of the same numbers."""
    if not isinstance(pic, Image.Image):
        raise TransformTypeError(f"pic should be PIL Image. Got {type(pic)}")
    torch = sys.modules.get("torch") or import_torch("pil_to_tensor")
    return torch.from_numpy(with_channels(pic)).permute(2, 0, 1)


def to_pil_image(pic: Any, mode: str | None = None) -> Image.Image:
    """A tensor (channels, height, width) or array (height, width, channels) as a Pillow image.

    Fractions count from 0 to 1, unless `mode` is "F". `mode` is only needed where the number of
    channels does not say it all, as for HSV and CMYK.
    """
    quick = _to_pillow_of_bytes(pic) if mode is None else None
    if quick is not None:
        return quick
    pixels = _as_array(pic)
    if np.issubdtype(pixels.dtype, np.floating) and mode != "F":
        pixels = (pixels * 255).astype(np.uint8)
    if pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
        usual = _ONE_CHANNEL.get(pixels.dtype.name)
        if mode is not None and mode != usual:
            raise TransformError(
                f"Incorrect mode ({mode}) supplied for input type {pixels.dtype}. Should be {usual}"
            )
    else:
        permitted = _MORE_CHANNELS[pixels.shape[2]]
        if mode is not None and mode not in permitted:
            raise TransformError(
                f"Only modes {list(permitted)} are supported for {pixels.shape[2]}D inputs, "
                f"got {mode!r}."
            )
        usual = permitted[0] if pixels.dtype == np.uint8 else None
    mode = mode or usual
    if mode is None:
        raise TransformTypeError(
            f"Input type {pixels.dtype} is not supported for {pic.shape} pixels. Use uint8."
        )
    if pixels.dtype == np.uint8 and mode in CHANNELS:
        image = to_pillow(pixels)
        if image is not None:
            return image
    height, width = pixels.shape[:2]
    return Image.frombytes(mode, (width, height), np.ascontiguousarray(pixels), "raw", mode)


def _to_pillow_of_bytes(pic: Any) -> Image.Image | None:
    """A gray or RGB image of bytes, by the core; None for all others."""
    if isinstance(pic, np.ndarray):
        return to_pillow(pic)
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(pic, torch.Tensor):
        return None
    plain = pic if type(pic) is torch.Tensor else pic.as_subclass(torch.Tensor)
    pixels = _tensor_pixels()(plain)
    return None if pixels is None else to_pillow(pixels)


@cache
def _tensor_pixels() -> Callable[[Any], Pixels | None]:
    """Where the pixels of a tensor are; what finds that imports torch."""
    found: Any = import_module("penstock.transforms.functional.native.tensors.tables")
    pixels_of: Callable[[Any], Pixels | None] = found.pixels_of
    return pixels_of


def _as_array(pic: Any) -> npt.NDArray[Any]:
    """(height, width, channels)."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(pic, torch.Tensor):
        # torch puts channels last in less time than NumPy does.
        pic = (pic.permute((1, 2, 0)).contiguous() if pic.ndim == 3 else pic).numpy(force=True)
    elif not isinstance(pic, np.ndarray):
        raise TransformTypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pic.ndim not in {2, 3}:
        raise TransformError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    pixels: npt.NDArray[Any] = pic[:, :, None] if pic.ndim == 2 else pic
    if not 1 <= pixels.shape[2] <= 4:
        raise TransformError(f"pic should not have > 4 channels. Got {pixels.shape[2]} channels.")
    return pixels


def by_tensor(image: Image.Image, kernel: str, **arguments: Any) -> Image.Image:
    """The work of a kernel on tensors, for what Pillow has no call: torchvision does it so too."""
    import_torch(kernel.removesuffix("_image"))
    found: Any = kernel_named(kernel)
    return to_pil_image(found(pil_to_tensor(image), **arguments), mode=image.mode)


def import_torch(where: str) -> Any:
    """Import torch, or say which function needs it."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise TransformError(
            f"{where}: needs torch ({error}). Install it: pip install penstock[torch]."
        ) from error
