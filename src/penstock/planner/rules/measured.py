"""Contrast around a mean that is taken from a small version of the image.

Contrast needs the mean of the whole image, so everything before it must be done to every pixel,
even if a crop keeps few of them. A mean hardly changes when an image is reduced: it can be taken
from a version at 1/8 of the size, made for the purpose, and then contrast is a table like
brightness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from penstock._core import Effect
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.planner.access import Access, has_access, lookup
from penstock.planner.draft import Moves
from penstock.planner.rules.rule import Bound, Fidelity, Rule
from penstock.planner.rules.smaller_first import SCALES
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.effects import EffectMove, place_of, same_effect
from penstock.transforms.moves import CropMove, Move, PadMove, ResizeMove

# The shorter side of a reduced version has at least so many pixels; fewer would not speak for all.
_LEAST_SIDE = 32

# How many times as many pixels there must be as are needed in the end.
_WORTHWHILE = 4

_BILINEAR = InterpolationMode.BILINEAR.pillow_filter
_NEAREST = InterpolationMode.NEAREST.pillow_filter

# Effects that hardly change a mean, and are left out where only the mean is wanted.
_KEEPS_MEAN = lookup((Effect.SHARPNESS, Effect.GAUSSIAN_BLUR, Effect.BOX_BLUR))

# Effects whose result on a reduced version says little about that on the image.
_IS_UNLIKE = lookup(
    (
        *(Effect.AUTOCONTRAST, Effect.EQUALIZE, Effect.POSTERIZE, Effect.SOLARIZE),
        *(Effect.SOLARIZE_ADD, Effect.GAUSSIAN_NOISE, Effect.ERASE, Effect.ELASTIC),
        *(Effect.MIX_BEGIN, Effect.MIX_ADD, Effect.MIX_END),
    )
)
_WARPS = Effect.AFFINE, Effect.PERSPECTIVE
_IS_WARP = lookup(_WARPS)


def contrast_from_reduced(moves: Moves, sizes: Sizes) -> Moves | None:
    """Take contrast's mean from a version of the image at a half, a quarter or an eighth.

    What is done before the contrast is done to the reduced version too, so the mean is that of the
    image as the contrast would have seen it, but for rounding, levels that are cut at 0 and 255,
    and a row of pixels at the borders: below a level in photographs. Contrast moves every level
    towards or away from the mean by at most the share that its factor says.
    """
    along = [sizes]
    for move in moves:
        along.append(move.out_sizes(along[-1]))
    least = np.minimum.reduce([_pixels(each) for each in along])
    unlike = np.zeros(len(sizes), dtype=np.bool_)
    scales = _scales_for(sizes)
    planned = list(moves)
    found = False
    for position, move in enumerate(moves):
        if not isinstance(move, EffectMove):
            continue
        rows = move.does(Effect.CONTRAST)
        if rows.any():
            rows &= has_access(move, Access.STATISTIC) & ~unlike
            rows &= (scales > 1) & (_pixels(along[position]) >= _WORTHWHILE * least)
        if rows.any():
            side = reduced_moves(planned[:position], sizes, scales)
            planned[position] = _around_mean(move, rows, side)
            found = True
        unlike |= _IS_UNLIKE[move.effect] | _has_frame(move)
    return tuple(planned) if found else None


def reduced_moves(moves: Sequence[Move], sizes: Sizes, scales: Ints) -> Moves:
    """The same moves on images reduced by `scales`, with the reduction at their head."""
    now = Sizes(-(-sizes.height // scales), -(-sizes.width // scales))
    small: list[Move] = [ResizeMove(now.height, now.width, _BILINEAR, scales, dc_alone=True)]
    for move in moves:
        small.append(_reduced(move, now, scales))
        now = small[-1].out_sizes(now)
    return (*small, same_effect(Effect.GRAYSCALE, now))


def waits_for_pixels(move: Move) -> bool:
    """Whether a move waits for means of pixels."""
    return isinstance(move, EffectMove) and move.measured_on is not None


def rows_to_measure(move: EffectMove) -> Bools:
    """Which samples of an effect wait for a mean."""
    if move.measured_on is None:
        return np.zeros(len(move.effect), dtype=np.bool_)
    waiting = np.isnan(move.values(Effect.CONTRAST, "mean"))
    return np.asarray(move.does(Effect.CONTRAST) & waiting)


def with_means(move: EffectMove, rows: Bools, means: Floats) -> EffectMove:
    """The effect with the means that were found for `rows`."""
    numbers = move.numbers.copy()
    numbers[rows, place_of(Effect.CONTRAST, "mean")] = means
    return replace(move, numbers=numbers)


def _around_mean(move: EffectMove, rows: Bools, side: Moves) -> EffectMove:
    numbers = move.numbers.copy()
    numbers[rows, place_of(Effect.CONTRAST, "has_mean")] = 1
    numbers[rows, place_of(Effect.CONTRAST, "mean")] = np.nan
    return replace(move, numbers=numbers, measured_on=side)


def _has_frame(move: EffectMove) -> Bools:
    """Which samples have a warp of which only a window is rendered."""
    framed = np.zeros(len(move.effect), dtype=np.bool_)
    for warp in _WARPS:
        rows = move.does(warp)
        if rows.any():
            framed |= rows & move.values(warp, "frame").any(axis=1)
    return framed


def _scales_for(sizes: Sizes) -> Ints:
    shorter = np.minimum(sizes.height, sizes.width)
    scales = np.ones(len(sizes), dtype=np.int64)
    for scale in SCALES:
        scales[shorter >= scale * _LEAST_SIDE] = scale
    return scales


def _reduced(move: Move, now: Sizes, scales: Ints) -> Move:
    match move:
        case CropMove():
            height = np.clip(np.rint(move.height / scales), 1, now.height).astype(np.int64)
            width = np.clip(np.rint(move.width / scales), 1, now.width).astype(np.int64)
            top = np.minimum(move.top // scales, now.height - height)
            left = np.minimum(move.left // scales, now.width - width)
            return CropMove(top, left, height, width)
        case ResizeMove():
            return ResizeMove(-(-move.height // scales), -(-move.width // scales), move.filter)
        case PadMove():
            left, top = move.left // scales, move.top // scales
            right, bottom = move.right // scales, move.bottom // scales
            return replace(move, left=left, top=top, right=right, bottom=bottom)
        case EffectMove():
            return _reduced_effect(move, now, scales)
        case _:
            return move


def _reduced_effect(move: EffectMove, now: Sizes, scales: Ints) -> EffectMove:
    kinds = np.where(_KEEPS_MEAN[move.effect], int(Effect.NONE), move.effect)
    numbers = move.numbers.copy()
    # One that waits for its own mean takes that of what it gets here.
    numbers[rows_to_measure(move), place_of(Effect.CONTRAST, "has_mean")] = 0
    numbers[rows_to_measure(move), place_of(Effect.CONTRAST, "mean")] = 0
    for warp, shifts, slopes in (
        (Effect.AFFINE, (2, 5), ()),
        (Effect.PERSPECTIVE, (2, 5), (6, 7)),
    ):
        rows = np.flatnonzero(kinds == int(warp))
        if not len(rows):
            continue
        matrix = numbers[rows, place_of(warp, "matrix")]
        for place in shifts:
            matrix[:, place] /= scales[rows]
        for place in slopes:
            matrix[:, place] *= scales[rows]
        numbers[rows, place_of(warp, "matrix")] = matrix
        numbers[rows, place_of(warp, "filter")] = _NEAREST
    warps = _IS_WARP[kinds]
    height = np.where(warps, -(-move.height // scales), now.height)
    width = np.where(warps, -(-move.width // scales), now.width)
    return EffectMove(kinds, numbers, height, width)


def _pixels(sizes: Sizes) -> Ints:
    return sizes.height * sizes.width


RULES = (
    Rule(
        "contrast_from_reduced",
        Fidelity.FAST,
        contrast_from_reduced,
        span=None,
        bound=Bound(mean=2.5, most=4, psnr_db=40),
        python_us=40,
    ),
)
