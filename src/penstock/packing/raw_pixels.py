"""Records of images that are not JPEGs: their RGB pixels, compressed where that pays."""

from __future__ import annotations

import io
import zlib

import PIL.Image

from penstock.errors import PackError
from penstock.packing.format import RECORD_ZLIB

# Inflating costs some ten times as much as copying, so it must save a fair part of the reading.
WORTHWHILE = 0.8
_EXIF_ORIENTATION = 0x0112
_MOST_INFLATED = 1032  # bytes that one byte of a zlib stream can stand for


def encode_pixels(image: PIL.Image.Image) -> tuple[bytes, int]:
    """Return the record of an RGB image, and its flags."""
    pixels = image.tobytes()
    packed = zlib.compress(pixels, 6)
    if len(packed) <= WORTHWHILE * len(pixels):
        return packed, RECORD_ZLIB
    return pixels, 0


def decode_pixels(record: bytes, flags: int, height: int, width: int) -> PIL.Image.Image:
    """Return the RGB image of a record; PackError, without the sample's name, if it is damaged."""
    wanted = height * width * 3
    if flags & RECORD_ZLIB:
        inflater = zlib.decompressobj()
        try:
            # One byte more than wanted: a longer stream is found out without being inflated.
            # Never more than deflate can hold in so many bytes, or the number might be too large.
            most = len(record) * _MOST_INFLATED + 1
            record = inflater.decompress(record, min(wanted + 1, most))
        except zlib.error as error:
            raise PackError(f"its pixels are not a zlib stream ({error})") from error
    if len(record) != wanted:
        raise PackError(f"{height}x{width} needs {wanted:,} bytes of pixels, got {len(record):,}")
    return PIL.Image.frombytes("RGB", (width, height), record)


def as_png(image: PIL.Image.Image, orientation: int) -> bytes:
    """Return an image as a PNG file."""
    exif = PIL.Image.Exif()
    if orientation != 1:
        exif[_EXIF_ORIENTATION] = orientation
    file = io.BytesIO()
    image.save(file, "PNG", exif=exif)
    return file.getvalue()


def orientation_of(image: PIL.Image.Image) -> int:
    """Return the EXIF orientation, 1 if there is none that makes sense."""
    found = image.getexif().get(_EXIF_ORIENTATION, 1)
    return found if isinstance(found, int) and 1 <= found <= 8 else 1
