"""Sizes and boxes, one at a time and a batch at a time. Imports nothing of ours.

(height, width) everywhere; boxes are top, left, height, width in pixels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Size:
    """Height and width of one image, in pixels."""

    height: int
    width: int

    def __str__(self) -> str:
        return f"{self.height}x{self.width}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Heights and widths of the images of a batch."""

    height: Ints
    width: Ints

    @classmethod
    def of(cls, sizes: Iterable[Size]) -> Sizes:
        """The sizes of single images."""
        sides = [(size.height, size.width) for size in sizes]
        height, width = np.array(sides, dtype=np.int64).reshape(-1, 2).T
        return cls(height, width)

    def __len__(self) -> int:
        return len(self.height)

    @property
    def are_alike(self) -> bool:
        """Whether there are images, all of one size."""
        height, width = self.height, self.width
        return bool(len(height) and (height == height[0]).all() and (width == width[0]).all())

    def at(self, rows: Ints | Bools) -> Sizes:
        """The sizes of some of the images."""
        return Sizes(self.height[rows], self.width[rows])

    def __getitem__(self, index: int) -> Size:
        return Size(int(self.height[index]), int(self.width[index]))
