"""Between Pillow images and arrays, in one pass and without bytes in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock._core import Pixels
from penstock._core import array_to_pillow as core_array_to_pillow
from penstock._core import to_array as core_to_array
from penstock._core import to_pillow as core_to_pillow
from penstock.transforms.functional.native.memory import PLAIN, image_of, memory_of


def to_array(image: Image.Image) -> npt.NDArray[np.uint8] | None:
    """A copy of the pixels as (height, width, channels); None for other modes than L and RGB."""
    pixels: Any = core_to_array(memory_of(image))
    copy: npt.NDArray[np.uint8] | None = pixels
    return copy


def to_pillow(pixels: npt.NDArray[Any] | Pixels) -> Image.Image | None:
    """An image of mode L or RGB with these pixels; None for what is neither."""
    memory = core_to_pillow(pixels) if isinstance(pixels, Pixels) else core_array_to_pillow(pixels)
    image: Image.Image | None = image_of(memory, PLAIN)
    return image
