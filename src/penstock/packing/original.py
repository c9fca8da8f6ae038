"""A sample's original file, or its image, from the record."""

from __future__ import annotations

import zlib

import PIL.Image

from penstock.errors import DecodeError, PackError
from penstock.packing import jpeg_records
from penstock.packing.encode import load_unseen, opened, room_for
from penstock.packing.raw_pixels import as_png, decode_pixels, pixel_strips
from penstock.packing.read import PackFile, Sample


def original_file(file: PackFile, index: int) -> bytes:
    """Return the file a sample came from; where bytes were not kept, one with the same pixels.

    A file that should be identical, byte for byte, is checked to be so.
    """
    sample = file.sample(index)
    record = file.record(index)
    where = f"{file.path}: sample {index:,} ({sample.name})"
    try:
        if sample.storage == "raw":
            with room_for(sample.height, sample.width):
                image = decode_pixels(record, sample.flags, sample.height, sample.width)
                return as_png(image, sample.orientation)
        if sample.storage == "jpeg":
            data = record
        else:
            with room_for(sample.height, sample.width):
                data = jpeg_records.rebuild_jpeg(record)
    except (PackError, DecodeError) as error:
        raise PackError(f"{where}: {error}.") from error
    if sample.restores == "bytes" and (
        len(data) != sample.original_size or zlib.crc32(data) != sample.original_crc
    ):
        raise PackError(
            f"{where}: the file rebuilt from it is not the original. The packed file is damaged, "
            "or was written by a faulty version: run penstock verify, or repack."
        )
    return data


def read_image(file: PackFile, index: int) -> PIL.Image.Image:
    """Return a sample as an RGB image; PackError if it is not what the index says."""
    sample = file.sample(index)
    where = f"{file.path}: sample {index:,} ({sample.name})"
    try:
        if sample.storage == "raw":
            record = file.record(index)
            with room_for(sample.height, sample.width):
                return decode_pixels(record, sample.flags, sample.height, sample.width)
        with opened(original_file(file, index)) as image:
            _check_size(image, sample, where)
            rgb: PIL.Image.Image = image.convert("RGB")
    except DecodeError as error:
        raise PackError(f"{where}: {error}.") from error
    return rgb


def check_image(file: PackFile, index: int) -> None:
    """Raise PackError if `read_image` would; takes less memory."""
    sample = file.sample(index)
    where = f"{file.path}: sample {index:,} ({sample.name})"
    try:
        if sample.storage == "raw":
            for _ in pixel_strips(file.record(index), sample.flags, sample.height, sample.width):
                pass
            return
        with opened(original_file(file, index)) as image:
            _check_size(image, sample, where)
            load_unseen(image)
    except DecodeError as error:
        raise PackError(f"{where}: {error}.") from error


def _check_size(image: PIL.Image.Image, sample: Sample, where: str) -> None:
    if (image.height, image.width) != (sample.height, sample.width):
        raise PackError(
            f"{where}: decodes to {image.height}x{image.width}, "
            f"but the index says {sample.height}x{sample.width}."
        )
