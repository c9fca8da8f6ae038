"""What a loader asks of an image library, and what those share whose images are arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock._core import Effect, PadMode
from penstock.geometry import Ints, Size
from penstock.reference.effects import ON_ARRAYS, Mix, Parameters, apply_effect
from penstock.reference.pipeline import finish_pixels
from penstock.sources import Source
from penstock.transforms.arguments import Borders, Colour
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove
from penstock.transforms.values import FinalSpec, Layout

ImageT = TypeVar("ImageT")
Pixels = npt.NDArray[np.uint8]  # height x width x 3
Table = npt.NDArray[np.uint8]  # what becomes of each of 256 levels

_LEVELS = np.arange(256)
_SAME: Table = _LEVELS.astype(np.uint8)


class ImageLibrary(ABC, Generic[ImageT]):
    """Carries out moves with the means of one library, whose own type of RGB image is ImageT."""

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


class ArrayLibrary(ImageLibrary[Pixels]):
    """A library of arrays: crops, mirrors and mixes by NumPy, leaves the rest to subclasses."""

    @abstractmethod
    def pad(self, image: Pixels, borders: Borders, mode: PadMode, fill: Colour) -> Pixels:
        """Add borders: left, top, right, bottom."""

    @abstractmethod
    def resize(self, image: Pixels, size: Size, filter: int) -> Pixels:
        """Resize with the filter of Pillow's number, or what is nearest to it."""

    def apply_effect(
        self, image: Pixels, effect: Effect, parameters: Parameters, size: Size
    ) -> Pixels:
        """One effect, not one that mixes; the image has `size` afterwards.

        This is the reference's way, for effects that a library has no call for.
        """
        if effect in ON_ARRAYS:
            return ON_ARRAYS[effect](image, **parameters)
        return self.from_pillow(apply_effect(self.to_pillow(image), effect, parameters, size))

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
        return np.ascontiguousarray(np.asarray(image), dtype=np.uint8)

    def finish(self, image: Pixels, spec: FinalSpec, layout: Layout) -> npt.NDArray[Any]:
        """The final pass: values, element type and layout."""
        return finish_pixels(image, spec, layout)

    def _run_effect(self, image: Pixels, move: EffectMove, row: int, mix: Mix) -> Pixels:
        effect = Effect(move.effect[row])
        parameters = move.parameters(row)
        if effect == Effect.NONE:
            return image
        if effect in Mix.EFFECTS:
            return mix.apply(image, effect, **parameters)
        size = Size(int(move.height[row]), int(move.width[row]))
        return self.apply_effect(image, effect, parameters, size)


def _ints(
    row: int, first: Ints, second: Ints, third: Ints, fourth: Ints
) -> tuple[int, int, int, int]:
    return int(first[row]), int(second[row]), int(third[row]), int(fourth[row])


def blend_table(start: int, factor: float) -> Table:
    """From `start` at factor 0 to the level itself at 1, and beyond; fractions are cut off."""
    values: npt.NDArray[np.float32] = np.float32(start) + np.float32(factor) * (
        _LEVELS - start
    ).astype(np.float32)
    return values.clip(0, 255).astype(np.uint8)


def _posterize_table(bits: int) -> Table:
    """Keep the upper bits."""
    return (_LEVELS & ~((1 << (8 - bits)) - 1)).astype(np.uint8)


def _solarize_table(threshold: float) -> Table:
    """Invert from the threshold on."""
    return np.where(threshold > _LEVELS, _LEVELS, 255 - _LEVELS).astype(np.uint8)


def _solarize_add_table(added: int, threshold: float) -> Table:
    """Add below the threshold."""
    raised = np.minimum(_LEVELS + added, 255)
    return np.where(threshold > _LEVELS, raised, _LEVELS).astype(np.uint8)


def stretch_table(low: int, high: int) -> Table:
    """Stretch the levels from `low` to `high` over all there are."""
    if low == high:
        return _SAME
    scale = 255.0 / (high - low)
    return (_LEVELS * scale - low * scale).clip(0, 255).astype(np.uint8)


def equalize_table(counts: Ints) -> Table:
    """Use all levels about equally often, given how often each occurs."""
    used = np.flatnonzero(counts)
    step = (int(counts.sum()) - int(counts[used[-1]])) // 255
    if step == 0:
        return _SAME
    below = np.cumsum(counts) - counts
    return ((step // 2 + below) // step).clip(0, 255).astype(np.uint8)


# The effects that look every value up in one table, which follows from their parameters alone.
LEVEL_TABLES: dict[Effect, Callable[..., Table]] = {
    Effect.BRIGHTNESS: lambda factor: blend_table(0, factor),
    Effect.POSTERIZE: lambda bits: _posterize_table(int(bits)),
    Effect.SOLARIZE: _solarize_table,
    Effect.SOLARIZE_ADD: lambda amount, threshold: _solarize_add_table(int(amount), threshold),
}
