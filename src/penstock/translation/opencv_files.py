"""Whether cv2.imread gives the pixels that Pillow gives, for the files of a data set.

Both decode JPEGs with libjpeg-turbo, so plain ones come out the same. OpenCV turns images by their
EXIF orientation, which Pillow leaves to its user, and converts CMYK and 16-bit files its own way.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from PIL import Image

from penstock._core import jpeg_header

_HEADER_BYTES = 1 << 16  # holds the header of nearly all files
_CUT_IN_HEADER = "ends in its header"  # cpp/codec/jpeg_header.cpp
_UPRIGHT = 1
_IMREAD_COLOR = 1


def find_difference(cv2: Any, paths: Iterable[str | bytes | os.PathLike[str]]) -> str:
    """Return why pixels would differ, with the first such file; nothing if they are the same."""
    if not _decodes_alike(cv2):
        return "the OpenCV that is installed decodes JPEGs to other pixels than Pillow"
    for path in paths:
        try:
            why = _find_in_header(path)
        except OSError as error:
            why = f"cannot be read ({error.strerror})"
        if why:
            return f"{os.fsdecode(path)} {why}"
    return ""


def _decodes_alike(cv2: Any) -> bool:
    """Compare the two on JPEGs of each kind of chroma; the libraries beneath may be others."""
    noise = np.random.default_rng(0).integers(0, 256, (11, 13, 3), dtype=np.uint8)
    picture = Image.fromarray(noise).resize((61, 47))
    for subsampling in (0, 1, 2):
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=90, subsampling=subsampling)
        theirs = cv2.imdecode(np.frombuffer(file.getvalue(), np.uint8), _IMREAD_COLOR)
        if not np.array_equal(theirs[:, :, ::-1], np.asarray(Image.open(file))):
            return False
    return True


def _find_in_header(path: str | bytes | os.PathLike[str]) -> str:
    with open(path, "rb") as file:
        start = file.read(_HEADER_BYTES)
        facts = jpeg_header(start)
        if facts["reason"] == _CUT_IN_HEADER and len(start) == _HEADER_BYTES:
            facts = jpeg_header(start + file.read())
    if facts["components"] not in (1, 3) or facts["precision"] != 8:
        return "is not a gray or RGB JPEG of 8 bits"
    if facts["orientation"] != _UPRIGHT:
        return f"has EXIF orientation {facts['orientation']}, by which OpenCV turns it"
    return ""
