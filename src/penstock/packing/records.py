"""How an image becomes a record of a packed file, and an image or the original file again.

JPEGs become `dct` records, which the core makes and reads; those that it cannot take apart, and on
request all of them, are kept as they are. All other images become `raw` records: their RGB pixels,
compressed where that pays.
"""

from __future__ import annotations

import io
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock import _core
from penstock.errors import CoreError, DecodeError, PackError, PenstockError
from penstock.geometry import Size
from penstock.limits import beyond, how_to_allow, too_many_pixels
from penstock.packing.format import RECORD_ZLIB
from penstock.packing.pack_index import SampleFacts
from penstock.packing.parts import Layout, layout_of
from penstock.packing.read import PackFile
from penstock.resources import raise_if_refused

JPEG_START = b"\xff\xd8\xff"
# Inflating costs some ten times as much as copying, so it must save a fair part of the reading.
WORTHWHILE = 0.8
# Of a tiny image, inflating would take longer than all the rest, so it is stored as it is.
_TINY_BYTES = 1 << 14
_EXIF_ORIENTATION = 0x0112
_STRIP_BYTES = 1 << 24
LARGE_PIXELS = 1 << 25
_room = threading.Condition()
_under_way: list[int] = []  # pixels of each image that is being decoded


@dataclass(frozen=True, slots=True)
class Record:
    """The bytes that stand for an image in a packed file, and what the index says of it."""

    data: bytes
    storage: str  # one of STORAGES
    height: int
    width: int
    orientation: int  # EXIF's, 1 to 8; 1 where there is none
    restores: str  # one of RESTORES: what `unpack` gives back
    original_size: int  # bytes of the original file
    original_crc: int  # CRC-32 of the original file
    flags: int = 0
    note: str = ""  # why the image is not stored in the usual way; empty if it is
    crc: int = field(init=False)
    layout: Layout = field(init=False)  # how the bytes are cut into parts
    parts: npt.NDArray[np.uint32] = field(init=False, repr=False)  # bytes and checksum of each

    def __post_init__(self) -> None:
        """Compute checksums here, so that it is done by the thread that made the record."""
        layout = layout_of(self.data, self.storage, self.flags, self.height, self.width)
        object.__setattr__(self, "crc", _core.checksum(self.data))
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "parts", layout.table(self.data))


def encode_image(data: bytes, *, keep_jpeg: bool = False) -> Record:
    """Return the record of an image file; DecodeError, without its name, if it is not readable.

    With `keep_jpeg`, a JPEG stays as it is, also where the core could take it apart.
    """
    size, crc = len(data), _core.checksum(data)
    if not data.startswith(JPEG_START):
        with opened(data) as image:
            image.load()
            pixels, flags = encode_pixels(image)
            height, width, orientation = image.height, image.width, orientation_of(image)
            note = f"{image.format}, {image.mode}"
        return Record(pixels, "raw", height, width, orientation, "pixels", size, crc, flags, note)
    if keep_jpeg:
        return _kept_jpeg(data, size, crc)
    with room_for(*jpeg_size(data)):
        found = encode_jpeg(data)
    if found.storage == "jpeg":
        return _kept_jpeg(data, size, crc, note=found.reason)
    restores = "bytes" if found.identical else "pixels"
    return Record(
        found.data, found.storage, found.height, found.width, found.orientation or 1,
        restores, size, crc, note=found.reason,
    )  # fmt: skip


def _kept_jpeg(data: bytes, size: int, crc: int, note: str = "") -> Record:
    # At least Pillow must be able to read it later.
    with opened(data) as image:
        height, width, orientation = image.height, image.width, orientation_of(image)
        load_unseen(image)
    return Record(data, "jpeg", height, width, orientation, "bytes", size, crc, note=note)


class JpegRecord(NamedTuple):
    """What the core makes of a JPEG file."""

    storage: str  # "dct", or "jpeg" if the original bytes are kept
    data: bytes
    height: int
    width: int
    orientation: int
    identical: bool  # whether `rebuild_jpeg` gives back the very same file
    reason: str  # why the storage is not "dct", or the file not identical


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Return height and width as a JPEG file's header says, 0 if it says nothing."""
    header = _core.jpeg_header(data)
    return header["height"], header["width"]


def encode_jpeg(data: bytes) -> JpegRecord:
    """Return the record of a JPEG file. Runs without Python's lock."""
    storage, record, facts, reason = _core.encode_record(data)
    return JpegRecord(
        storage, record, facts["height"], facts["width"], facts["orientation"],
        storage == "jpeg" or bool(facts["identical"]), reason,
    )  # fmt: skip


def rebuild_jpeg(record: bytes) -> bytes:
    """Return the file of a `dct` record; PackError, without the sample's name, if it is damaged."""
    try:
        return _core.rebuild_file(record)
    except CoreError:  # not about this record: a wrong PENSTOCK_SIMD, say
        raise
    except ValueError as error:
        raise PackError(f"its coefficients cannot be read ({error})") from error


def check_tiles(record: bytes) -> tuple[int, int]:
    """Unpack all tiles of a `dct` record, and return the image's height and width.

    PackError, without the sample's name, if it is damaged.
    """
    try:
        return _core.check_tiles(record)
    except CoreError:  # not about this record: a wrong PENSTOCK_SIMD, say
        raise
    except ValueError as error:
        raise PackError(f"its coefficients cannot be read ({error})") from error


