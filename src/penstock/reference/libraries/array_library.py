"""What libraries have in common whose images are arrays of height x width x 3."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock.geometry import Ints, Size
from penstock.reference.effects import Mix, Numbers
from penstock.reference.libraries.library import ImageLibrary
from penstock.reference.pillow_decode import to_array
from penstock.reference.pipeline import finish_pixels
from penstock.transforms.effects import Effect, EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMode, PadMove, ResizeMove
from penstock.transforms.values import FinalSpec, Layout

Pixels = npt.NDArray[np.uint8]


class ArrayLibrary(ImageLibrary[Pixels]):
    """Crops, mirrors and mixes by NumPy; the rest is up to the library."""

    @abstractmethod
    def pad(
        self,
        image: Pixels,
        borders: tuple[int, int, int, int],
        mode: PadMode,
        fill: tuple[int, int, int],
    ) -> Pixels:
        """Add borders: left, top, right, bottom."""

    @abstractmethod
    def resize(self, image: Pixels, size: Size, filter: int) -> Pixels:
        """Resize with the filter of Pillow's number, or what is nearest to it."""

    @abstractmethod
    def apply_effect(self, image: Pixels, effect: Effect, numbers: Numbers, size: Size) -> Pixels:
        """One effect, not one that mixes; the image has `size` afterwards."""

    def size_of(self, image: Pixels) -> Size:
        """The size of an image."""
        return Size(*image.shape[:2])

    def run_moves(self, image: Pixels, moves: Iterable[Move], row: int) -> Pixels:
        """Do what the moves say for the sample in `row`."""
        mix = Mix()
        for move in moves:
            match move:
                case PadMove():
                    borders = _ints(row, move.left, move.top, move.right, move.bottom)
                    if any(borders):
                        image = self.pad(image, borders, move.mode, move.fill)
                case CropMove():
                    top, left, height, width = _ints(
                        row, move.top, move.left, move.height, move.width
                    )
                    image = image[top : top + height, left : left + width]
                case ResizeMove():
                    size = Size(int(move.height[row]), int(move.width[row]))
                    if size != self.size_of(image):
                        image = self.resize(image, size, move.filter)
                case FlipMove():
                    down = -1 if move.vertical[row] else 1
                    across = -1 if move.horizontal[row] else 1
                    image = image[::down, ::across]
                case EffectMove():
                    image = self._run_effect(image, move, row, mix)
        return image

    def to_pillow(self, image: Pixels) -> Image.Image:
        """A copy for users' functions."""
        return Image.fromarray(np.ascontiguousarray(image))

    def from_pillow(self, image: Image.Image) -> Pixels:
        """The pixels of what a user's function returned."""
        return to_array(image)

    def finish(self, image: Pixels, spec: FinalSpec, layout: Layout) -> npt.NDArray[Any]:
        """The final pass: values, element type and layout."""
        return finish_pixels(image, spec, layout)

    def _run_effect(self, image: Pixels, move: EffectMove, row: int, mix: Mix) -> Pixels:
        effect = Effect(move.effect[row])
        numbers = move.numbers[row].tolist()
        if effect == Effect.NONE:
            return image
        if effect in Mix.EFFECTS:
            return mix.apply(image, effect, numbers[0])
        size = Size(int(move.height[row]), int(move.width[row]))
        return self.apply_effect(image, effect, numbers, size)


def _ints(
    row: int, first: Ints, second: Ints, third: Ints, fourth: Ints
) -> tuple[int, int, int, int]:
    return int(first[row]), int(second[row]), int(third[row]), int(fourth[row])
