"""An image, and what is to be done with it: a value that nothing is computed for yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from penstock._core import Effect

Pixels = npt.NDArray[np.uint8]  # (height, width, 3)


FileVersion: TypeAlias = tuple[int, int, int, int]  # as the core's `file_version` gives it
NO_VERSION: FileVersion = (0, 0, 0, 0)


@dataclass(slots=True, eq=False)
class JpegFile:
    """A whole file in memory, whose header the core has read."""

    data: bytes
    name: str
    height: int
    width: int
    orientation: int = 1  # as EXIF counts them
    header_bytes: int = 0  # before its pixels
    by_pillow: bool = True  # whether Pillow decides about it, if it turns out to be damaged
    version: FileVersion = NO_VERSION  # of the file that it was read from, if that is known
    luma_alone: bool = False  # whether only its luminance is looked at, as three equal channels
    asked_px: int = 0  # pixels of it that were decoded one by one
    batches: int = 0  # in which it was found
    whole: Pixels | None = None  # all of it, for a while, if more was asked for than it has


class Crop(NamedTuple):
    """Keep a box that lies within the image."""

    top: int
    left: int
    height: int
    width: int


class Resize(NamedTuple):
    """Resize by one of Pillow's filters, with Pillow's weights or with torch's."""

    height: int
    width: int
    filter: int
    weights: int = 0  # a number of Weights


class ResizeBox(NamedTuple):
    """Resize a part, by one of Pillow's filters other than nearest."""

    height: int
    width: int
    filter: int
    box: tuple[float, float, float, float]  # left, top, right, bottom


class Flip(NamedTuple):
    """Mirror left to right, top to bottom, or both."""

    horizontal: bool
    vertical: bool


class Pad(NamedTuple):
    """Add a border, after which the image has this size."""

    height: int
    width: int
    top: int
    left: int
    mode: int  # a number of PadMode
    fill: tuple[int, int, int]  # red, green, blue


class Applied(NamedTuple):
    """An effect of the core's, after which the image has this size."""

    height: int
    width: int
    effect: int
    numbers: tuple[float, ...]


Step: TypeAlias = Crop | Resize | ResizeBox | Flip | Pad | Applied


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Where pixels come from, the steps after that, and the size that they lead to."""

    source: JpegFile | Pixels
    steps: tuple[Step, ...]
    height: int
    width: int

    @staticmethod
    def of_file(file: JpegFile) -> Chain:
        """All of a file."""
        return Chain(file, (), file.height, file.width)

    @staticmethod
    def of_pixels(pixels: Pixels) -> Chain:
        """What is computed already."""
        return Chain(pixels, (), *pixels.shape[:2])

    @property
    def pixels(self) -> Pixels | None:
        """The pixels, if they are there."""
        is_there = isinstance(self.source, np.ndarray) and not self.steps
        return self.source if is_there else None  # type: ignore[return-value]  # is_there says so

    def crop(self, top: int, left: int, height: int, width: int) -> Chain:
        """Return the chain with a crop, which must lie within the image."""
        steps = self.steps
        if steps and isinstance(steps[-1], Crop):  # a box in a box is one
            top, left = top + steps[-1].top, left + steps[-1].left
            steps = steps[:-1]
        return Chain(self.source, (*steps, Crop(top, left, height, width)), height, width)

    def resize(self, height: int, width: int, number: int, weights: int = 0) -> Chain:
        """Return the chain with a resize by the filter of this number."""
        step = Resize(height, width, number, weights)
        return Chain(self.source, (*self.steps, step), height, width)

    def resize_box(
        self, height: int, width: int, number: int, box: tuple[float, float, float, float]
    ) -> Chain:
        """Return the chain with a resize of a part, which must lie within the image."""
        step = ResizeBox(height, width, number, box)
        return Chain(self.source, (*self.steps, step), height, width)

    def pad(
        self, top: int, left: int, size: tuple[int, int], mode: int, fill: tuple[int, int, int]
    ) -> Chain:
        """Return the chain within a larger image, from this row and column on."""
        return Chain(self.source, (*self.steps, Pad(*size, top, left, mode, fill)), *size)

    def flip(self, *, horizontal: bool, vertical: bool) -> Chain:
        """Return the chain with a mirror."""
        steps = self.steps
        if steps and isinstance(steps[-1], Flip):
            horizontal ^= steps[-1].horizontal
            vertical ^= steps[-1].vertical
            steps = steps[:-1]
        if horizontal or vertical:
            steps = (*steps, Flip(horizontal, vertical))
        return Chain(self.source, steps, self.height, self.width)

    def turn(self, rows_round: bool, columns_round: bool) -> Chain:
        """Return the chain with rows as columns, the last first where their order is turned round.

        Whole turns by the nearest pixel hit the middle of each.
        """
        across, right = (-1.0, float(self.width)) if columns_round else (1.0, 0.0)
        down, bottom = (-1.0, float(self.height)) if rows_round else (1.0, 0.0)
        numbers = (0.0, across, right, down, 0.0, bottom, 0.0, 0.0)
        return self.apply(Effect.AFFINE, numbers, (self.width, self.height))

    def apply(
        self, effect: Effect, numbers: tuple[float, ...] = (), size: tuple[int, int] | None = None
    ) -> Chain:
        """Return the chain with an effect, which may change the size."""
        height, width = size or (self.height, self.width)
        steps = (*self.steps, Applied(height, width, int(effect), numbers))
        return Chain(self.source, steps, height, width)

    @property
    def needed_px(self) -> int:
        """How many pixels of its source are needed, at most."""
        first = self.steps[0] if self.steps else None
        if isinstance(first, Crop):
            return first.height * first.width
        height, width = self.source_size
        return height * width

    @property
    def source_size(self) -> tuple[int, int]:
        """Height and width of where pixels come from."""
        source = self.source
        if isinstance(source, np.ndarray):
            return source.shape[0], source.shape[1]
        return source.height, source.width

    def upto(self, steps: int) -> Chain:
        """The first steps of it."""
        height, width = self.source_size
        for step in self.steps[:steps]:
            if not isinstance(step, Flip):
                height, width = step.height, step.width
        return Chain(self.source, self.steps[:steps], height, width)

    def after(self, steps: int, pixels: Pixels) -> Chain:
        """The steps after the first ones, from the pixels that these lead to."""
        return Chain(pixels, self.steps[steps:], self.height, self.width)


def same_steps(chains: Sequence[Chain]) -> int:
    """With how many steps they all begin."""
    count = 0
    for steps in zip(*(chain.steps for chain in chains), strict=False):
        if any(step != steps[0] or type(step) is not type(steps[0]) for step in steps):
            break
        count += 1
    return count
