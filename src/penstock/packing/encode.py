"""From an image file's bytes to the record that is stored."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import PIL.Image

from penstock.errors import DecodeError, PenstockError
from penstock.packing import jpeg_records
from penstock.packing.raw_pixels import encode_pixels, orientation_of
from penstock.packing.records import Record
from penstock.resources import raise_if_refused

JPEG_START = b"\xff\xd8\xff"


def encode_image(data: bytes) -> Record:
    """Return the record of an image file; DecodeError, without its name, if it is not readable."""
    size, crc = len(data), zlib.crc32(data)
    if not data.startswith(JPEG_START):
        with opened(data) as image:
            rgb = image.convert("RGB")
            orientation = orientation_of(image)
            note = f"{image.format}, {image.mode}"
        pixels, flags = encode_pixels(rgb)
        return Record(
            pixels, "raw", rgb.height, rgb.width, orientation, "pixels", size, crc, flags, note
        )
    found = jpeg_records.encode_jpeg(data)
    if found.storage == "jpeg":
        # Kept as it is, so at least Pillow must be able to read it later.
        with opened(data) as image:
            image.load()
            height, width, orientation = image.height, image.width, orientation_of(image)
        return Record(
            data, "jpeg", height, width, orientation, "bytes", size, crc, note=found.reason
        )
    restores = "bytes" if found.identical else "pixels"
    return Record(
        found.data, found.storage, found.height, found.width, found.orientation or 1,
        restores, size, crc, note=found.reason,
    )  # fmt: skip


@contextmanager
def opened(data: bytes) -> Iterator[PIL.Image.Image]:
    """Open an image with Pillow; any failure until the end of the block is a DecodeError."""
    if not data:
        raise DecodeError("the file is empty")
    try:
        with PIL.Image.open(io.BytesIO(data)) as image:
            yield image
    except PenstockError:
        raise
    except MemoryError as error:
        raise_if_refused(error)
        raise
    except PIL.UnidentifiedImageError as error:
        first = " ".join(f"{byte:02X}" for byte in data[:4])
        raise DecodeError(f"not an image that Pillow knows (first bytes {first})") from error
    # Decoders for hostile files raise nearly anything: struct.error, IndexError, SyntaxError ...
    except Exception as error:
        text = " ".join(str(error).split())
        raise DecodeError(f"Pillow cannot decode it ({type(error).__name__}: {text})") from error
