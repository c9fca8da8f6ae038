"""Masks of whole images: a class number for each pixel, read without any change of colours."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock.errors import DecodeError, PenstockError
from penstock.limits import how_to_allow, too_many_pixels
from penstock.printable import printable
from penstock.regular_file import NotRegularError, open_regular
from penstock.resources import raise_if_refused

LabelMap = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]  # (height, width)

_EXIF_ORIENTATION = 0x0112
_MOST_LABEL = 65_535


def read_label_map(file: bytes | str | os.PathLike[str]) -> LabelMap:
    """Return the numbers in a mask file: palette indices, gray levels, or 0 and 1.

    Raises DecodeError, without the file's name, for what holds no class numbers.
    """
    try:
        with (
            io.BytesIO(file) if isinstance(file, bytes) else open_regular(file) as opened,
            PIL.Image.open(opened) as image,
        ):
            check_label_map(image)
            return _numbers(image)
    except PenstockError:
        raise
    except NotRegularError as error:
        raise DecodeError(f"its mask cannot be read: {error.strerror}") from error
    except PIL.Image.DecompressionBombError as error:
        raise DecodeError(f"its mask cannot be read. {error}. {how_to_allow('pixels')}") from error
    # Decoders for hostile files raise nearly anything: struct.error, IndexError, SyntaxError ...
    except Exception as error:
        raise_if_refused(error, "a mask" if isinstance(file, bytes) else printable(file))
        text = " ".join(str(error).split())
        raise DecodeError(f"its mask cannot be read ({type(error).__name__}: {text})") from error


def check_label_map(image: PIL.Image.Image) -> None:
    """Raise DecodeError unless an opened file can be a label map, by what its header says."""
    problem = too_many_pixels(image.height, image.width, "the header of its mask says")
    if problem is not None:
        raise DecodeError(problem)
    if image.mode not in {"P", "L", "1", "I", "I;16", "I;16B", "I;16L"}:
        raise DecodeError(
            f"its mask is in colour ({image.mode}), where one class number for each pixel is "
            "needed. Save masks as gray or palette PNGs whose values are the classes"
        )
    if image.format == "JPEG":
        raise DecodeError(
            "its mask is a JPEG, which blurs class numbers into their neighbours. Save masks as "
            "PNGs"
        )
    turned = image.getexif().get(_EXIF_ORIENTATION, 1)
    if turned != 1:
        raise DecodeError(
            f"its mask carries the EXIF orientation {turned}. Images and masks are used as they "
            "are stored: save the mask without it, turned as its image's pixels are"
        )


def png_of_label_map(labels: LabelMap) -> bytes:
    """Return a label map as a gray PNG."""
    file = io.BytesIO()
    PIL.Image.fromarray(labels).save(file, "PNG")
    return file.getvalue()


def sizes_differ(mask: tuple[int, ...], image: tuple[int, ...]) -> str:
    """Return the reason why a mask does not fit its image; both (height, width)."""
    reason = f"its mask is {mask[0]}x{mask[1]}, the image {image[0]}x{image[1]} (height x width)"
    if mask == image[::-1]:
        reason += (
            ". If the image carries an EXIF orientation, the mask was drawn on the turned image: "
            "images are used as they are stored, so turn the mask back"
        )
    return reason


def _numbers(image: PIL.Image.Image) -> LabelMap:
    values: npt.NDArray[Any] = np.asarray(image)
    if image.mode == "I":
        if values.min() < 0 or values.max() > _MOST_LABEL:
            raise DecodeError(
                f"its mask has values from {values.min():,} to {values.max():,}; class numbers "
                f"from 0 to {_MOST_LABEL:,} are needed"
            )
        return values.astype(np.uint16)
    return values.astype(np.uint16 if image.mode.startswith("I;16") else np.uint8)
