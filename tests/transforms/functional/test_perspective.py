"""The numbers of a perspective are those of torch's solver, also where the core finds them."""

import numpy as np
import pytest

from penstock._core import solve_perspective as solve_in_core
from penstock.transforms.functional.matrices import _solve_corners, solve_perspective

torch = pytest.importorskip("torch")


def random_corners(rng):
    """As RandomPerspective draws them."""
    height, width = rng.integers(2, 900, 2).tolist()
    far = rng.choice([0.1, 0.5, 0.9])
    across, down = int(far * (width // 2)), int(far * (height // 2))
    moves = [(rng.integers(0, across + 1), rng.integers(0, down + 1)) for _ in range(4)]
    corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
    signs = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    moved = [
        [int(x + a * to_x), int(y + b * to_y)]
        for (x, y), (a, b), (to_x, to_y) in zip(corners, signs, moves, strict=True)
    ]
    return corners, moved


def test_the_core_rounds_as_torchs_solver_does():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(2000):
        corners = random_corners(rng)
        numbers = solve_in_core(*corners)
        if numbers is not None:
            found += 1
            assert list(numbers) == _solve_corners(*corners), corners
    assert found > 1500, "most of them"


@pytest.mark.parametrize(
    "corners",
    [
        ([[0, 0], [9, 0], [9, 9], [0, 9]],) * 2,  # numbers that are 0, or nearly so by torch
        ([[0, 0], [9, 0], [9, 9], [0, 9]], [[0, 0], [9, 0], [9, 9], [0, 8.5]]),
        ([[0, 0], [9, 0], [9, 9], [0, 9]], [[0, 0], [9, 0], [9, 9], [0, 1 << 40]]),
        ([[0, 0], [9, 0], [9, 9], [0, 9]], [[1, 1], [1, 1], [7, 5], [2, 8]]),
        ([[0, 0], [9, 0], [9, 9], [0, True]], [[0, 1], [9, 0], [8, 9], [0, 9]]),
        ([[0, 0], [9, 0], [9, 9], [0]], [[0, 1], [9, 0], [8, 9], [0, 9]]),
        ([[0, 0], [9, 0], [9, 9]], [[0, 1], [9, 0], [8, 9], [0, 9]]),
    ],
    ids=["unmoved", "fractions", "far", "two in one place", "no number", "half a corner", "three"],
)
def test_what_depends_on_the_solver_is_left_to_it(corners):
    assert solve_in_core(*corners) is None


def test_corners_may_be_tuples():
    corners, moved = random_corners(np.random.default_rng(1))
    as_tuples = tuple(map(tuple, corners)), tuple(map(tuple, moved))

    assert list(solve_perspective(*as_tuples)) == list(solve_perspective(corners, moved))
