"""Which pixels each effect looks at to make one: what decides which rules hold for it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cache

import numpy as np

from penstock._core import Effect, EffectFamily, effect_table
from penstock.geometry import Bools, Ints
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import Move, ResizeMove


class Access(Enum):
    """What a pixel of the result is made of."""

    TABLE = "table"  # one value of the pixel, through a table that is known beforehand
    PIXEL = "per pixel"  # all values of the pixel
    STATISTIC = "statistic"  # the pixel, and a figure over the whole image
    NEIGHBOURHOOD = "neighbourhood"  # the pixels around it, within a reach
    GATHER = "gather"  # pixels at another place, which a matrix gives
    PLACE = "place"  # depends on where in the image the pixel is
    MOVED = "moved"  # one pixel at another place, unchanged
    RESAMPLED = "resampled"  # a weighted mean of pixels, by a filter that sizes give


ACCESS = {
    Effect.NONE: Access.TABLE,
    Effect.BRIGHTNESS: Access.TABLE,
    Effect.CONTRAST: Access.STATISTIC,
    Effect.SATURATION: Access.PIXEL,
    Effect.HUE: Access.PIXEL,
    Effect.SHARPNESS: Access.NEIGHBOURHOOD,
    Effect.POSTERIZE: Access.TABLE,
    Effect.SOLARIZE: Access.TABLE,
    Effect.SOLARIZE_ADD: Access.TABLE,
    Effect.INVERT: Access.TABLE,
    Effect.AUTOCONTRAST: Access.STATISTIC,
    Effect.EQUALIZE: Access.STATISTIC,
    Effect.GRAYSCALE: Access.PIXEL,
    Effect.PERMUTE_CHANNELS: Access.PIXEL,
    Effect.AFFINE: Access.GATHER,
    Effect.PERSPECTIVE: Access.GATHER,
    Effect.GAUSSIAN_BLUR: Access.NEIGHBOURHOOD,
    Effect.GAUSSIAN_NOISE: Access.PLACE,
    Effect.ERASE: Access.PLACE,
    Effect.ELASTIC: Access.PLACE,
    Effect.MIX_BEGIN: Access.PLACE,
    Effect.MIX_ADD: Access.PLACE,
    Effect.MIX_END: Access.PLACE,
    Effect.BOX_BLUR: Access.NEIGHBOURHOOD,
    Effect.TENSOR_BRIGHTNESS: Access.PIXEL,  # of no transform, so no rule is made for these
    Effect.TENSOR_CONTRAST: Access.PLACE,
    Effect.TENSOR_SATURATION: Access.PIXEL,
    Effect.TENSOR_HUE: Access.PIXEL,
    Effect.TENSOR_GRAYSCALE: Access.PIXEL,
    Effect.OPENCV_GRAYSCALE: Access.PIXEL,
}


def accesses(move: Move) -> frozenset[Access]:
    """The kinds of a move's samples; of those in which something happens, if there are any."""
    match move:
        case EffectMove():
            kinds = {ACCESS[Effect(number)] for number in np.unique(move.effect) if number}
            return frozenset(kinds or {Access.TABLE})
        case ResizeMove():
            return frozenset({Access.RESAMPLED})
        case _:
            return frozenset({Access.MOVED})


def has_access(move: EffectMove, *kinds: Access) -> Bools:
    """Which samples have an effect of one of these kinds.

    Contrast around a given mean is a table; otherwise it needs the mean of the image.
    """
    found = _lookup_access(kinds)[move.effect]
    has_mean = move.does(Effect.CONTRAST)
    if not has_mean.any():
        return found
    has_mean &= move.values(Effect.CONTRAST, "has_mean") != 0
    return np.where(has_mean, Access.TABLE in kinds, found)


def reach(move: EffectMove) -> tuple[Ints, Ints]:
    """How many pixels to each side an effect looks, across and down; 0 for those that do not."""
    blurs = move.does(Effect.GAUSSIAN_BLUR)
    sharpens = move.does(Effect.SHARPNESS).astype(np.int64)
    width = np.where(blurs, move.values(Effect.GAUSSIAN_BLUR, "kernel_width"), 0).astype(np.int64)
    height = np.where(blurs, move.values(Effect.GAUSSIAN_BLUR, "kernel_height"), 0).astype(np.int64)
    across, down = sharpens + width // 2, sharpens + height // 2
    if not move.does(Effect.BOX_BLUR).any():
        return across, down
    return across + _box_reach(move, "radius_across"), down + _box_reach(move, "radius_down")


def _box_reach(move: EffectMove, name: str) -> Ints:
    """How far the passes of box blurs look together."""
    radius, passes = move.values(Effect.BOX_BLUR, name), move.values(Effect.BOX_BLUR, "passes")
    has_box = move.does(Effect.BOX_BLUR) & (radius > 0)
    return np.where(has_box, passes * (np.trunc(radius) + 1), 0).astype(np.int64)


def lookup(kinds: Iterable[Effect]) -> Bools:
    """Whether an effect is one of these kinds, for every effect: to be indexed by effects."""
    found = np.zeros(1 + max(ACCESS), dtype=np.bool_)
    found[list(kinds)] = True
    return found


@cache
def _lookup_access(kinds: tuple[Access, ...]) -> Bools:
    return lookup(effect for effect, access in ACCESS.items() if access in kinds)


IS_COLOUR = lookup(effect for effect, family, _ in effect_table() if family == EffectFamily.COLOUR)
# A change of the order of channels is one too: it reorders the tables that wait.
IS_TABLE = lookup(
    effect
    for effect, access in ACCESS.items()
    if access in (Access.TABLE, Access.STATISTIC) or effect == Effect.PERMUTE_CHANNELS
)
IS_TABLE[Effect.NONE] = False
