"""Adding a border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    Borders,
    Colour,
    Fill,
    PaddingMode,
    read_fill,
    read_padding,
    read_padding_mode,
)
from penstock.transforms.moves import CropMove, Move, PadMode, PadMove, repeat
from penstock.transforms.op import ImageOp


@dataclass(frozen=True, slots=True, repr=False)
class Pad(ImageOp):
    """Add a border of `padding` pixels on each side; a negative number cuts off instead.

    `padding` is one number, (left and right, top and bottom), or (left, top, right, bottom).
    `fill` colours the border of mode "constant"; "edge" repeats the outermost pixels,
    "reflect" mirrors the image without them and "symmetric" with them.
    """

    padding: int | Sequence[int]
    fill: Fill = 0
    padding_mode: PaddingMode = "constant"
    _borders: Borders = field(init=False, repr=False, compare=False)
    _mode: PadMode = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _borders=read_padding("Pad", self.padding),
            _mode=read_padding_mode("Pad", self.padding_mode),
            _colour=read_fill("Pad", self.fill),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn: every image gets the same border."""
        left, top, right, bottom = (repeat(border, sizes) for border in self._borders)
        padded = PadMove(left, top, right, bottom, self._mode, self._colour)
        return cut_and_pad("Pad", padded, draws, sizes)


def cut_and_pad(where: str, padded: PadMove, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
    """Moves for a border whose sides may still be negative; none if there is no border."""
    sides = np.stack([padded.left, padded.top, padded.right, padded.bottom])
    if (sides >= 0).all():
        return (padded,) if sides.any() else ()
    cut_left, cut_top, cut_right, cut_bottom = -np.minimum(sides, 0)
    kept = Sizes(sizes.height - cut_top - cut_bottom, sizes.width - cut_left - cut_right)
    gone = (kept.height < 1) | (kept.width < 1)
    if gone.any():
        row = int(gone.argmax())
        raise TransformError(
            f"{where} (step {draws.stream + 1}): negative padding cuts away all of sample "
            f"{draws.sample_at(row)}, which is {sizes[row]} here. Cut less, or resize first."
        )
    left, top, right, bottom = np.maximum(sides, 0)
    return (
        CropMove(cut_top, cut_left, kept.height, kept.width),
        PadMove(left, top, right, bottom, padded.mode, padded.fill),
    )
