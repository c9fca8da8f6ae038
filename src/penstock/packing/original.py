"""A sample's original file, or its image, from the record."""

from __future__ import annotations

import os
import zlib

import PIL.Image

from penstock.errors import DecodeError, PackError
from penstock.packing import jpeg_records
from penstock.packing.encode import load_unseen, opened, room_for
from penstock.packing.raw_pixels import as_png, decode_pixels, pixel_strips
from penstock.packing.read import PackFile, Sample

_JPEG_ENDINGS = (".jpg", ".jpeg", ".jpe", ".jfif")


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


def unpacked_name(file: PackFile, index: int) -> str:
    """Return where `unpack` puts a sample, below its target; PackError for a name that leads out.

    The ending follows the content if that is no longer the original's.
    """
    sample = file.sample(index)
    parts = sample.name.split("/")
    if (
        any(part in {"", ".", ".."} or "\0" in part or "\\" in part for part in parts)
        or (os.path.splitdrive(sample.name)[0])
    ):
        raise PackError(
            f"{file.path}: sample {index:,} is named {sample.name!r}, which is no path below the "
            "target. The file may be hostile; nothing was written for it."
        )
    ending = os.path.splitext(sample.name)[1].lower()
    if sample.restores == "bytes":
        return sample.name
    if sample.storage == "raw":
        return sample.name if ending == ".png" else sample.name + ".png"
    return sample.name if ending in _JPEG_ENDINGS else sample.name + ".jpg"
