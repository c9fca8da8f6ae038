"""Pillow: the oracle, whose bytes the core gives too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy.typing as npt
from PIL import Image

from penstock.geometry import Size
from penstock.reference.libraries.library import ImageLibrary
from penstock.reference.pillow_decode import open_rgb
from penstock.reference.pipeline import finish, run_moves
from penstock.sources import Source
from penstock.transforms.moves import Move
from penstock.transforms.values import FinalSpec, Layout


class PillowLibrary(ImageLibrary[Image.Image]):
    """The reference, as a library among others."""

    def open(self, source: Source, sample: int, pixel_limit: int) -> Image.Image:
        """Decode by Pillow."""
        return open_rgb(source, sample, pixel_limit)

    def size_of(self, image: Image.Image) -> Size:
        """The size of an image."""
        return Size(image.height, image.width)

    def run_moves(self, image: Image.Image, moves: Iterable[Move], row: int) -> Image.Image:
        """Do what the moves say for the sample in `row`."""
        return run_moves(image, moves, row)

    def to_pillow(self, image: Image.Image) -> Image.Image:
        """It is one."""
        return image

    def from_pillow(self, image: Image.Image) -> Image.Image:
        """It is one."""
        return image

    def finish(self, image: Image.Image, spec: FinalSpec, layout: Layout) -> npt.NDArray[Any]:
        """The final pass: values, element type and layout."""
        return finish(image, spec, layout)
