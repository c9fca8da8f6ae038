"""Resizing the whole image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Floats, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import MAX_SIDE_PX, read_integer, read_size
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_interpolation,
)
from penstock.transforms.moves import ResizeMove, repeat
from penstock.transforms.op import ImageOp


@dataclass(frozen=True, slots=True, repr=False)
class Resize(ImageOp):
    """Resize to `size`, exactly as Pillow does.

    `size` is (height, width); or one number for the shorter side, the other following in
    proportion, at most `max_size`; or None with `max_size` for the longer side.
    `antialias` is taken for torchvision's sake: Pillow always smooths when it shrinks.
    """

    size: int | Sequence[int] | None
    interpolation: Interpolation = InterpolationMode.BILINEAR
    max_size: int | None = None
    antialias: bool | None = True
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)
    _sides: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _mode=read_interpolation("Resize", self.interpolation),
            _sides=_read_sides(self.size, self.max_size),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Nothing is drawn: the size follows from the image's."""
        height, width = self._out_sides(sizes)
        bad = (np.minimum(height, width) < 1) | (np.maximum(height, width) > MAX_SIDE_PX)
        if bad.any():
            row = int(bad.argmax())
            raise TransformError(
                f"Resize (step {draws.stream + 1}): sample {draws.sample_at(row)} is {sizes[row]} "
                f"here and would become {height[row]}x{width[row]}. Crop it first, "
                f"or give size as (height, width)."
            )
        return (ResizeMove(height, width, self._mode.pillow_filter),)

    def _out_sides(self, sizes: Sizes) -> tuple[Ints, Ints]:
        """Follow torchvision: divisions in double precision, cut to integers, not rounded."""
        if len(self._sides) == 2:
            return repeat(self._sides[0], sizes), repeat(self._sides[1], sizes)
        short = np.minimum(sizes.height, sizes.width)
        long = np.maximum(sizes.height, sizes.width)
        if self._sides:
            new_short = repeat(self._sides[0], sizes)
            new_long = _cut(self._sides[0] * long / short)
        else:
            new_short, new_long = short, long
        if self.max_size is not None:
            limited = new_long > self.max_size if self._sides else np.True_
            scaled_short = _cut(self.max_size * new_short / new_long)
            new_short = np.where(limited, scaled_short, new_short)
            new_long = np.where(limited, self.max_size, new_long)
        upright = sizes.width <= sizes.height
        return np.where(upright, new_long, new_short), np.where(upright, new_short, new_long)


def _read_sides(size: int | Sequence[int] | None, max_size: int | None) -> tuple[int, ...]:
    """Both sides, the shorter one alone, or none, where the longer side is `max_size`."""
    if max_size is not None:
        read_integer("Resize", "max_size", max_size, least=1)
    if size is None:
        if max_size is None:
            raise TransformError("Resize: size and max_size are both None. Give one of them.")
        return ()
    sides = read_size("Resize", size)
    if isinstance(size, Sequence) and len(size) == 2:
        if max_size is not None:
            raise TransformError(
                f"Resize: max_size={max_size} has no meaning beside size={size!r}. "
                f"Give one number for the shorter side, or leave max_size out."
            )
        return sides
    if max_size is not None and max_size <= sides[0]:
        raise TransformError(
            f"Resize: max_size={max_size} must be greater than the shorter side, size={size!r}."
        )
    return sides[:1]


def _cut(sides: Floats) -> Ints:
    return sides.astype(np.int64)
