"""Pillow: decoding exactly as torchvision does, and the oracle as a library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock.errors import DecodeError
from penstock.geometry import Size
from penstock.limits import pillow_limit
from penstock.pillow_messages import heard
from penstock.reference.libraries.library import ImageLibrary, ImageT
from penstock.reference.pipeline import finish, run_moves
from penstock.resources import raise_if_refused
from penstock.sources import Source
from penstock.transforms.moves import Move
from penstock.transforms.values import FinalSpec, Layout


class PillowLibrary(ImageLibrary[PIL.Image.Image]):
    """The reference, as a library among others."""

    def open(self, source: Source, sample: int, pixel_limit: int) -> PIL.Image.Image:
        """Decode by Pillow."""
        return open_rgb(source, sample, pixel_limit)

    def size_of(self, image: PIL.Image.Image) -> Size:
        """The size of an image."""
        return Size(image.height, image.width)

    def run_moves(self, image: PIL.Image.Image, moves: Iterable[Move], row: int) -> PIL.Image.Image:
        """Do what the moves say for the sample in `row`."""
        return run_moves(image, moves, row)

    def to_pillow(self, image: PIL.Image.Image) -> PIL.Image.Image:
        """The same image: it is Pillow's already."""
        return image

    def from_pillow(self, image: PIL.Image.Image) -> PIL.Image.Image:
        """The same image: it is Pillow's already."""
        return image

    def finish(self, image: PIL.Image.Image, spec: FinalSpec, layout: Layout) -> npt.NDArray[Any]:
        """The final pass: values, element type and layout."""
        return finish(image, spec, layout)


def open_rgb(source: Source, sample: int, pixel_limit: int) -> PIL.Image.Image:
    """Return `Image.open(file).convert("RGB")`: first frame, not turned by EXIF.

    Any failure is a DecodeError whose message lacks the file's name; the caller adds it. A failure
    of the machine is a ResourceError instead.
    """
    try:
        file = source.open(sample)
    except Exception as error:  # a source may be the user's own, and so may be its errors
        raise_if_refused(error, source.name(sample))
        raise DecodeError(f"it cannot be opened ({_sentence(error)})") from error
    try:
        with file, pillow_limit.at_least(pixel_limit), PIL.Image.open(file) as image:
            check_pixels(image.height, image.width, pixel_limit)
            converted: PIL.Image.Image = image.convert("RGB")
            return converted
    except DecodeError:
        raise
    # Decoders for hostile files raise nearly anything: struct.error, IndexError, SyntaxError ...
    except Exception as error:
        raise_if_refused(error, source.name(sample))
        raise DecodeError(f"Pillow cannot decode it ({_sentence(error)})") from error


def decode_rgb(source: Source, sample: int, pixel_limit: int) -> npt.NDArray[np.uint8]:
    """Return the pixels of `open_rgb` as a contiguous HxWx3 array."""
    return to_array(open_rgb(source, sample, pixel_limit))


def open_listening(
    open_image: Callable[[Source, int, int], ImageT], source: Source, sample: int, pixel_limit: int
) -> tuple[ImageT, str]:
    """Return the image and Pillow's warnings about its file, which a DecodeError says as well."""
    try:
        with heard() as messages:
            image = open_image(source, sample, pixel_limit)
    except DecodeError as error:
        raise DecodeError(f"{error}; {messages}" if messages.texts else str(error)) from error
    return image, f"Pillow says: {messages}" if messages.texts else ""


def to_array(image: PIL.Image.Image) -> npt.NDArray[np.uint8]:
    """Return an RGB image's pixels as a contiguous HxWx3 array."""
    pixels: npt.NDArray[Any] = np.asarray(image)
    return np.ascontiguousarray(pixels, dtype=np.uint8)


def check_pixels(height: int, width: int, pixel_limit: int) -> None:
    """Raise DecodeError for an image with more pixels than allowed, or none."""
    if height * width > pixel_limit:
        raise DecodeError(
            f"the header says {height}x{width}, {height * width:,} pixels, more than "
            f"pixel_limit={pixel_limit:,} allows. If the file is to be trusted, raise that "
            "argument of Loader, or --limit pixels= on the command line"
        )
    if height < 1 or width < 1:
        raise DecodeError(f"the header says {height}x{width}: there are no pixels")


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
