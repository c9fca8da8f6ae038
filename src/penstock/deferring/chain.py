"""An image, and what is to be done with it: a value that nothing is computed for yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from penstock._core import Effect, Weights
from penstock.transforms.effects import EffectMove, no_numbers
from penstock.transforms.moves import CropMove, FlipMove, Move, ResizeMove

Pixels = npt.NDArray[np.uint8]  # (height, width, 3)


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
    asked_px: int = 0  # pixels of it that were decoded one by one
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


class Flip(NamedTuple):
    """Mirror left to right, top to bottom, or both."""

    horizontal: bool
    vertical: bool


class Applied(NamedTuple):
    """An effect of the core's, after which the image has this size."""

    height: int
    width: int
    effect: int
    numbers: tuple[float, ...]


Step: TypeAlias = Crop | Resize | Flip | Applied


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
        source = self.source
        return source.size // 3 if isinstance(source, np.ndarray) else source.height * source.width

    def upto(self, steps: int) -> Chain:
        """The first steps of it."""
        source = self.source
        if isinstance(source, np.ndarray):
            height, width = source.shape[:2]
        else:
            height, width = source.height, source.width
        for step in self.steps[:steps]:
            if not isinstance(step, Flip):
                height, width = step.height, step.width
        return Chain(source, self.steps[:steps], height, width)

    def after(self, steps: int, pixels: Pixels) -> Chain:
        """The steps after the first ones, from the pixels that these lead to."""
        return Chain(pixels, self.steps[steps:], self.height, self.width)

    @property
    def kinds(self) -> tuple[object, ...]:
        """What kinds of steps it has; chains of the same kinds are computed together."""
        return tuple(
            step[2:] if isinstance(step, Resize) else type(step).__name__ for step in self.steps
        )


def same_steps(chains: Sequence[Chain]) -> int:
    """With how many steps they all begin."""
    count = 0
    for steps in zip(*(chain.steps for chain in chains), strict=False):
        if any(step != steps[0] or type(step) is not type(steps[0]) for step in steps):
            break
        count += 1
    return count


def moves_of(chains: Sequence[Chain]) -> tuple[Move, ...]:
    """Return the steps of chains of the same kinds, as moves with a row for each chain."""
    return tuple(_move(steps) for steps in zip(*(chain.steps for chain in chains), strict=True))


def _move(steps: Sequence[Step]) -> Move:
    first = steps[0]
    if isinstance(first, Flip):
        return FlipMove(*np.array(steps, dtype=np.bool_).T)
    if isinstance(first, Applied):
        return _effects(steps)
    columns = np.array(steps, dtype=np.int64).T
    if isinstance(first, Crop):
        return CropMove(*columns)
    return ResizeMove(columns[0], columns[1], first.filter, weights=Weights(first.weights))


def _effects(steps: Sequence[Any]) -> EffectMove:
    """The effects of several chains, which need not be the same."""
    numbers = no_numbers(len(steps))
    for row, step in enumerate(steps):
        numbers[row, : len(step.numbers)] = step.numbers
    rows = [(step.height, step.width, step.effect) for step in steps]
    height, width, effect = np.array(rows, dtype=np.int64).T
    return EffectMove(effect, numbers, height, width)
