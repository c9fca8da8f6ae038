"""Between Pillow images and arrays, in one pass and without bytes in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock._core import copy_one
from penstock.transforms.functional.native.memory import (
    CHANNELS,
    MODES,
    Room,
    array_pixels,
    pixels_of,
)

_ANY = Image.new("L", (1, 1))  # whose kind new images have


def to_array(image: Image.Image) -> npt.NDArray[np.uint8] | None:
    """A copy of the pixels as (height, width, channels); None for other modes than L and RGB."""
    source = pixels_of(image)
    if source is None:
        return None
    pixels = np.empty((image.height, image.width, CHANNELS[image.mode]), np.uint8)
    copy_one(array_pixels(pixels), source, 0, 0, False, False)
    return pixels


def to_pillow(pixels: npt.NDArray[Any]) -> Image.Image | None:
    """An image of mode L or RGB with these pixels; None for what is neither."""
    source = pixels_of(pixels)
    channels = 1 if pixels.ndim == 2 else pixels.shape[-1]
    if source is None or channels not in MODES:
        return None
    room = Room(_ANY, pixels.shape[0], pixels.shape[1], channels)
    copy_one(room.pixels, source, 0, 0, False, False)
    image: Image.Image = room.finish()
    return image
