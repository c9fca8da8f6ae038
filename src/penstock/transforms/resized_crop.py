"""A random box, resized: how most image classifiers are trained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Bools, Floats, Size, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import read_range, read_size
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_interpolation,
)
from penstock.transforms.moves import CropMove, ResizeMove, repeat
from penstock.transforms.op import ImageOp

_TRIES = 10


@dataclass(frozen=True, slots=True, repr=False)
class RandomResizedCrop(ImageOp):
    """Keep a random box and resize it to `size`, exactly as Pillow does.

    The box covers a share of the image drawn from `scale`, with width / height drawn from `ratio`
    (evenly on a logarithmic scale). If ten draws do not fit the image, the largest central box
    within `ratio` is kept. `antialias` is taken for torchvision's sake: Pillow always smooths when
    it shrinks.
    """

    size: int | Sequence[int]
    scale: Sequence[float] = (0.08, 1.0)
    ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: Interpolation = InterpolationMode.BILINEAR
    antialias: bool | None = True
    _out: Size = field(init=False, repr=False, compare=False)
    _shares: tuple[float, float] = field(init=False, repr=False, compare=False)
    _ratios: tuple[float, float] = field(init=False, repr=False, compare=False)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomResizedCrop"
        self._keep(
            _out=Size(*read_size(where, self.size)),
            _shares=read_range(where, "scale", self.scale),
            _ratios=read_range(where, "ratio", self.ratio),
            _mode=read_interpolation(where, self.interpolation),
        )
        if self._shares[0] < 0:
            raise TransformError(f"{where}: scale must not be negative, got {self.scale!r}.")
        if self._ratios[0] <= 0:
            raise TransformError(f"{where}: ratio must be greater than 0, got {self.ratio!r}.")

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[CropMove, ResizeMove]:
        """Draw ten boxes and a place at once; each image takes the first box that fits."""
        draws.reserve(2 * _TRIES + 2)
        heights, widths = self._draw_tries(draws, sizes)
        fits = (heights > 0) & (heights <= sizes.height) & (widths > 0) & (widths <= sizes.width)
        first = fits.argmax(axis=0)
        rows = np.arange(len(sizes))
        found = fits[first, rows]
        central = self._central_box(draws, sizes, found)
        height = np.where(found, heights[first, rows], central.height).astype(np.int64)
        width = np.where(found, widths[first, rows], central.width).astype(np.int64)
        spare_height, spare_width = sizes.height - height, sizes.width - width
        top = np.where(found, draws.integers(spare_height + 1), spare_height // 2)
        left = np.where(found, draws.integers(spare_width + 1), spare_width // 2)
        return (
            CropMove(top, left, height, width),
            ResizeMove(
                repeat(self._out.height, sizes),
                repeat(self._out.width, sizes),
                self._mode.pillow_filter,
            ),
        )

    def _draw_tries(self, draws: Draws, sizes: Sizes) -> tuple[Floats, Floats]:
        """Heights and widths, whole numbers of pixels, of every try: (tries, samples)."""
        drawn = draws.units(2 * _TRIES)
        smallest, largest = self._shares
        area = sizes.height * sizes.width * (smallest + (largest - smallest) * drawn[0::2])
        narrowest, widest = math.log(self._ratios[0]), math.log(self._ratios[1])
        ratio = np.exp(narrowest + (widest - narrowest) * drawn[1::2])
        return np.rint(np.sqrt(area / ratio)), np.rint(np.sqrt(area * ratio))

    def _central_box(self, draws: Draws, sizes: Sizes, found: Bools) -> Sizes:
        """The largest box within `ratio`, for the samples without a try that fits."""
        if found.all():
            return sizes
        narrowest, widest = self._ratios
        ratio = sizes.width / sizes.height
        too_narrow, too_wide = ratio < narrowest, ratio > widest
        height = np.where(too_narrow, np.rint(sizes.width / narrowest), sizes.height)
        width = np.where(too_wide, np.rint(sizes.height * widest), sizes.width)
        central = Sizes(height.astype(np.int64), width.astype(np.int64))
        empty = ~found & ((central.height < 1) | (central.width < 1))
        if empty.any():
            row = int(empty.argmax())
            raise TransformError(
                f"RandomResizedCrop (step {draws.stream + 1}): no box with ratio {self.ratio!r} "
                f"fits sample {draws.sample_at(row)}, which is {sizes[row]} here. Widen ratio."
            )
        return central
