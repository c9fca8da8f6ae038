"""Cropping without resizing, from the centre or at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Ints, Size, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    Borders,
    Colour,
    Fill,
    PaddingMode,
    read_fill,
    read_padding,
    read_padding_mode,
    read_size,
)
from penstock.transforms.moves import CropMove, Move, PadMode, PadMove, out_sizes, repeat
from penstock.transforms.op import ImageOp
from penstock.transforms.pad import cut_and_pad


@dataclass(frozen=True, slots=True, repr=False)
class CenterCrop(ImageOp):
    """Keep the middle of an image; one that is smaller than `size` gets a black border first."""

    size: int | Sequence[int]
    _box: Size = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(_box=Size(*read_size("CenterCrop", self.size)))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn: the box follows from the image's size."""
        del draws
        lacking_height = np.maximum(self._box.height - sizes.height, 0)
        lacking_width = np.maximum(self._box.width - sizes.width, 0)
        crop = CropMove(
            _centred(sizes.height + lacking_height - self._box.height),
            _centred(sizes.width + lacking_width - self._box.width),
            repeat(self._box.height, sizes),
            repeat(self._box.width, sizes),
        )
        if not (lacking_height.any() or lacking_width.any()):
            return (crop,)
        border = PadMove(
            left=lacking_width // 2,
            top=lacking_height // 2,
            right=(lacking_width + 1) // 2,
            bottom=(lacking_height + 1) // 2,
            mode=PadMode.CONSTANT,
            fill=(0, 0, 0),
        )
        return border, crop


@dataclass(frozen=True, slots=True, repr=False)
class RandomCrop(ImageOp):
    """Keep a box of `size` from a random place, after adding `padding` if given.

    With `pad_if_needed`, an image that is smaller than `size` gets a border wide enough on both
    sides; without it, such an image is an error. `fill` and `padding_mode` are as in `Pad`.
    """

    size: int | Sequence[int]
    padding: int | Sequence[int] | None = None
    pad_if_needed: bool = False
    fill: Fill = 0
    padding_mode: PaddingMode = "constant"
    _box: Size = field(init=False, repr=False, compare=False)
    _borders: Borders = field(init=False, repr=False, compare=False)
    _mode: PadMode = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        padding = 0 if self.padding is None else self.padding
        self._keep(
            _box=Size(*read_size("RandomCrop", self.size)),
            _borders=read_padding("RandomCrop", padding),
            _mode=read_padding_mode("RandomCrop", self.padding_mode),
            _colour=read_fill("RandomCrop", self.fill),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Draw the place of the box in each image, padded if need be."""
        padding = cut_and_pad("RandomCrop", self._padding(sizes), draws, sizes)
        padded = out_sizes(padding, sizes)
        self._check_room(draws, padded)
        crop = CropMove(
            draws.integers(padded.height - self._box.height + 1),
            draws.integers(padded.width - self._box.width + 1),
            repeat(self._box.height, sizes),
            repeat(self._box.width, sizes),
        )
        return (*padding, crop)

    def _padding(self, sizes: Sizes) -> PadMove:
        left, top, right, bottom = (repeat(border, sizes) for border in self._borders)
        if self.pad_if_needed:
            lacking_height = np.maximum(self._box.height - (top + sizes.height + bottom), 0)
            lacking_width = np.maximum(self._box.width - (left + sizes.width + right), 0)
            left, right = left + lacking_width, right + lacking_width
            top, bottom = top + lacking_height, bottom + lacking_height
        return PadMove(left, top, right, bottom, self._mode, self._colour)

    def _check_room(self, draws: Draws, padded: Sizes) -> None:
        small = (padded.height < self._box.height) | (padded.width < self._box.width)
        if small.any():
            row = int(small.argmax())
            raise TransformError(
                f"RandomCrop (step {draws.stream + 1}): crop is {self._box} but the image of "
                f"sample {draws.sample_at(row)} is {padded[row]} here. "
                f"Resize first, or set pad_if_needed=True."
            )


def _centred(spare: Ints) -> Ints:
    """Half of what is left over, halves going to the even neighbour as Python's round does."""
    return np.rint(spare / 2.0).astype(np.int64)
