"""The matrices of turns and shears: six numbers per sample, as Pillow's Image.transform takes them.

They lead from a place in the result to the place in the source that its pixel comes from. They are
computed in the order of torchvision's F.affine and Pillow's Image.rotate, and with the same
functions of the C library, one number at a time: NumPy's own may differ in the last bit, and a
pixel at the edge of two would then come from the other one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.transforms.torch_draws import get_torch

Centre = tuple[Floats | float, Floats | float]  # x, y


@dataclass(frozen=True, slots=True)
class Rotation:
    """Matrices, sizes after it, and which images it only turns over as a whole."""

    matrix: tuple[Floats, ...]
    sizes: Sizes
    is_nothing: Bools
    is_quarter_turn: Bools  # or half a turn: pixels only change places


def each(function: Callable[[float], float], values: Floats) -> Floats:
    """`function` of the math module for every value."""
    return np.fromiter(map(function, values.tolist()), np.float64, len(values))


def middle(sizes: Sizes) -> Centre:
    """What images turn around unless told otherwise."""
    return sizes.width.astype(np.float64) * 0.5, sizes.height.astype(np.float64) * 0.5


def affine_matrix(
    centre: Centre,
    degrees: Floats,
    translate: tuple[Floats | Ints | float, Floats | Ints | float],
    scale: Floats | float,
    shear_degrees: tuple[Floats, Floats],
) -> tuple[Floats, ...]:
    """Inverse of: shear, scale, turn around `centre`, then move by `translate` (x, y)."""
    turn = each(math.radians, degrees)
    shear_x, shear_y = (each(math.radians, shear) for shear in shear_degrees)
    centre_x, centre_y = centre
    moved_x, moved_y = centre_x + translate[0], centre_y + translate[1]

    cos_shear_y, tan_shear_x = each(math.cos, shear_y), each(math.tan, shear_x)
    a = each(math.cos, turn - shear_y) / cos_shear_y
    b = -(a * tan_shear_x + each(math.sin, turn))
    c = each(math.sin, turn - shear_y) / cos_shear_y
    d = each(math.cos, turn) - c * tan_shear_x

    from_x, from_y = (d / scale, -b / scale), (-c / scale, a / scale)
    offset_x = 0.0 + (centre_x - from_x[0] * moved_x - from_x[1] * moved_y)
    offset_y = 0.0 + (centre_y - from_y[0] * moved_x - from_y[1] * moved_y)
    return *from_x, offset_x, *from_y, offset_y


def rotation(degrees: Floats, sizes: Sizes, centre: Centre | None, *, expand: bool) -> Rotation:
    """Counterclockwise around `centre`, or the middle; `expand` makes room for all of the image."""
    degrees = degrees % 360.0
    x, y = (sizes.width / 2, sizes.height / 2) if centre is None else centre
    cos, sin = _rounded_turn(degrees)
    matrix = _turn(cos, sin, x, y)
    out = sizes
    if expand:
        out = _room(matrix, sizes)
        left, top = -(out.width - sizes.width) / 2.0, -(out.height - sizes.height) / 2.0
        matrix = (*matrix[:2], _x(matrix, left, top), *matrix[3:5], _y(matrix, left, top))

    nothing = np.zeros(len(sizes), dtype=np.bool_)
    if centre is not None:
        return Rotation(matrix, out, nothing, nothing)
    quarters = (degrees == 90) | (degrees == 270)
    quarters &= np.bool_(expand) | (sizes.height == sizes.width)
    swaps = quarters | (degrees == 180)
    exact = _exact_turn(degrees, sizes)
    matrix = tuple(np.where(swaps, *pair) for pair in zip(exact, matrix, strict=True))
    height = np.where(quarters, sizes.width, np.where(degrees % 180 == 0, sizes.height, out.height))
    width = np.where(quarters, sizes.height, np.where(degrees % 180 == 0, sizes.width, out.width))
    return Rotation(matrix, Sizes(height, width), degrees == 0, swaps)


def _rounded_turn(degrees: Floats) -> tuple[Floats, Floats]:
    """Cosine and sine of the opposite angle, to 15 digits as Pillow has them."""
    angle = -each(math.radians, degrees)
    cos = each(lambda value: round(math.cos(value), 15), angle)
    sin = each(lambda value: round(math.sin(value), 15), angle)
    return cos, sin


def _turn(cos: Floats, sin: Floats, x: Floats | float, y: Floats | float) -> tuple[Floats, ...]:
    offset_x = (cos * -x + sin * -y + 0.0) + x
    offset_y = (-sin * -x + cos * -y + 0.0) + y
    return cos, sin, offset_x, -sin, cos, offset_y


def _room(matrix: tuple[Floats, ...], sizes: Sizes) -> Sizes:
    """The smallest whole sizes that hold every corner of the turned image."""
    height, width = sizes.height, sizes.width
    corners = ((0, 0), (width, 0), (width, height), (0, height))
    xs = np.stack([_x(matrix, *corner) for corner in corners])
    ys = np.stack([_y(matrix, *corner) for corner in corners])
    return Sizes(_span(ys), _span(xs))


def _span(places: Floats) -> Ints:
    span: Floats = np.ceil(places.max(axis=0)) - np.floor(places.min(axis=0))
    return span.astype(np.int64)


def _x(matrix: tuple[Floats, ...], x: Floats | Ints | int, y: Floats | Ints | int) -> Floats:
    return matrix[0] * x + matrix[1] * y + matrix[2]


def _y(matrix: tuple[Floats, ...], x: Floats | Ints | int, y: Floats | Ints | int) -> Floats:
    return matrix[3] * x + matrix[4] * y + matrix[5]


def _exact_turn(degrees: Floats, sizes: Sizes) -> tuple[Floats, ...]:
    """Quarter and half turns in whole numbers: every pixel's centre comes from another's."""
    cos = (degrees == 0) * 1.0 - (degrees == 180)
    sin = (degrees == 90) * 1.0 - (degrees == 270)
    offset_x = np.where((cos < 0) | (sin > 0), sizes.width, 0.0)
    offset_y = np.where((cos < 0) | (sin < 0), sizes.height, 0.0)
    return cos, -sin, offset_x, sin, cos, offset_y


def perspective_coefficients(
    start: Sequence[tuple[int, int]], end: Sequence[tuple[int, int]]
) -> list[float]:
    """The eight numbers of the perspective that takes corners (x, y) from `start` to `end`.

    Solved by torch in doubles and rounded to float32, as torchvision does for a single sample.
    """
    torch = get_torch()
    equations, wanted = [], []
    for (own_x, own_y), (x, y) in zip(start, end, strict=True):
        equations.append([x, y, 1, 0, 0, 0, -own_x * x, -own_x * y])
        equations.append([0, 0, 0, x, y, 1, -own_y * x, -own_y * y])
        wanted += [own_x, own_y]
    solved = torch.linalg.lstsq(
        torch.tensor(equations, dtype=torch.float64),
        torch.tensor(wanted, dtype=torch.float64),
        driver="gels",
    )
    coefficients: list[float] = solved.solution.to(torch.float32).tolist()
    return coefficients
