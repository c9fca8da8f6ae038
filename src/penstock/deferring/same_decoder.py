"""Whether another library's JPEG decoder gives Pillow's pixels: they may be built on others."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock.deferring.carry_out import open_with_pillow

_SUBSAMPLINGS = (0, 1, 2)


def decodes_as_pillow(
    decode: Callable[[bytes], npt.NDArray[np.uint8]], *, gray: bool = False
) -> bool:
    """Compare both on JPEGs of each chroma sampling; `decode` returns (height, width, RGB).

    Of gray, it returns (height, width), and Pillow decodes the luminance alone as well.
    """
    noise = np.random.default_rng(0).integers(0, 256, (11, 13, 3), dtype=np.uint8)
    picture = Image.frombytes("RGB", (13, 11), noise.tobytes()).resize((61, 47))
    for subsampling in _SUBSAMPLINGS:
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=90, subsampling=subsampling)
        opened = open_with_pillow(file)
        if gray:
            opened.draft("L", None)
        if not np.array_equal(decode(file.getvalue()), np.asarray(opened)):
            return False
    return True


def opencv_decodes_as_pillow(cv2: Any) -> bool:
    """Whether the OpenCV that is installed does."""

    def decode(data: bytes) -> npt.NDArray[np.uint8]:
        blue_first = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        reversed_: npt.NDArray[np.uint8] = blue_first[:, :, ::-1]
        return reversed_

    return decodes_as_pillow(decode)


def opencv_decodes_gray_as_pillow(cv2: Any) -> bool:
    """Whether it does if asked for gray, which Pillow is by a draft."""

    def decode(data: bytes) -> npt.NDArray[np.uint8]:
        found: npt.NDArray[np.uint8] = cv2.imdecode(
            np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE
        )
        return found

    return decodes_as_pillow(decode, gray=True)
