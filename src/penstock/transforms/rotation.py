"""Turning by a random angle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.geometry import Floats, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import Colour, Fill, read_angles, read_centre, read_fill
from penstock.transforms.effects import Effect, EffectMove, only_where, pack_colour, same_effect
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_warp_interpolation,
)
from penstock.transforms.op import ImageOp
from penstock.transforms.warp_matrices import rotation


@dataclass(frozen=True, slots=True, repr=False)
class RandomRotation(ImageOp):
    """Turn counterclockwise by an angle from `degrees`: (min, max), or a number for both sides.

    `expand` enlarges the image so that all of it stays in view; `center` is (x, y), in pixels from
    the upper left corner; `fill` is the colour of what lies outside.
    """

    degrees: float | Sequence[float]
    interpolation: Interpolation = InterpolationMode.NEAREST
    expand: bool = False
    center: Sequence[float] | None = None
    fill: Fill = 0
    _range: tuple[float, float] = field(init=False, repr=False, compare=False)
    _filter: int = field(init=False, repr=False, compare=False)
    _centre: tuple[float, float] | None = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomRotation"
        self._keep(
            _range=read_angles(where, "degrees", self.degrees),
            _filter=read_warp_interpolation(where, self.interpolation),
            _centre=read_centre(where, self.center),
            _colour=read_fill(where, self.fill),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One angle for each image."""
        degrees = draws.uniform(*self._range)
        return (rotate(degrees, sizes, self._centre, self._filter, self._colour, self.expand),)


def rotate(
    degrees: Floats,
    sizes: Sizes,
    centre: tuple[float, float] | None,
    filter: int | Ints,
    colour: Colour,
    expand: bool = False,
) -> EffectMove:
    """Turn each image by its angle; whole quarters only move pixels, whatever the filter."""
    turned = rotation(degrees, sizes, centre, expand=expand)
    filters = np.where(turned.is_quarter_turn, InterpolationMode.NEAREST.pillow_filter, filter)
    move = same_effect(Effect.AFFINE, sizes, *turned.matrix, filters, pack_colour(*colour))
    turns = only_where(~turned.is_nothing, move)
    return EffectMove(turns.effect, turns.numbers, turned.sizes.height, turned.sizes.width)
