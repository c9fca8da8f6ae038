"""Warps: transforms that turn, shear, tilt or bend an image, so that pixels fall between pixels.

What is drawn becomes numbers as Pillow's Image.transform takes them: see `warp_matrices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from penstock._core import Effect
from penstock.errors import TransformError
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms import functional as F
from penstock.transforms.arguments import (
    Colour,
    Fills,
    Interpolation,
    InterpolationMode,
    Look,
    fill_for,
    mode_name,
    plain_fill,
    read_angles,
    read_centre,
    read_look,
    read_number,
    read_numbers,
    read_pair,
    read_probability,
    read_range,
)
from penstock.transforms.effects import (
    EffectMove,
    effect_where,
    only_where,
    pack_colour,
    same_effect,
    split_key,
)
from penstock.transforms.filter import require_room
from penstock.transforms.inputs import query_size
from penstock.transforms.op import ImageOp, Params
from penstock.transforms.torch_draws import get_torch, integer, uniform
from penstock.transforms.warp_matrices import (
    affine_matrix,
    middle,
    perspective_coefficients,
    rotation,
)

Pair = tuple[float, float]
Corners = tuple[tuple[Ints, Ints], ...]  # x and y of top left, top right, bottom right, bottom left


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
    fill: Fills = 0
    center: Sequence[float] | None = None
    _degrees: Pair = field(init=False, repr=False, compare=False)
    _shares: Pair = field(init=False, repr=False, compare=False)
    _scales: Pair = field(init=False, repr=False, compare=False)
    _shears: tuple[float, ...] = field(init=False, repr=False, compare=False)
    _look: Look = field(init=False, repr=False, compare=False)
    _centre: Pair | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomAffine"
        scale = (1.0, 1.0) if self.scale is None else self.scale
        shear = 0.0 if self.shear is None else self.shear
        self._keep(
            _degrees=read_angles(where, "degrees", self.degrees),
            _shares=_read_shares(self.translate),
            _scales=read_range(where, "scale", scale, above=0),
            _shears=(*read_angles(where, "shear", shear, lengths=(2, 4)), 0.0, 0.0)[:4],
            _look=read_look(where, self.interpolation, plain_fill(where, self.fill)),
            _centre=read_centre(where, self.center),
        )

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw an angle, and of the rest what was asked for."""
        height, width = query_size(flat_inputs)
        angle = uniform(*self._degrees)
        across, down = self._shares[0] * width, self._shares[1] * height
        translate = (0, 0)
        if self.translate is not None:
            translate = (round(uniform(-across, across)), round(uniform(-down, down)))
        scale = 1.0 if self.scale is None else uniform(*self._scales)
        shear_x = 0.0 if self.shear is None else uniform(*self._shears[:2])
        has_second = isinstance(self.shear, Sequence) and len(self.shear) == 4
        shear_y = uniform(*self._shears[2:]) if has_second else 0.0
        return {
            "angle": angle,
            "translate": translate,
            "scale": scale,
            "shear": (shear_x, shear_y),
        }

    def transform(self, inpt: Any, params: Params) -> Any:
        """Warp it."""
        return F.affine(inpt, **params, **_called_look(self, inpt), center=_listed(self._centre))

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
        draws.tell(
            angle=degrees,
            translate_x=translate[0],
            translate_y=translate[1],
            scale=scale,
            shear_x=shears[0],
            shear_y=shears[1],
        )
        centre = middle(sizes) if self._centre is None else self._centre
        matrix = affine_matrix(centre, degrees, translate, scale, shears)
        return (same_effect(Effect.AFFINE, sizes, matrix=matrix, **_parameters(self._look)),)


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
    fill: Fills = 0
    _range: Pair = field(init=False, repr=False, compare=False)
    _centre: Pair | None = field(init=False, repr=False, compare=False)
    _look: Look = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomRotation"
        self._keep(
            _range=read_angles(where, "degrees", self.degrees),
            _centre=read_centre(where, self.center),
            _look=read_look(where, self.interpolation, plain_fill(where, self.fill)),
        )

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the angle."""
        del flat_inputs
        return {"angle": uniform(*self._range)}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Turn it."""
        look = _called_look(self, inpt)
        return F.rotate(inpt, **params, **look, expand=self.expand, center=_listed(self._centre))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One angle for each image."""
        degrees = draws.uniform(*self._range)
        draws.tell(angle=degrees)
        return (rotate(degrees, sizes, self._centre, *self._look, self.expand),)


def rotate(
    degrees: Floats,
    sizes: Sizes,
    centre: Pair | None,
    filter: int | Ints,
    colour: Colour,
    expand: bool = False,
) -> EffectMove:
    """Turn each image by its angle; whole quarters only move pixels, whatever the filter."""
    turned = rotation(degrees, sizes, centre, expand=expand)
    filters = np.where(turned.is_quarter_turn, InterpolationMode.NEAREST.pillow_filter, filter)
    move = same_effect(
        Effect.AFFINE, sizes, matrix=turned.matrix, filter=filters, fill=pack_colour(*colour)
    )
    turns = only_where(~turned.is_nothing, move)
    return EffectMove(turns.effect, turns.numbers, turned.sizes.height, turned.sizes.width)


@dataclass(frozen=True, slots=True, repr=False)
class RandomPerspective(ImageOp):
    """With probability `p`, move each corner inwards by up to half of `distortion_scale`.

    `fill` is the colour of what lies outside. Corners that fall on one line, as they must in an
    image one pixel wide, leave the image as it is.
    """

    distortion_scale: float = 0.5
    p: float = 0.5
    interpolation: Interpolation = InterpolationMode.BILINEAR
    fill: Fills = 0
    has_chance: ClassVar[bool] = True
    _look: Look = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomPerspective"
        read_number(where, "distortion_scale", self.distortion_scale, least=0, most=1)
        read_probability(where, self.p)
        self._keep(_look=read_look(where, self.interpolation, plain_fill(where, self.fill)))

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw where the corners go."""
        height, width = query_size(flat_inputs)
        reach_x = int(self.distortion_scale * (width // 2)) + 1
        reach_y = int(self.distortion_scale * (height // 2)) + 1
        near_x, near_y = (0, reach_x), (0, reach_y)
        far_x, far_y = (width - reach_x, width), (height - reach_y, height)
        ranges = ((near_x, near_y), (far_x, near_y), (far_x, far_y), (near_x, far_y))
        corners = [(integer(*across), integer(*down)) for across, down in ranges]
        own = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
        return {"coefficients": perspective_coefficients(own, corners)}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Warp it."""
        return F.perspective(inpt, None, None, **params, **_called_look(self, inpt))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """A decision and four corners for each image."""
        draws.reserve(9)
        chosen = draws.uniform() < self.p
        corners = self._draw_corners(draws, sizes)
        chosen &= ~_any_three_on_a_line(corners)
        coefficients = np.zeros((len(sizes), 8))
        rows = np.flatnonzero(chosen)
        coefficients[rows] = _solve(corners, sizes, rows)
        if draws.listens:
            draws.tell(rows, corners=np.array(corners).transpose(2, 0, 1)[rows])
        look = _parameters(self._look)
        return (effect_where(chosen, Effect.PERSPECTIVE, sizes, matrix=coefficients, **look),)

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


@dataclass(frozen=True, slots=True, repr=False)
class ElasticTransform(ImageOp):
    """Move every pixel by a random amount that changes smoothly from place to place.

    Uniform noise is blurred with `sigma` and multiplied by `alpha`, each a number of pixels or
    (across, down); `fill` is the colour of what lies outside.
    """

    alpha: float | Sequence[float] = 50.0
    sigma: float | Sequence[float] = 5.0
    interpolation: Interpolation = InterpolationMode.BILINEAR
    fill: Fills = 0
    _alphas: Pair = field(init=False, repr=False, compare=False)
    _sigmas: Pair = field(init=False, repr=False, compare=False)
    _look: Look = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "ElasticTransform"
        self._keep(
            _alphas=read_pair(where, "alpha", self.alpha),
            _sigmas=read_pair(where, "sigma", self.sigma, least=0),
            _look=read_look(where, self.interpolation, plain_fill(where, self.fill)),
        )
        if 0 in self._sigmas and any(self._sigmas):
            raise TransformError(
                f"{where}: sigma must be 0 in both directions or in neither, got {self.sigma!r}."
            )

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the displacement of every pixel, as a share of the image's sides."""
        height, width = query_size(flat_inputs)
        torch = get_torch()
        shares = []
        for alpha, sigma, side in zip(self._alphas, self._sigmas, (width, height), strict=True):
            noise = torch.rand(1, 1, height, width) * 2 - 1
            if sigma > 0:
                kernel = elastic_kernel_px(sigma)
                noise = F.gaussian_blur(noise, [kernel, kernel], list(self._sigmas))
            shares.append(noise * alpha / side)
        return {"displacement": torch.concat(shares, 1).permute([0, 2, 3, 1])}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Bend it."""
        return F.elastic(inpt, **params, **_called_look(self, inpt))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """A key for each image; the displacements are made from it, pixel by pixel, later."""
        kernel = max(elastic_kernel_px(sigma) for sigma in self._sigmas)
        require_room("ElasticTransform", kernel, kernel, draws, sizes)
        return (
            same_effect(
                Effect.ELASTIC,
                sizes,
                alpha_across=self._alphas[0],
                alpha_down=self._alphas[1],
                sigma_across=self._sigmas[0],
                sigma_down=self._sigmas[1],
                key=split_key(draws.bits()[0]),
                **_parameters(self._look),
            ),
        )


def elastic_kernel_px(sigma: float) -> int:
    """Width of the kernel that blurs displacements; 1 leaves them alone."""
    return int(8 * sigma + 1) | 1


def _called_look(transform: Any, inpt: Any) -> dict[str, Any]:
    """What functions on images take of a transform's look."""
    interpolation = mode_name(transform.interpolation)
    return {"interpolation": interpolation, "fill": fill_for(transform.fill, inpt)}


def _listed(centre: Pair | None) -> list[float] | None:
    return None if centre is None else list(centre)


def _parameters(look: Look) -> dict[str, int]:
    """What all warps take of a look."""
    return {"filter": look.filter, "fill": pack_colour(*look.colour)}
