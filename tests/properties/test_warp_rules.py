"""A window of a warp, made of a part of its source, has the bytes of the whole warp.

Moves are made here and not drawn by transforms, so that they have any matrix, NaN and infinity
included, and batches in which every sample has another effect.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from native import run_natively
from penstock._core import Effect, PadMode, warp_sources
from penstock.errors import CoreError
from penstock.geometry import Sizes
from penstock.planner.draft import Draft, Stage, verify
from penstock.planner.rules import of_fidelity
from penstock.planner.rules.rule import Fidelity, rewrite_moves
from penstock.reference.pipeline import run_moves
from penstock.transforms.effects import EffectMove, no_numbers, write_parameters
from penstock.transforms.moves import CropMove, FlipMove, PadMove, ResizeMove
from strategies import make_image

EXACT = of_fidelity(Fidelity.EXACT)
HOSTILE = (0.0, -0.0, math.nan, math.inf, -math.inf, 1e300, 5e-324, 2.0**31, 32768.0, 1e5, 1e-5)
KINDS = ("warp", "warp", "crop", "crop", "flip", "pad", "resize")
plans = st.lists(st.sampled_from(KINDS), min_size=2, max_size=6).map(lambda kinds: [*kinds, "crop"])
seeds = st.integers(0, 2**32)


def make_matrix(rng, sizes, row, count):
    """A turn about the middle with scale and shear; now and then anything at all."""
    angle, scale = rng.choice([0, 90, 180, rng.uniform(-180, 180)]), rng.uniform(0.4, 2)
    cos, sin = scale * math.cos(math.radians(angle)), scale * math.sin(math.radians(angle))
    x, y = sizes.width[row] / 2 + rng.integers(-5, 6), sizes.height[row] / 2
    matrix = [cos, sin, x - cos * x - sin * y, -sin, cos, y + sin * x - cos * y]
    matrix += list(rng.normal(0, 0.02, 2) * rng.integers(0, 2))
    if rng.integers(3) == 0:  # a shear, or a shift by a fraction
        matrix[:6] = [1, rng.choice([0, 0.3]), rng.uniform(-9, 9), rng.choice([0, 0.2]), 1, 0]
    if rng.integers(4) == 0:
        matrix[rng.integers(8)] = rng.choice(HOSTILE)
    return matrix[:count]


def make_warp(rng, sizes):
    """One effect for each sample, mostly warps, some to another size."""
    warps, others = [Effect.AFFINE, Effect.PERSPECTIVE], [Effect.NONE, Effect.INVERT]
    kinds = rng.choice([*warps, *warps, *others, Effect.CONTRAST], len(sizes))
    numbers, height, width = no_numbers(len(sizes)), sizes.height.copy(), sizes.width.copy()
    for row, number in enumerate(kinds):
        kind = Effect(int(number))
        if kind == Effect.CONTRAST:
            write_parameters(kind, numbers[row], factor=rng.uniform(0, 2))
        if kind not in {Effect.AFFINE, Effect.PERSPECTIVE}:
            continue
        matrix = make_matrix(rng, sizes, row, 6 if kind == Effect.AFFINE else 8)
        fill = int(rng.integers(1 << 24))
        write_parameters(
            kind, numbers[row], matrix=matrix, filter=int(rng.choice([0, 2, 3])), fill=fill
        )
        if rng.integers(2):
            height[row], width[row] = rng.integers(1, 60, 2)
    return EffectMove(kinds.astype(np.int64), numbers, height, width)


def make_move(rng, kind, sizes):
    match kind:
        case "warp":
            return make_warp(rng, sizes)
        case "crop":
            top, left = rng.integers(0, sizes.height), rng.integers(0, sizes.width)
            height = rng.integers(1, sizes.height - top + 1)
            return CropMove(top, left, height, rng.integers(1, sizes.width - left + 1))
        case "flip":
            horizontal, vertical = rng.integers(0, 2, (2, len(sizes))).astype(bool)
            return FlipMove(horizontal, vertical)
        case "pad":
            borders = rng.integers(0, 9, (4, len(sizes)))
            mode = PadMode(int(rng.choice([PadMode.CONSTANT, PadMode.EDGE])))
            return PadMove(*borders, mode, (1, 2, 3))
    height, width = rng.integers(1, 40, (2, len(sizes)))
    return ResizeMove(height, width, 2)


def make_moves(kinds, seed):
    rng = np.random.default_rng(seed)
    sizes = now = Sizes(*rng.integers(1, 50, (2, rng.integers(1, 5))))
    moves = []
    for kind in kinds:
        moves.append(make_move(rng, kind, now))
        now = moves[-1].out_sizes(now)
    return sizes, moves


@settings(max_examples=300, deadline=None)
@given(kinds=plans, seed=seeds)
def test_windows_have_the_bytes_of_the_whole(kinds, seed):
    """In the reference and in the core, whatever stands before and behind the warps."""
    sizes, moves = make_moves(kinds, seed)
    planned = rewrite_moves(moves, sizes, EXACT)
    images = [make_image((sizes[row].height, sizes[row].width), row) for row in range(len(sizes))]

    for row, image in enumerate(images):
        expected = np.asarray(run_moves(image, moves, row))
        np.testing.assert_array_equal(np.asarray(run_moves(image, planned, row)), expected)
    pixels = [np.asarray(image) for image in images]
    natives = (run_natively(pixels, version) for version in (moves, planned))
    for as_written, as_planned in zip(*natives, strict=True):
        np.testing.assert_array_equal(as_planned, as_written)


@settings(max_examples=200, deadline=None)
@given(kinds=plans, seed=seeds)
def test_no_rule_stumbles_over_any_numbers(kinds, seed):
    """Fast rules too leave moves that fit each other."""
    sizes, moves = make_moves([*kinds, "resize"], seed)
    planned = rewrite_moves(moves, sizes, [*EXACT, *of_fidelity(Fidelity.FAST)])
    written, after = (
        Draft(tuple(Stage(move, frozenset()) for move in version), sizes)
        for version in (moves, planned)
    )
    verify(after, written)


def one_warp(matrix, sizes, filter=2):
    kind = Effect.AFFINE if len(matrix) == 6 else Effect.PERSPECTIVE
    numbers = no_numbers(len(sizes))
    write_parameters(kind, numbers, matrix=np.array(matrix), filter=filter, fill=0)
    return EffectMove(np.full(len(sizes), kind), numbers, sizes.height, sizes.width)


def crop_to(top, left, height, width):
    return CropMove(*(np.array([value]) for value in (top, left, height, width)))


def test_the_crop_comes_to_the_front():
    """Two crops behind a warp of a padded and mirrored image: one before it, none behind."""
    sizes = Sizes(np.array([1000]), np.array([2000]))
    padded = Sizes(np.array([1002]), np.array([2002]))
    borders = [np.array([1])] * 4
    moves = [
        FlipMove(np.array([True]), np.array([False])),
        PadMove(*borders, PadMode.CONSTANT, (0, 0, 0)),
        one_warp((1, 0.1, 0, -0.1, 1, 200), padded),
        crop_to(100, 1000, 500, 500),
        crop_to(50, 60, 100, 120),
    ]
    planned = rewrite_moves(moves, sizes, EXACT)

    crop, *_, warp = planned
    assert isinstance(crop, CropMove)
    assert isinstance(warp, EffectMove)
    assert (warp.height[0], warp.width[0]) == (100, 120)
    assert crop.height[0] < 130
    assert crop.width[0] < 150


def test_a_window_of_nothing_but_fill_needs_one_pixel():
    sizes = Sizes(np.array([30]), np.array([40]))
    planned = rewrite_moves(
        [one_warp((1, 0, 1000, 0, 1, 0), sizes), crop_to(0, 0, 1, 1)], sizes, EXACT
    )
    assert (planned[0].width[0], planned[1].width[0]) == (1, 1)


def test_arguments_of_warp_sources_are_checked():
    matrices = np.zeros((1, 8))
    windows = np.array([[0, 0, 1, 1]])
    with pytest.raises(CoreError, match="1 matrices, 1 windows and 2 sizes"):
        warp_sources(matrices, windows, np.ones((2, 2), np.int64))
    with pytest.raises(CoreError, match="window of warp 0 is out of range"):
        warp_sources(matrices, windows - 1, np.ones((1, 2), np.int64))
    with pytest.raises(CoreError, match="sides must be 1 to"):
        warp_sources(matrices, windows, np.zeros((1, 2), np.int64))
