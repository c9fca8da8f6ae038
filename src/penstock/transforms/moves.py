"""Moves: what was drawn for the images of a batch, as records of arrays with a row per sample.

Moves know sizes, not pixels: the planner turns them into steps for the core, the reference into
calls of Pillow. What changes pixels in place is an EffectMove, in `effects`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from penstock._core import PadMode, Weights
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.transforms.effects import EffectMove


@dataclass(frozen=True, slots=True)
class PadMove:
    """Add a border, in pixels, none of them negative."""

    left: Ints
    top: Ints
    right: Ints
    bottom: Ints
    mode: PadMode
    fill: tuple[int, int, int]  # red, green, blue; used by PadMode.CONSTANT only

    def out_sizes(self, sizes: Sizes) -> Sizes:
        """The sizes after the move."""
        return Sizes(
            self.top + sizes.height + self.bottom,
            self.left + sizes.width + self.right,
        )


class _ToSize:
    """What gives images the size it says, whatever they had."""

    __slots__ = ()

    height: Ints
    width: Ints

    def out_sizes(self, sizes: Sizes) -> Sizes:
        """The sizes after the move."""
        del sizes
        return Sizes(self.height, self.width)


@dataclass(frozen=True, slots=True)
class CropMove(_ToSize):
    """Keep a box that lies within the image."""

    top: Ints
    left: Ints
    height: Ints
    width: Ints


@dataclass(frozen=True, slots=True)
class ResizeMove(_ToSize):
    """Resize with one of Pillow's filters, given by Pillow's number; same size means a copy.

    With `scales`, a plan lets the decoder do a part of it: it decodes at 1/2, 1/4 or 1/8 of the
    size (1: whole), and the resize starts from there. With `dc_alone`, an eighth is made of the
    first coefficient of each block: colours are coarser, which means do not show.

    `weights` other than Pillow's are those of torch's resizes of bytes.
    """

    height: Ints
    width: Ints
    filter: int
    scales: Ints | None = None
    dc_alone: bool = False
    weights: Weights = Weights.PILLOW


@dataclass(frozen=True, slots=True)
class FlipMove:
    """Mirror left to right, top to bottom, both or neither."""

    horizontal: Bools
    vertical: Bools

    def out_sizes(self, sizes: Sizes) -> Sizes:
        """The sizes after the move."""
        return sizes


Move: TypeAlias = PadMove | CropMove | ResizeMove | FlipMove | EffectMove


@dataclass(frozen=True, slots=True)
class BoxResizeMove:
    """Resize parts of images, in pixels and fractions of them, by a filter other than nearest.

    Filters read past the edges of a part, as in Pillow's `resize(box=)`. No transform draws one, so
    no rule has to know it: it comes from users' own calls.
    """

    height: Ints
    width: Ints
    filter: int
    box: Floats  # (images, 4): left, top, right and bottom

    def out_sizes(self, sizes: Sizes) -> Sizes:
        """The sizes that are asked for."""
        del sizes
        return Sizes(self.height, self.width)


def out_sizes(moves: Iterable[Move], sizes: Sizes) -> Sizes:
    """The sizes after all of `moves`."""
    for move in moves:
        sizes = move.out_sizes(sizes)
    return sizes


def repeat(value: int, sizes: Sizes) -> Ints:
    """One value for every image of the batch."""
    return np.full(len(sizes), value, dtype=np.int64)
