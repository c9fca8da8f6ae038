"""From an image file's bytes to the record that is stored."""

from __future__ import annotations

import io
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import PIL.Image

from penstock import _core
from penstock.errors import DecodeError, PenstockError
from penstock.limits import beyond, how_to_allow, too_many_pixels
from penstock.packing import jpeg_records
from penstock.packing.raw_pixels import encode_pixels, orientation_of
from penstock.packing.records import Record
from penstock.resources import raise_if_refused

JPEG_START = b"\xff\xd8\xff"

LARGE_PIXELS = 1 << 25
_room = threading.Condition()
_under_way: list[int] = []  # pixels of each image that is being decoded


def encode_image(data: bytes) -> Record:
    """Return the record of an image file; DecodeError, without its name, if it is not readable."""
    size, crc = len(data), zlib.crc32(data)
    if not data.startswith(JPEG_START):
        with opened(data) as image:
            image.load()
            pixels, flags = encode_pixels(image)
            height, width, orientation = image.height, image.width, orientation_of(image)
            note = f"{image.format}, {image.mode}"
        return Record(pixels, "raw", height, width, orientation, "pixels", size, crc, flags, note)
    with room_for(*jpeg_records.jpeg_size(data)):
        found = jpeg_records.encode_jpeg(data)
    if found.storage == "jpeg":
        # Kept as it is, so at least Pillow must be able to read it later.
        with opened(data) as image:
            height, width, orientation = image.height, image.width, orientation_of(image)
            load_unseen(image)
        return Record(
            data, "jpeg", height, width, orientation, "bytes", size, crc, note=found.reason
        )
    restores = "bytes" if found.identical else "pixels"
    return Record(
        found.data, found.storage, found.height, found.width, found.orientation or 1,
        restores, size, crc, note=found.reason,
    )  # fmt: skip


def load_unseen(image: PIL.Image.Image) -> None:
    """Decode an image only to see whether that can be done; changes the size of large JPEGs."""
    if image.height * image.width > LARGE_PIXELS:
        # Reads all of the file all the same.
        image.draft(image.mode, (image.width // 8, image.height // 8))
    image.load()


@contextmanager
def room_for(height: int, width: int) -> Iterator[None]:
    """Wait until all images under way, with one of this size, have no more pixels than allowed.

    So that many threads take not much more memory than one. Must not be nested.
    DecodeError, without the file's name, for an image that has too many pixels by itself.
    """
    problem = too_many_pixels(height, width)
    if problem is not None:
        raise DecodeError(problem)
    pixels = height * width
    with _room:
        _room.wait_for(lambda: not _under_way or not beyond("pixels", sum(_under_way) + pixels))
        _under_way.append(pixels)
    try:
        yield
    finally:
        if pixels > LARGE_PIXELS:
            _core.give_back_memory()  # else the C library keeps it, for each thread separately
        with _room:
            _under_way.remove(pixels)
            _room.notify_all()


@contextmanager
def opened(data: bytes) -> Iterator[PIL.Image.Image]:
    """Open an image with Pillow; any failure until the end of the block is a DecodeError."""
    if not data:
        raise DecodeError("the file is empty")
    try:
        with PIL.Image.open(io.BytesIO(data)) as image, room_for(image.height, image.width):
            try:
                yield image
            finally:
                image.close()  # gives back the memory before the next one asks for it
    except PenstockError:
        raise
    except MemoryError as error:
        raise_if_refused(error)
        raise
    except PIL.Image.DecompressionBombError as error:
        raise DecodeError(f"{error}. {how_to_allow('pixels')}") from error
    except PIL.UnidentifiedImageError as error:
        first = " ".join(f"{byte:02X}" for byte in data[:4])
        raise DecodeError(f"not an image that Pillow knows (first bytes {first})") from error
    # Decoders for hostile files raise nearly anything: struct.error, IndexError, SyntaxError ...
    except Exception as error:
        text = " ".join(str(error).split())
        raise DecodeError(f"Pillow cannot decode it ({type(error).__name__}: {text})") from error
