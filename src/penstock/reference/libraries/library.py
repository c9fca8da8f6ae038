"""What a carrier asks of an image library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy.typing as npt
from PIL import Image

from penstock.geometry import Size
from penstock.sources import Source
from penstock.transforms.moves import Move
from penstock.transforms.values import FinalSpec, Layout

ImageT = TypeVar("ImageT")


class ImageLibrary(ABC, Generic[ImageT]):
    """Does what was drawn with the means of one library, whose own type of RGB image is ImageT."""

    @abstractmethod
    def open(self, source: Source, sample: int, pixel_limit: int) -> ImageT:
        """Decode a sample's file: first frame, not turned by EXIF.

        Any failure is a DecodeError whose message lacks the file's name; the caller adds it.
        """

    @abstractmethod
    def size_of(self, image: ImageT) -> Size:
        """The size of an image."""

    @abstractmethod
    def run_moves(self, image: ImageT, moves: Iterable[Move], row: int) -> ImageT:
        """Do what the moves say for the sample in `row`. Must leave `image` as it is."""

    @abstractmethod
    def to_pillow(self, image: ImageT) -> Image.Image:
        """The image as users' functions take it."""

    @abstractmethod
    def from_pillow(self, image: Image.Image) -> ImageT:
        """What a user's function returned."""

    @abstractmethod
    def finish(self, image: ImageT, spec: FinalSpec, layout: Layout) -> npt.NDArray[Any]:
        """The final pass: values, element type and layout."""
