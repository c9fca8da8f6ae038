"""Resizes, crops and borders placed as timm places them, for the core."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Bools, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    MAX_SIDE_PX,
    Colour,
    Fill,
    Interpolation,
    InterpolationMode,
    PaddingMode,
    read_fill,
    read_interpolation,
    read_padding_mode,
)
from penstock.transforms.moves import CropMove, Move, PadMode, PadMove, ResizeMove, repeat
from penstock.transforms.op import ImageOp


@dataclass(frozen=True, slots=True, repr=False)
class ResizeKeepRatio(ImageOp):
    """Resize so that the image covers `size`, or with `longest` of 1 so that it fits into it.

    With the probabilities given, the size is changed by a random factor, and the ratio of the sides
    by another.
    """

    size: tuple[int, int]
    longest: float = 0.0
    interpolation: Interpolation = InterpolationMode.BILINEAR
    random_scale_prob: float = 0.0
    random_scale_range: Sequence[float] = (0.85, 1.05)
    random_scale_area: bool = False
    random_aspect_prob: float = 0.0
    random_aspect_range: Sequence[float] = (0.9, 1.11)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(_mode=read_interpolation("ResizeKeepRatio", self.interpolation))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Two draws decide, two say how much."""
        down, across = sizes.height / self.size[0], sizes.width / self.size[1]
        more, less = np.maximum(down, across), np.minimum(down, across)
        ratio = more * self.longest + less * (1.0 - self.longest)
        draws.reserve(4)
        scaled, scale = draws.uniform() < self.random_scale_prob, draws.uniform()
        turned, aspect = draws.uniform() < self.random_aspect_prob, draws.uniform()
        low, high = self.random_scale_range
        factor = low + (high - low) * scale
        if self.random_scale_area:
            factor = 1.0 / np.sqrt(factor)
        factor = np.where(scaled, factor, 1.0)
        low, high = map(math.log, self.random_aspect_range)
        stretch = np.where(turned, np.sqrt(np.exp(low + (high - low) * aspect)), 1.0)
        height = np.rint(sizes.height * (factor / stretch) / ratio).astype(np.int64)
        width = np.rint(sizes.width * (factor * stretch) / ratio).astype(np.int64)
        bad = (np.minimum(height, width) < 1) | (np.maximum(height, width) > MAX_SIDE_PX)
        _refuse("ResizeKeepRatio", "cannot be resized", bad, draws, sizes)
        return (ResizeMove(height, width, self._mode.pillow_filter),)


@dataclass(frozen=True, slots=True, repr=False)
class CropOrPad(ImageOp):
    """Keep a box of `size`, in the middle or anywhere; where the image is smaller, add a border."""

    size: tuple[int, int]
    fill: Fill = 0
    padding_mode: PaddingMode = "constant"
    anywhere: bool = False
    _mode: PadMode = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _mode=read_padding_mode("CropOrPad", self.padding_mode),
            _colour=read_fill("CropOrPad", self.fill),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn for the middle; else how far down and across the box or image lies."""
        height, width = self.size
        if self.anywhere:
            draws.reserve(2)
        above, top = self._place(draws, sizes.height, height)
        before, left = self._place(draws, sizes.width, width)
        below = np.maximum(height - sizes.height, 0) - above
        behind = np.maximum(width - sizes.width, 0) - before
        border = PadMove(before, above, behind, below, self._mode, self._colour)
        crop = CropMove(top, left, repeat(height, sizes), repeat(width, sizes))
        has_border = (above + below + before + behind).any()
        return (border, crop) if has_border else (crop,)

    def _place(self, draws: Draws, have: Ints, want: int) -> tuple[Ints, Ints]:
        """How wide the border before the image is, and where the crop begins behind that."""
        lacking, spare = np.maximum(want - have, 0), np.maximum(have - want, 0)
        if self.anywhere:
            drawn = draws.integers(np.abs(have - want) + 1)
            return np.where(lacking > 0, drawn, 0), np.where(spare > 0, drawn, 0)
        return lacking // 2, np.rint(spare / 2.0).astype(np.int64)


@dataclass(frozen=True, slots=True, repr=False)
class TrimBorder(ImageOp):
    """Cut off `border_size` pixels on each side."""

    border_size: int

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[CropMove]:
        """Nothing is drawn."""
        border = repeat(self.border_size, sizes)
        height, width = sizes.height - 2 * border, sizes.width - 2 * border
        _refuse("TrimBorder", "has nothing left", (height < 1) | (width < 1), draws, sizes)
        return (CropMove(border, border, height, width),)


def _refuse(where: str, what: str, bad: Bools, draws: Draws, sizes: Sizes) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise TransformError(
            f"{where} (step {draws.stream + 1}): sample {draws.samples[row]} is {sizes[row]} here, "
            f"and {what}. Leave it out, or give other sizes."
        )
