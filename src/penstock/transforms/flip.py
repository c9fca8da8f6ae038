"""Mirroring at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import read_probability
from penstock.transforms.moves import FlipMove
from penstock.transforms.op import ImageOp


@dataclass(frozen=True, slots=True, repr=False)
class RandomHorizontalFlip(ImageOp):
    """Mirror an image left to right with probability `p`."""

    p: float = 0.5

    def __post_init__(self) -> None:
        read_probability("RandomHorizontalFlip", self.p)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[FlipMove]:
        """One draw decides for each image."""
        flipped = draws.uniform() < self.p
        return (FlipMove(horizontal=flipped, vertical=np.zeros(len(sizes), dtype=np.bool_)),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomVerticalFlip(ImageOp):
    """Mirror an image top to bottom with probability `p`."""

    p: float = 0.5

    def __post_init__(self) -> None:
        read_probability("RandomVerticalFlip", self.p)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[FlipMove]:
        """One draw decides for each image."""
        flipped = draws.uniform() < self.p
        return (FlipMove(horizontal=np.zeros(len(sizes), dtype=np.bool_), vertical=flipped),)
