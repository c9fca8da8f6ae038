"""Looking at an image from a random side."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    Colour,
    Fill,
    read_fill,
    read_number,
    read_probability,
)
from penstock.transforms.effects import Effect, EffectMove, effect_where, pack_colour
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_warp_interpolation,
)
from penstock.transforms.op import ImageOp

Corners = tuple[tuple[Ints, Ints], ...]  # x and y of top left, top right, bottom right, bottom left


@dataclass(frozen=True, slots=True, repr=False)
class RandomPerspective(ImageOp):
    """With probability `p`, move each corner inwards by up to half of `distortion_scale`.

    `fill` is the colour of what lies outside. Corners that fall on one line, as they must in an
    image one pixel wide, leave the image as it is.
    """

    distortion_scale: float = 0.5
    p: float = 0.5
    interpolation: Interpolation = InterpolationMode.BILINEAR
    fill: Fill = 0
    _filter: int = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomPerspective"
        read_number(where, "distortion_scale", self.distortion_scale, least=0, most=1)
        read_probability(where, self.p)
        self._keep(
            _filter=read_warp_interpolation(where, self.interpolation),
            _colour=read_fill(where, self.fill),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """A decision and four corners for each image."""
        draws.reserve(9)
        chosen = draws.uniform() < self.p
        corners = self._draw_corners(draws, sizes)
        chosen &= ~_any_three_on_a_line(corners)
        coefficients = np.zeros((len(sizes), 8))
        rows = np.flatnonzero(chosen)
        coefficients[rows] = _solve(corners, sizes, rows)
        colour = pack_colour(*self._colour)
        return (
            effect_where(chosen, Effect.PERSPECTIVE, sizes, *coefficients.T, self._filter, colour),
        )

    def _draw_corners(self, draws: Draws, sizes: Sizes) -> Corners:
        reach_x = (self.distortion_scale * (sizes.width // 2)).astype(np.int64) + 1
        reach_y = (self.distortion_scale * (sizes.height // 2)).astype(np.int64) + 1
        right, bottom = sizes.width - reach_x, sizes.height - reach_y
        corners = []
        for left_or_right, top_or_bottom in ((0, 0), (right, 0), (right, bottom), (0, bottom)):
            x = left_or_right + draws.integers(reach_x)
            y = top_or_bottom + draws.integers(reach_y)
            corners.append((x, y))
        return tuple(corners)


def _any_three_on_a_line(corners: Corners) -> Bools:
    found = np.zeros(len(corners[0][0]), dtype=np.bool_)
    for left_out in range(4):
        (x0, y0), (x1, y1), (x2, y2) = (corners[i] for i in range(4) if i != left_out)
        found |= (x1 - x0) * (y2 - y0) == (x2 - x0) * (y1 - y0)
    return found


def _solve(corners: Corners, sizes: Sizes, rows: Ints) -> Floats:
    """The eight numbers that take the drawn corners to the image's own: (rows, 8).

    Solved in doubles and rounded to float32, as in torchvision.
    """
    last_x, last_y = sizes.width[rows] - 1, sizes.height[rows] - 1
    nothing = np.zeros_like(last_x)
    own = ((nothing, nothing), (last_x, nothing), (last_x, last_y), (nothing, last_y))
    equations = np.zeros((len(rows), 8, 8))
    wanted = np.empty((len(rows), 8, 1))
    for corner, ((all_x, all_y), (own_x, own_y)) in enumerate(zip(corners, own, strict=True)):
        x, y = all_x[rows], all_y[rows]
        one = np.ones_like(x)
        for line, to, columns in ((2 * corner, own_x, 0), (2 * corner + 1, own_y, 3)):
            equations[:, line, columns : columns + 3] = np.stack([x, y, one], axis=1)
            equations[:, line, 6:] = np.stack([-to * x, -to * y], axis=1)
            wanted[:, line, 0] = to
    solved = np.linalg.solve(equations, wanted)[:, :, 0]
    return solved.astype(np.float32).astype(np.float64)
