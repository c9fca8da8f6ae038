"""Turning, moving, scaling and shearing at random, in one warp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    Colour,
    Fill,
    read_angles,
    read_centre,
    read_fill,
    read_numbers,
    read_range,
)
from penstock.transforms.effects import Effect, EffectMove, pack_colour, same_effect
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_warp_interpolation,
)
from penstock.transforms.op import ImageOp
from penstock.transforms.warp_matrices import affine_matrix, middle

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True, repr=False)
class RandomAffine(ImageOp):
    """Turn, move, scale and shear an image around its middle or `center` (x, y), at random.

    `degrees` is (min, max) or a number for both sides; `translate` the largest move (across, down)
    as shares of width and height; `scale` (min, max); `shear` degrees along x, or (min, max), or
    (min, max) along x and along y; `fill` the colour of what lies outside.
    """

    degrees: float | Sequence[float]
    translate: Sequence[float] | None = None
    scale: Sequence[float] | None = None
    shear: float | Sequence[float] | None = None
    interpolation: Interpolation = InterpolationMode.NEAREST
    fill: Fill = 0
    center: Sequence[float] | None = None
    _degrees: Pair = field(init=False, repr=False, compare=False)
    _shares: Pair = field(init=False, repr=False, compare=False)
    _scales: Pair = field(init=False, repr=False, compare=False)
    _shears: tuple[float, ...] = field(init=False, repr=False, compare=False)
    _filter: int = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)
    _centre: Pair | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomAffine"
        scales = (1.0, 1.0) if self.scale is None else read_range(where, "scale", self.scale)
        if scales[0] <= 0:
            raise TransformError(f"{where}: scale must be greater than 0, got {self.scale!r}.")
        shear = 0.0 if self.shear is None else self.shear
        self._keep(
            _degrees=read_angles(where, "degrees", self.degrees),
            _shares=_read_shares(self.translate),
            _scales=scales,
            _shears=(*read_angles(where, "shear", shear, lengths=(2, 4)), 0.0, 0.0)[:4],
            _filter=read_warp_interpolation(where, self.interpolation),
            _colour=read_fill(where, self.fill),
            _centre=read_centre(where, self.center),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """Six numbers for each image, drawn whether they are used or not."""
        draws.reserve(6)
        degrees = draws.uniform(*self._degrees)
        across, down = self._shares
        translate = (
            np.rint(across * sizes.width * draws.uniform(-1, 1)),
            np.rint(down * sizes.height * draws.uniform(-1, 1)),
        )
        scale = draws.uniform(*self._scales)
        shears = draws.uniform(*self._shears[:2]), draws.uniform(*self._shears[2:])
        centre = middle(sizes) if self._centre is None else self._centre
        matrix = affine_matrix(centre, degrees, translate, scale, shears)
        colour = pack_colour(*self._colour)
        return (same_effect(Effect.AFFINE, sizes, *matrix, self._filter, colour),)


def _read_shares(given: Sequence[float] | None) -> Pair:
    if given is None:
        return 0.0, 0.0
    shares = read_numbers("RandomAffine", "translate", given)
    if len(shares) != 2 or not all(0 <= share <= 1 for share in shares):
        raise TransformError(
            f"RandomAffine: translate must be two numbers (across, down) between 0 and 1, "
            f"got {given!r}."
        )
    return shares[0], shares[1]
