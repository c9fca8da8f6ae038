"""What opening a file gives while a Dataset is asked: an image that is not decoded yet."""

from __future__ import annotations

import os
from functools import wraps
from typing import Any

from PIL import Image

from penstock._core import jpeg_header
from penstock.deferring.carry_out import open_with_pillow
from penstock.deferring.chain import Chain, JpegFile
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
    data, name = read_bytes(fp)
    file = None if data is None else as_jpeg(data, name, counts)
    if file is None:
        return _open_other(fp)
    filename = os.fspath(fp) if isinstance(fp, (str, bytes, os.PathLike)) else ""
    return DeferredImage.of_file(Chain.of_file(file[0]), file[1], About(file[0]), filename)


def as_jpeg(
    data: bytes, name: str, counts: Counts, *, by_pillow: bool = True
) -> tuple[JpegFile, str] | None:
    """The file and Pillow's mode of its image; None, counted, if the core may not know it.

    `by_pillow` says whether Pillow decides about a file that turns out to be damaged.
    """
    why = _refusal(data)
    facts = {} if why else jpeg_header(data)
    if not why:
        why = _refusal_of_header(data, facts)
    if why:
        counts.ordinary[why] += 1
        return None
    counts.deferred += 1
    sides = facts["height"], facts["width"]
    file = JpegFile(data, name, *sides, facts["orientation"], facts["entropy_offset"], by_pillow)
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


def read_bytes(fp: Any) -> tuple[bytes | None, str]:
    """The bytes and the name of a file, if it can be read from where it stands."""
    if isinstance(fp, (str, bytes, os.PathLike)):
        path = os.fspath(fp)
        try:
            with open(path, "rb") as file:
                return file.read(), os.fsdecode(path)
        except OSError:
            return None, os.fsdecode(path)  # Pillow says what is wrong
    name = getattr(fp, "name", "")
    try:
        start = fp.tell()
        fp.seek(0)  # as Pillow does
        data = fp.read()
        fp.seek(start)
    except Exception:  # noqa: BLE001 (whatever it is, Pillow will say what it thinks of it)
        return None, ""
    return (data if isinstance(data, bytes) else None), name if isinstance(name, str) else ""


def _open_other(fp: Any) -> Any:
    """An image that Pillow decodes; what is done with it after that is done by the core."""
    opened = open_with_pillow(fp)
    if opened.format in _SIMPLE and getattr(opened, "n_frames", 1) == 1:
        return DeferredImage.of_opened(opened)
    return opened
