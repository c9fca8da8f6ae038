"""Sizes of images from their headers, and arrays of pixels as lossless image files."""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.packing.datasets.layout_source import Findings
from penstock.pillow_messages import heard

ROTATED = "images carry an EXIF orientation; boxes are for the pixels as stored"
UNREADABLE = "images cannot be read, and were handed on without their boxes"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
EXIF_ORIENTATION = 0x0112


def image_size(data: bytes | os.PathLike[str], where: str, findings: Findings) -> Size | None:
    """Return the size an image's header gives, or None, counted, if it cannot be read.

    The packer meets the same broken image, and `on_error` decides what becomes of it.
    """
    try:
        file = io.BytesIO(data) if isinstance(data, bytes) else data
        with heard(), Image.open(file) as image:  # what Pillow says is for the packer to tell
            if image.getexif().get(EXIF_ORIENTATION, 1) != 1:
                findings.add(ROTATED, where)
            return Size(image.height, image.width)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
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
    file = io.BytesIO()
    # The packer reads it back at once, so that speed counts, not size.
    Image.fromarray(pixels).save(file, "PNG", compress_level=0)
    return file.getvalue()


def png_of_masks(masks: Iterable[npt.NDArray[np.bool_]], count: int, size: Size) -> bytes:
    """Return masks, one above the other, as a 1-bit gray PNG; b"" if there are none.

    Takes them one at a time: a hundred masks of a large photo would fill the memory.
    Pillow tries all filters on each row, which takes most of the time and makes it no smaller.
    """
    if not count:
        return b""
    compressor = zlib.compressobj(6)
    parts = []
    for mask in masks:
        rows = np.zeros((size.height, 1 + (size.width + 7) // 8), np.uint8)
        rows[:, 1:] = np.packbits(mask, axis=1)  # behind a zero, which means "no filter"
        parts.append(compressor.compress(rows.tobytes()))
    parts.append(compressor.flush())
    header = struct.pack(">IIBBBBB", size.width, size.height * count, 1, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", b"".join(parts)), (b"IEND", b""))
    return PNG_SIGNATURE + b"".join(_png_chunk(name, content) for name, content in chunks)


def _png_chunk(name: bytes, content: bytes) -> bytes:
    crc = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", crc)
