"""A border of random width: objects seem further away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    MAX_SIDE_PX,
    Colour,
    Fill,
    read_fill,
    read_probability,
    read_range,
)
from penstock.transforms.moves import PadMode, PadMove
from penstock.transforms.op import ImageOp


@dataclass(frozen=True, slots=True, repr=False)
class RandomZoomOut(ImageOp):
    """Put the image, with probability `p`, at a random place of a larger one of colour `fill`.

    Its sides are the image's times a factor drawn from `side_range`, at least 1.
    """

    fill: Fill = 0
    side_range: Sequence[float] = (1.0, 4.0)
    p: float = 0.5
    _colour: Colour = field(init=False, repr=False, compare=False)
    _factors: tuple[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _colour=read_fill("RandomZoomOut", self.fill),
            _factors=read_range("RandomZoomOut", "side_range", self.side_range),
        )
        read_probability("RandomZoomOut", self.p)
        if self._factors[0] < 1:
            raise TransformError(
                f"RandomZoomOut: side_range must not be below 1, got {self.side_range!r}."
            )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[PadMove]:
        """Draw whether, how much and where."""
        chance, factor, across, down = draws.units(4)
        smallest, largest = self._factors
        factor = np.where(chance < self.p, smallest + factor * (largest - smallest), 1.0)
        height, width = np.floor(sizes.height * factor), np.floor(sizes.width * factor)
        too_large = np.maximum(height, width) > MAX_SIDE_PX
        if too_large.any():
            row = int(too_large.argmax())
            raise TransformError(
                f"RandomZoomOut (step {draws.stream + 1}): sample {draws.sample_at(row)} is "
                f"{sizes[row]} here and would become {height[row]:.0f}x{width[row]:.0f}. "
                f"Narrow side_range, or resize first."
            )
        spare_height = height.astype(np.int64) - sizes.height
        spare_width = width.astype(np.int64) - sizes.width
        top = (spare_height * down).astype(np.int64)
        left = (spare_width * across).astype(np.int64)
        right, bottom = spare_width - left, spare_height - top
        return (PadMove(left, top, right, bottom, PadMode.CONSTANT, self._colour),)
