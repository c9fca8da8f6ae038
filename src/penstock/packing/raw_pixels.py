"""Records of images that are not JPEGs: their RGB pixels, compressed where that pays."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from itertools import chain

import PIL.Image

from penstock.errors import PackError
from penstock.packing.format import RECORD_ZLIB

# Inflating costs some ten times as much as copying, so it must save a fair part of the reading.
WORTHWHILE = 0.8
_EXIF_ORIENTATION = 0x0112
_STRIP_BYTES = 1 << 24


def encode_pixels(image: PIL.Image.Image) -> tuple[bytes, int]:
    """Return the record of an image's RGB pixels, and its flags.

    Takes a strip at a time: a few bytes can make an image that fills the memory once already.
    """
    size = 3 * image.height * image.width
    packer = zlib.compressobj(6)
    packed = bytearray()
    for strip in _strips(image):
        packed += packer.compress(strip)
        if len(packed) > WORTHWHILE * size:
            return b"".join(_strips(image)), 0
    packed += packer.flush()
    if len(packed) <= WORTHWHILE * size:
        return bytes(packed), RECORD_ZLIB
    return b"".join(_strips(image)), 0


def _strips(image: PIL.Image.Image) -> Iterator[bytes]:
    rows = max(1, _STRIP_BYTES // (3 * image.width))
    if rows >= image.height:
        yield image.convert("RGB").tobytes()
        return
    for top in range(0, image.height, rows):
        box = (0, top, image.width, min(top + rows, image.height))
        yield image.crop(box).convert("RGB").tobytes()


def decode_pixels(record: bytes, flags: int, height: int, width: int) -> PIL.Image.Image:
    """Return the RGB image of a record; PackError, without the sample's name, if it is damaged."""
    strips = pixel_strips(record, flags, height, width)
    first = next(strips)
    rows = len(first) // (3 * width)
    if rows == height:
        return PIL.Image.frombytes("RGB", (width, height), first)
    image = PIL.Image.new("RGB", (width, height))
    for number, strip in enumerate(chain([first], strips)):
        part = PIL.Image.frombytes("RGB", (width, len(strip) // (3 * width)), strip)
        image.paste(part, (0, number * rows))
    return image


def pixel_strips(record: bytes, flags: int, height: int, width: int) -> Iterator[bytes]:
    """Yield some rows of a record's image at a time; PackError unless it has exactly its rows."""
    if height < 1 or width < 1:
        raise PackError(f"{height}x{width} has no bytes of pixels")
    read = _inflate(record) if flags & RECORD_ZLIB else io.BytesIO(record).read
    rows = max(1, min(height, _STRIP_BYTES // (3 * width)))
    wanted, found = 3 * height * width, 0
    while found < wanted:
        strip = read(min(3 * width * rows, wanted - found))
        found += len(strip)
        is_short = not strip or len(strip) % (3 * width)
        # A longer stream is found out without being inflated.
        if is_short or (found == wanted and read(1)):
            found += 0 if is_short else 1
            raise PackError(f"{height}x{width} needs {wanted:,} bytes of pixels, got {found:,}")
        yield strip


def _inflate(record: bytes) -> Callable[[int], bytes]:
    inflater, left = zlib.decompressobj(), record

    def read(size: int) -> bytes:
        nonlocal left
        try:
            piece = inflater.decompress(left, size)
        except zlib.error as error:
            raise PackError(f"its pixels are not a zlib stream ({error})") from error
        left = inflater.unconsumed_tail
        return piece

    return read


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