def encode_pixels(image: PIL.Image.Image) -> tuple[bytes, int]:
    """Return the record of an image's RGB pixels, and its flags.

    Takes a strip at a time: a few bytes can make an image that fills the memory once already.
    """
    size = 3 * image.height * image.width
    if size <= _TINY_BYTES:
        return b"".join(_strips(image)), 0
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
        expected = min(3 * width * rows, wanted - found)
        strip = read(expected)
        found += len(strip)
        is_short = len(strip) < expected
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
    file = io.BytesIO()
    image.save(file, "PNG", exif=exif_of(orientation))
    return file.getvalue()


def exif_of(orientation: int) -> PIL.Image.Exif:
    """Return EXIF data that says how an image is turned; empty if it is upright."""
    exif = PIL.Image.Exif()
    if orientation != 1:
        exif[_EXIF_ORIENTATION] = orientation
    return exif


def orientation_of(image: PIL.Image.Image) -> int:
    """Return the EXIF orientation, 1 if there is none that makes sense."""
    found = image.getexif().get(_EXIF_ORIENTATION, 1)
    return found if isinstance(found, int) and 1 <= found <= 8 else 1


def load_unseen(image: PIL.Image.Image) -> None:
    """Decode an image only to see whether that can be done; changes the size of large JPEGs."""
    if image.height * image.width > LARGE_PIXELS:
        # At an eighth of its size, all of the file is read all the same.
        image.draft(image.mode, (image.width // 8, image.height // 8))
    image.load()


@contextmanager
def room_for(height: int, width: int) -> Iterator[None]:
    """Wait until all images under way, with one of this size, have no more pixels than allowed.

    Many threads then take not much more memory than one. Must not be nested.
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


def original_file(file: PackFile, index: int) -> bytes:
    """Return the file a sample came from; where bytes were not kept, one with the same pixels.

    A file that should be identical, byte for byte, is checked to be so.
    """
    sample = file.sample(index)
    with _naming(file, sample):
        if sample.storage == "raw":
            return as_png(read_image(file, index), sample.orientation)
        data = file.record(index)
        if sample.storage == "dct":
            with room_for(sample.height, sample.width):
                data = rebuild_jpeg(data)
    is_original = (len(data), _core.checksum(data)) == (sample.original_size, sample.original_crc)
    if sample.restores == "bytes" and not is_original:
        raise PackError(
            f"{file.path}: sample {index:,} ({sample.name}): the file rebuilt from it is not the "
            "original. The packed file is damaged, or was written by a faulty version: run "
            "penstock verify, or repack."
        )
    return data


def read_image(file: PackFile, index: int) -> PIL.Image.Image:
    """Return a sample as an RGB image; PackError if it is not what the index says."""
    sample = file.sample(index)
    with _naming(file, sample):
        if sample.storage == "raw":
            record = file.record(index)
            with room_for(sample.height, sample.width):
                return decode_pixels(record, sample.flags, sample.height, sample.width)
        with _opened_original(file, sample) as image:
            rgb: PIL.Image.Image = image.convert("RGB")
            return rgb


def check_image(file: PackFile, index: int) -> None:
    """Raise PackError if `read_image` would, without rebuilding what is stored as coefficients."""
    sample = file.sample(index)
    if sample.storage != "dct":
        check_original(file, index)
        return
    with _naming(file, sample):
        record = file.record(index)
        if problem := too_many_pixels(sample.height, sample.width):
            raise DecodeError(problem)
        # Pixels follow from coefficients, whatever these are, so nothing more can go wrong.
        _check_size(Size(*check_tiles(record)), sample)


def check_original(file: PackFile, index: int) -> None:
    """Raise PackError if `read_image` or `original_file` would; takes less memory."""
    sample = file.sample(index)
    with _naming(file, sample):
        if sample.storage == "raw":
            for _ in pixel_strips(file.record(index), sample.flags, sample.height, sample.width):
                pass
            return
        if sample.storage == "dct" and sample.restores == "bytes":
            # Pixels follow from the coefficients, and all of them make the very same file again.
            found = Size(*jpeg_size(original_file(file, index)))
            _check_size(found, sample)
            return
        with _opened_original(file, sample) as image:
            load_unseen(image)


@contextmanager
def _opened_original(file: PackFile, sample: SampleFacts) -> Iterator[PIL.Image.Image]:
    with opened(original_file(file, sample.index)) as image:
        _check_size(Size(image.height, image.width), sample)
        yield image


def _check_size(found: Size, sample: SampleFacts) -> None:
    if found != Size(sample.height, sample.width):
        raise DecodeError(
            f"decodes to {found.height}x{found.width}, "
            f"but the index says {sample.height}x{sample.width}"
        )


@contextmanager
def _naming(file: PackFile, sample: SampleFacts) -> Iterator[None]:
    """Say which sample it is that cannot be restored."""
    where = f"{file.path}: sample {sample.index:,} ({sample.name})"
    try:
        yield
    except (PackError, DecodeError) as error:
        if str(error).startswith(file.path):
            raise
        raise PackError(f"{where}: {error}.") from error
