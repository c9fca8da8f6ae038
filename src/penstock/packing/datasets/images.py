"""Sizes of images from their headers, and arrays of pixels as lossless image files."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.limits import too_many_pixels
from penstock.packing.datasets.layout_source import Findings
from penstock.pillow_messages import heard
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused

ROTATED = "images carry an EXIF orientation; boxes and masks are for the pixels as stored"
UNREADABLE = "images cannot be read, and were handed on without their boxes"
EXIF_ORIENTATION = 0x0112


def image_size(data: bytes | os.PathLike[str], where: str, findings: Findings) -> Size | None:
    """Return the size an image's header gives, or None, counted, if it cannot be read.

    The packer meets the same broken image, and `on_error` decides what becomes of it.
    """
    try:
        with (
            io.BytesIO(data) if isinstance(data, bytes) else open_regular(data) as file,
            heard(),  # what Pillow says is for the packer to tell
            Image.open(file) as image,
        ):
            if image.getexif().get(EXIF_ORIENTATION, 1) != 1:
                findings.add(ROTATED, where)
            return Size(image.height, image.width)
    # Decoders for hostile files raise nearly anything: struct.error, IndexError, SyntaxError ...
    except Exception as error:  # noqa: BLE001
        raise_if_refused(error, where)
        findings.add(UNREADABLE, where)
        return None


def png_of_pixels(pixels: npt.NDArray[Any], where: str) -> bytes:
    """Return uint8 pixels, (height, width) gray or (height, width, 1, 3 or 4), as a PNG file."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    fits = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in {3, 4})
    if pixels.dtype != np.uint8 or not fits or 0 in pixels.shape:
        raise SourceError(
            f"{where}: pixels of {pixels.dtype} in shape {pixels.shape}. uint8 in the shape "
            "(height, width) or (height, width, 1, 3 or 4 channels) is needed."
        )
    problem = too_many_pixels(pixels.shape[0], pixels.shape[1], "an image of")
    if problem is not None:
        raise SourceError(f"{where}: {problem}.")
    file = io.BytesIO()
    # The packer reads it back at once, so that speed counts, not size.
    Image.fromarray(pixels).save(file, "PNG", compress_level=0)
    return file.getvalue()
