"""The numbers of warps, one image at a time: affine matrices and perspectives.

The order of the operations is torchvision's, since the last bit of a matrix can decide which of
two pixels is taken. Loaders compute the same for whole batches, in `warp_matrices`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import solve_perspective as solve_whole_corners
from penstock.errors import LossyError, TransformError
from penstock.transforms.functional.arguments import Coefficients, Points

Pair = Sequence[float]
Matrix = list[float]  # six numbers: two rows of x, y and a constant
NO_MOVE = (0.0, 0.0)


def affine_matrix(centre: Pair, angle: float, translate: Pair, scale: float, shear: Pair) -> Matrix:
    """From a place in the result to the one in the image that its pixel comes from."""
    a, b, c, d = _turn_and_shear(angle, shear)
    centre_x, centre_y = centre
    moved_x, moved_y = centre_x + translate[0], centre_y + translate[1]
    x_by_x, x_by_y = d / scale, -b / scale
    y_by_x, y_by_y = -c / scale, a / scale
    offset_x = 0.0 + (centre_x - x_by_x * moved_x - x_by_y * moved_y)
    offset_y = 0.0 + (centre_y - y_by_x * moved_x - y_by_y * moved_y)
    return [x_by_x, x_by_y, offset_x, y_by_x, y_by_y, offset_y]


def forward_matrix(
    centre: Pair, angle: float, translate: Pair, scale: float, shear: Pair
) -> Matrix:
    """From a place in the image to the one in the result, for boxes and keypoints."""
    a, b, c, d = (number * scale for number in _turn_and_shear(angle, shear))
    centre_x, centre_y = centre
    offset_x = 0.0 + (centre_x + translate[0] - a * centre_x - b * centre_y)
    offset_y = 0.0 + (centre_y + translate[1] - c * centre_x - d * centre_y)
    return [a, b, offset_x, c, d, offset_y]


def _turn_and_shear(angle: float, shear: Pair) -> tuple[float, float, float, float]:
    turn, shear_x, shear_y = map(math.radians, (angle, shear[0], shear[1]))
    cos_shear_y, tan_shear_x = math.cos(shear_y), math.tan(shear_x)
    a = math.cos(turn - shear_y) / cos_shear_y
    b = -(a * tan_shear_x + math.sin(turn))
    c = math.sin(turn - shear_y) / cos_shear_y
    d = math.cos(turn) - c * tan_shear_x
    return a, b, c, d


def perspective_coefficients(
    startpoints: Points, endpoints: Points, coefficients: Coefficients
) -> Sequence[float]:
    """The eight numbers of a perspective, given as such or by where four corners go."""
    if coefficients is not None:
        if startpoints is not None and endpoints is not None:
            raise TransformError(
                "The startpoints/endpoints and the coefficients shouldn't be defined concurrently."
            )
        if len(coefficients) != 8:
            raise TransformError(
                f"Argument coefficients should have 8 float values, got {len(coefficients)}."
            )
        return coefficients
    if startpoints is None or endpoints is None:
        raise TransformError(
            "Either the startpoints/endpoints or the coefficients must have non `None` values."
        )
    return solve_perspective(startpoints, endpoints)


def solve_perspective(
    startpoints: Sequence[Sequence[int]], endpoints: Sequence[Sequence[int]]
) -> list[float]:
    """Solve for the numbers that lead from `endpoints` back to `startpoints`.

    Solved in doubles and rounded to float32. Where the last bit may depend on the solver, torch's
    is asked, if it is installed: that is the one that torchvision asks.
    """
    numbers: Any = solve_whole_corners(startpoints, endpoints)
    solved: list[float] | None = numbers
    return _solve_corners(startpoints, endpoints) if solved is None else solved


def _solve_corners(
    startpoints: Sequence[Sequence[int]], endpoints: Sequence[Sequence[int]]
) -> list[float]:
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise TransformError(
            f"Please provide exactly four corners, got {len(startpoints)} startpoints and "
            f"{len(endpoints)} endpoints."
        )
    single = _default_float()
    equations = np.empty((8, 8))
    for corner, ((x, y), (to_x, to_y)) in enumerate(zip(endpoints, startpoints, strict=True)):
        rows = (
            (x, y, 1, 0, 0, 0, -to_x * x, -to_x * y),
            (0, 0, 0, x, y, 1, -to_y * x, -to_y * y),
        )
        for line, row in enumerate(rows, start=2 * corner):
            # torchvision makes a tensor of each row: fractions become float32 by that.
            has_fractions = any(isinstance(number, float) for number in row)
            equations[line] = np.array(row, single) if has_fractions else row
    wanted = np.array(startpoints, dtype=np.float64).reshape(8)
    return _solve(equations, wanted)


def _default_float() -> npt.DTypeLike:
    torch: Any = sys.modules.get("torch")
    doubles = torch is not None and torch.get_default_dtype() == torch.float64
    return np.float64 if doubles else np.float32


def _solve(equations: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> list[float]:
    solution: Any
    try:
        torch: Any = import_module("torch")
    except ImportError:
        solution = np.linalg.solve(equations, wanted).astype(np.float32)
    else:
        sides = torch.from_numpy(equations), torch.from_numpy(wanted)
        solution = torch.linalg.lstsq(*sides, driver="gels").solution.to(torch.float32)
    numbers: list[float] = solution.tolist()
    return numbers


def invert_perspective(coefficients: Sequence[float], what: str) -> list[float]:
    """The numbers that lead from the image to the result, for boxes and keypoints (`what`)."""
    a, b, c, d, e, f, g, h = coefficients
    denominator = a * e - b * d
    if denominator == 0:
        raise LossyError(
            f"Provided perspective_coeffs {list(coefficients)} can not be inverted to transform "
            f"{what}. Denominator is zero, denom={denominator}"
        )
    numerators = (
        e - f * h,
        -b + c * h,
        b * f - c * e,
        -d + f * g,
        a - c * g,
        -a * f + c * d,
        -e * g + d * h,
        -a * h + b * g,
    )
    return [numerator / denominator for numerator in numerators]
