"""Crops and borders placed as Albumentations places them, for the core.

Its middle is rounded down, where torchvision's is rounded to even; otherwise they move the same
pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Bools, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.moves import CropMove, Move, PadMode, PadMove, repeat
from penstock.transforms.op import ImageOp
from penstock.transforms.resize import RandomResizedCrop

Position = Literal["center", "top_left", "top_right", "bottom_left", "bottom_right"]


@dataclass(frozen=True, slots=True, repr=False)
class MiddleCrop(ImageOp):
    """Keep the middle; a larger crop than the image is an error."""

    height: int
    width: int

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn: the box follows from the image's size."""
        small = (sizes.height < self.height) | (sizes.width < self.width)
        _require_room("MiddleCrop", f"{self.height}x{self.width}", small, draws, sizes)
        return (
            CropMove(
                (sizes.height - self.height) // 2,
                (sizes.width - self.width) // 2,
                repeat(self.height, sizes),
                repeat(self.width, sizes),
            ),
        )


@dataclass(frozen=True, slots=True, repr=False)
class FixedCrop(ImageOp):
    """Keep the box from (top, left) up to (bottom, right), which the image must contain."""

    top: int
    left: int
    bottom: int
    right: int

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn."""
        small = (sizes.height < self.bottom) | (sizes.width < self.right)
        _require_room("FixedCrop", f"up to {self.bottom}x{self.right}", small, draws, sizes)
        return (
            CropMove(
                repeat(self.top, sizes),
                repeat(self.left, sizes),
                repeat(self.bottom - self.top, sizes),
                repeat(self.right - self.left, sizes),
            ),
        )


@dataclass(frozen=True, slots=True, repr=False)
class PadToSize(ImageOp):
    """Add a border to images that are smaller; `position` says where the image goes."""

    height: int
    width: int
    position: Position
    mode: PadMode
    fill: tuple[int, int, int]

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn."""
        del draws
        lacking_height = np.maximum(self.height - sizes.height, 0)
        lacking_width = np.maximum(self.width - sizes.width, 0)
        if not (lacking_height.any() or lacking_width.any()):
            return ()
        top = self._before("top", "bottom", lacking_height)
        left = self._before("left", "right", lacking_width)
        right, bottom = lacking_width - left, lacking_height - top
        return (PadMove(left, top, right, bottom, self.mode, self.fill),)

    def _before(self, near: str, far: str, lacking: Ints) -> Ints:
        """The part of the border above or left of the image."""
        if near in self.position:
            return np.zeros_like(lacking)
        return lacking if far in self.position else lacking // 2


@dataclass(frozen=True, slots=True, repr=False)
class RandomBox(ImageOp):
    """The box of RandomResizedCrop, which both libraries draw alike, not resized."""

    scale: Sequence[float]
    ratio: Sequence[float]

    def __post_init__(self) -> None:
        self._whole()

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Draw the box alone."""
        return self._whole().sample(draws, sizes)[:1]

    def _whole(self) -> RandomResizedCrop:
        return RandomResizedCrop(1, self.scale, self.ratio)


def _require_room(where: str, wanted: str, small: Bools, draws: Draws, sizes: Sizes) -> None:
    if small.any():
        row = int(small.argmax())
        raise TransformError(
            f"{where} (step {draws.stream + 1}): the crop is {wanted} but the image of sample "
            f"{draws.sample_at(row)} is {sizes[row]} here. Resize first, or set pad_if_needed=True."
        )
