"""NumPy arrays of bytes: every function on Pillow images works on them too.

An array is (height, width) or (height, width, channels), and the result has the pixels that the
Pillow image of the same pixels would get.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock.errors import TransformTypeError

_CHANNELS = (1, 2, 3, 4)  # Pillow's modes L, LA, RGB and RGBA


def by_pillow(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The same kernel on arrays."""

    @wraps(kernel)
    def on_array(inpt: npt.NDArray[Any], *args: Any, **kwargs: Any) -> Any:
        has_one_channel = inpt.ndim == 3 and inpt.shape[2] == 1
        out = kernel(to_pillow(kernel.__name__, inpt), *args, **kwargs)
        if type(out) is tuple:
            return tuple(_to_array(part, has_one_channel) for part in out)
        return _to_array(out, has_one_channel)

    return on_array


def channels_of_array(where: str, pixels: npt.NDArray[Any]) -> int:
    """How many channels an array has; what cannot be an image is refused."""
    is_image = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in _CHANNELS)
    if pixels.dtype != np.uint8 or not is_image:
        raise TransformTypeError(
            f"{where}: an array must be uint8, of shape (height, width) or (height, width, "
            f"channels) with 1 to 4 channels, got {pixels.dtype} of shape {pixels.shape}. "
            "Convert it, or make it a tensor of shape (channels, height, width)."
        )
    return 1 if pixels.ndim == 2 else pixels.shape[2]


def to_pillow(where: str, pixels: npt.NDArray[Any]) -> Image.Image:
    """An image of the array's pixels, in the mode that its channels say."""
    channels = channels_of_array(where, pixels)
    return Image.fromarray(pixels[:, :, 0] if channels == 1 and pixels.ndim == 3 else pixels)


def _to_array(out: Any, has_one_channel: bool) -> Any:
    if not isinstance(out, Image.Image):
        return out  # a size or another number
    pixels = np.array(out)
    return pixels[:, :, None] if has_one_channel and pixels.ndim == 2 else pixels
