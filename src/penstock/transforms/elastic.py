"""Bending an image as if it were rubber."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import Colour, Fill, read_fill, read_pair
from penstock.transforms.blur import require_room
from penstock.transforms.effects import Effect, EffectMove, pack_colour, same_effect, split_key
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_warp_interpolation,
)
from penstock.transforms.op import ImageOp

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True, repr=False)
class ElasticTransform(ImageOp):
    """Move every pixel by a random amount that changes smoothly from place to place.

    Uniform noise is blurred with `sigma` and multiplied by `alpha`, each a number of pixels or
    (across, down); `fill` is the colour of what lies outside.
    """

    alpha: float | Sequence[float] = 50.0
    sigma: float | Sequence[float] = 5.0
    interpolation: Interpolation = InterpolationMode.BILINEAR
    fill: Fill = 0
    _alphas: Pair = field(init=False, repr=False, compare=False)
    _sigmas: Pair = field(init=False, repr=False, compare=False)
    _filter: int = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "ElasticTransform"
        self._keep(
            _alphas=read_pair(where, "alpha", self.alpha),
            _sigmas=read_pair(where, "sigma", self.sigma, least=0),
            _filter=read_warp_interpolation(where, self.interpolation),
            _colour=read_fill(where, self.fill),
        )
        if 0 in self._sigmas and any(self._sigmas):
            raise TransformError(
                f"{where}: sigma must be 0 in both directions or in neither, got {self.sigma!r}."
            )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """A key for each image; the displacements are made from it, pixel by pixel, later."""
        kernel = max(elastic_kernel_px(sigma) for sigma in self._sigmas)
        require_room("ElasticTransform", kernel, kernel, draws, sizes)
        key = split_key(draws.bits()[0])
        colour = pack_colour(*self._colour)
        numbers = (*self._alphas, *self._sigmas, self._filter, colour, *key)
        return (same_effect(Effect.ELASTIC, sizes, *numbers),)


def elastic_kernel_px(sigma: float) -> int:
    """Width of the kernel that blurs displacements; 1 leaves them alone."""
    return int(8 * sigma + 1) | 1
