"""What opening a file gives while a Dataset is asked: an image that is not decoded yet."""

from __future__ import annotations

import io
import os
from functools import wraps
from typing import Any, NamedTuple

from PIL import Image

from penstock._core import file_version, jpeg_header
from penstock.deferring.carry_out import open_with_pillow
from penstock.deferring.chain import NO_VERSION, Chain, FileVersion, JpegFile
from penstock.deferring.counts import Counts, counts_here
from penstock.deferring.file_image import About
from penstock.deferring.image import DeferredImage

_START = b"\xff\xd8\xff"
_END = b"\xff\xd9"
_SEVERAL_IMAGES = b"MPF\0"  # which Pillow opens as another format
_TAIL_BYTES = 64
_LARGEST_PX = 1 << 26
_MODES = {1: "L", 3: "RGB"}
_SIMPLE = frozenset({"BMP", "PNG", "PPM", "WEBP"})


@wraps(open_with_pillow)
def open_image(fp: Any, mode: Any = "r", formats: Any = None) -> Any:
    """Open an image as Pillow does; while a Dataset is asked, without decoding it."""
    counts = counts_here()
    if counts is None or mode != "r" or formats is not None:
        return open_with_pillow(fp, mode, formats)
    read = read_bytes(fp)
    file = None if read is None else as_jpeg(read, counts)
    if file is None:
        return _open_other(fp)
    filename = os.fspath(fp) if isinstance(fp, (str, bytes, os.PathLike)) else ""
    return DeferredImage.of_file(Chain.of_file(file[0]), file[1], About(file[0]), filename)


class FileBytes(NamedTuple):
    """What was read of a file, or what somebody had in memory."""

    data: bytes
    name: str
    version: FileVersion = NO_VERSION  # of the file


def as_jpeg(
    read: FileBytes, counts: Counts, *, by_pillow: bool = True
) -> tuple[JpegFile, str] | None:
    """The file and Pillow's mode of its image; None, counted, if the core may not know it.

    `by_pillow` says whether Pillow decides about a file that turns out to be damaged.
    """
    data = read.data
    why = _refusal(data)
    facts = {} if why else jpeg_header(data)
    if not why:
        why = _refusal_of_header(data, facts)
    if why:
        counts.ordinary[why] += 1
        return None
    counts.deferred += 1
    file = JpegFile(
        data, read.name, facts["height"], facts["width"], facts["orientation"],
        facts["entropy_offset"], by_pillow, read.version,
    )  # fmt: skip
    return file, _MODES[facts["components"]]


def _refusal(data: bytes) -> str:
    if not data.startswith(_START):
        return "no JPEG"
    return "" if _END in data[-_TAIL_BYTES:] else "a JPEG that is cut short"


def _refusal_of_header(data: bytes, facts: dict[str, Any]) -> str:
    if data.find(_SEVERAL_IMAGES, 0, facts["entropy_offset"]) >= 0:
        return "a file of several images"
    if facts["route"] == "pillow" or facts["components"] not in _MODES or facts["precision"] != 8:
        return "a JPEG of a rare kind"
    most_px = min(_LARGEST_PX, Image.MAX_IMAGE_PIXELS or _LARGEST_PX)  # of more, Pillow warns
    if not 0 < facts["height"] * facts["width"] <= most_px:
        return "a very large JPEG"
    return ""


def read_bytes(fp: Any) -> FileBytes | None:
    """What a file has, if it can be read from where it stands."""
    if isinstance(fp, (str, bytes, os.PathLike)):
        path = os.fspath(fp)
        try:
            with open(path, "rb") as file:
                version = file_version(file.fileno())
                return FileBytes(file.read(), os.fsdecode(path), version)
        except OSError:
            return None  # Pillow says what is wrong
    name = getattr(fp, "name", "")
    try:
        version = _version_of(fp)
        start = fp.tell()
        fp.seek(0)  # as Pillow does
        data = fp.read()
        fp.seek(start)
    except Exception:  # noqa: BLE001 (whatever it is, Pillow will say what it thinks of it)
        return None
    if not isinstance(data, bytes):
        return None
    return FileBytes(data, name if isinstance(name, str) else "", version)


def _version_of(fp: Any) -> FileVersion:
    """The version of a file that nothing was read of; what was, may be of an earlier one."""
    is_fresh = type(fp) is io.BufferedReader and type(fp.raw) is io.FileIO and not fp.raw.tell()
    return file_version(fp.fileno()) if is_fresh else NO_VERSION


def _open_other(fp: Any) -> Any:
    """An image that Pillow decodes; what is done with it after that is done by the core."""
    opened = open_with_pillow(fp)
    if opened.format in _SIMPLE and getattr(opened, "n_frames", 1) == 1:
        return DeferredImage.of_opened(opened)
    return opened
