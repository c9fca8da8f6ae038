"""Resizing to a random size, in proportion: how detectors are trained on several scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Floats, Size, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import MAX_SIDE_PX, read_integer, read_range, read_size
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_interpolation,
)
from penstock.transforms.moves import ResizeMove
from penstock.transforms.op import ImageOp


@dataclass(frozen=True, slots=True, repr=False)
class ScaleJitter(ImageOp):
    """Resize so that the image would just fit into `target_size`, times a factor.

    The factor is drawn from `scale_range`. As in torchvision, `target_size` is (width, height),
    other than everywhere else; it matters only where the two differ. `antialias` is taken for
    torchvision's sake: Pillow always smooths when it shrinks.
    """

    target_size: Sequence[int]
    scale_range: Sequence[float] = (0.1, 2.0)
    interpolation: Interpolation = InterpolationMode.BILINEAR
    antialias: bool | None = True
    _fit: Size = field(init=False, repr=False, compare=False)
    _factors: tuple[float, float] = field(init=False, repr=False, compare=False)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        width, height = read_size("ScaleJitter", self.target_size)
        self._keep(
            _fit=Size(height, width),
            _factors=read_range("ScaleJitter", "scale_range", self.scale_range),
            _mode=read_interpolation("ScaleJitter", self.interpolation),
        )
        if self._factors[0] <= 0:
            raise TransformError(
                f"ScaleJitter: scale_range must be greater than 0, got {self.scale_range!r}."
            )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Draw the factor of each image."""
        fit = np.minimum(self._fit.height / sizes.height, self._fit.width / sizes.width)
        ratio = fit * draws.uniform(*self._factors)
        return (_resize("ScaleJitter", draws, sizes, ratio, self._mode),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomShortestSize(ImageOp):
    """Resize so that the shorter side has one of the lengths in `min_size`.

    If that makes the longer side longer than `max_size`, the longer side gets that length instead.
    `antialias` is taken for torchvision's sake: Pillow always smooths when it shrinks.
    """

    min_size: int | Sequence[int]
    max_size: int | None = None
    interpolation: Interpolation = InterpolationMode.BILINEAR
    antialias: bool | None = True
    _lengths: Floats = field(init=False, repr=False, compare=False)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomShortestSize"
        given = self.min_size if isinstance(self.min_size, Sequence) else (self.min_size,)
        lengths = [read_integer(where, "min_size", length, least=1) for length in given]
        if not lengths:
            raise TransformError(f"{where}: min_size is empty. Give at least one length.")
        if self.max_size is not None:
            read_integer(where, "max_size", self.max_size, least=1)
        self._keep(
            _lengths=np.array(lengths, dtype=np.float64),
            _mode=read_interpolation(where, self.interpolation),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Draw the length of each image's shorter side."""
        length = self._lengths[draws.integers(len(self._lengths))]
        ratio = length / np.minimum(sizes.height, sizes.width)
        if self.max_size is not None:
            longest = self.max_size / np.maximum(sizes.height, sizes.width)
            ratio = np.minimum(ratio, longest)
        return (_resize("RandomShortestSize", draws, sizes, ratio, self._mode),)


def _resize(
    where: str, draws: Draws, sizes: Sizes, ratio: Floats, mode: InterpolationMode
) -> ResizeMove:
    """Both sides times `ratio`, cut to whole pixels as torchvision does."""
    height, width = np.floor(sizes.height * ratio), np.floor(sizes.width * ratio)
    bad = (np.minimum(height, width) < 1) | (np.maximum(height, width) > MAX_SIDE_PX)
    if bad.any():
        row = int(bad.argmax())
        raise TransformError(
            f"{where} (step {draws.stream + 1}): sample {draws.sample_at(row)} is {sizes[row]} "
            f"here and would become {height[row]:.0f}x{width[row]:.0f}. Crop it first, or ask for "
            f"another size."
        )
    return ResizeMove(height.astype(np.int64), width.astype(np.int64), mode.pillow_filter)
