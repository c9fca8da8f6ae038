"""A crop of one size whatever the image's: the end of large-scale jitter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.geometry import Size, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    Colour,
    Fill,
    PaddingMode,
    read_fill,
    read_padding_mode,
    read_size,
)
from penstock.transforms.moves import CropMove, Move, PadMode, PadMove
from penstock.transforms.op import TargetOp
from penstock.transforms.targets import Targets, move_targets


@dataclass(frozen=True, slots=True, repr=False)
class FixedSizeCrop(TargetOp):
    """Cut what is larger than `size` at a random place; fill up what is smaller, right and below.

    One draw places the crop both across and down. Objects of which a crop leaves nothing are
    dropped. This is the transform of that name in torchvision's reference training of detectors.
    """

    size: int | Sequence[int]
    fill: Fill = 0
    padding_mode: PaddingMode = "constant"
    _out: Size = field(init=False, repr=False, compare=False)
    _mode: PadMode = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _out=Size(*read_size("FixedSizeCrop", self.size)),
            _mode=read_padding_mode("FixedSizeCrop", self.padding_mode),
            _colour=read_fill("FixedSizeCrop", self.fill),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[CropMove, PadMove]:
        """Draw the place of each crop."""
        place = draws.uniform()
        height = np.minimum(sizes.height, self._out.height)
        width = np.minimum(sizes.width, self._out.width)
        top = ((sizes.height - height) * place).astype(np.int64)
        left = ((sizes.width - width) * place).astype(np.int64)
        none = np.zeros_like(height)
        right, bottom = self._out.width - width, self._out.height - height
        return (
            CropMove(top, left, height, width),
            PadMove(none, none, right, bottom, self._mode, self._colour),
        )

    def sample_targets(
        self, draws: Draws, sizes: Sizes, targets: Targets
    ) -> tuple[tuple[Move, ...], Targets]:
        """Move targets along, and drop objects that a crop has cut away."""
        moves = self.sample(draws, sizes)
        moved = move_targets(moves, targets, sizes)
        if moved.boxes is None:
            return moves, moved
        left, top, right, bottom = moved.boxes.T
        crop = moves[0]
        cut = (crop.height < sizes.height) | (crop.width < sizes.width)
        return moves, moved.keep(~cut[moved.owners] | ((left < right) & (top < bottom)))
