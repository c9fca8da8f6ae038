"""Leave out what changes nothing, for the samples for which it changes nothing.

Policies draw many such ops: a rotation by 0 degrees, a brightness of exactly 1, a posterize to 8
bits. Turning hues by 0 is not one of them, since the way there and back rounds colours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from penstock._core import Effect
from penstock.geometry import Bools, Sizes
from penstock.planner.access import lookup
from penstock.planner.draft import Moves
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove, parameter_names
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove

_NONE = int(Effect.NONE)  # which NumPy compares faster than the member of an enum

# Blends with some other version of the image; a factor of 1 leaves the image alone.
_IS_BLEND = lookup((Effect.BRIGHTNESS, Effect.CONTRAST, Effect.SATURATION, Effect.SHARPNESS))

_IDENTITY = {
    Effect.AFFINE: np.array([1, 0, 0, 0, 1, 0]),
    Effect.PERSPECTIVE: np.array([1, 0, 0, 0, 1, 0, 0, 0]),
}

# When other effects change nothing, by their parameters.
_IDLE: dict[Effect, Callable[..., Bools]] = {
    Effect.POSTERIZE: lambda bits: np.trunc(bits) == 8,
    Effect.SOLARIZE: lambda threshold: threshold > 255,
    Effect.SOLARIZE_ADD: lambda amount, threshold: (np.trunc(amount) == 0) | (threshold <= 0),
    Effect.PERMUTE_CHANNELS: lambda order: (order == [0, 1, 2]).all(axis=1),
    Effect.ERASE: lambda height, width, **_: (height < 1) | (width < 1),
    Effect.GAUSSIAN_BLUR: lambda kernel_width, kernel_height, **_: (
        (kernel_width == 1) & (kernel_height == 1)
    ),
    Effect.BOX_BLUR: lambda radius_across, radius_down, **_: (
        (radius_across == 0) & (radius_down == 0)
    ),
}
_IS_OTHER = lookup((*_IDENTITY, *_IDLE))

_CAN_REPEAT = lookup((Effect.INVERT, Effect.GRAYSCALE, Effect.POSTERIZE))


def drop_idle(moves: Moves, sizes: Sizes) -> Moves | None:
    """Leave out ops that change nothing.

    Exact, kind by kind. Blends (brightness, contrast, saturation, sharpness) by a float32 factor of
    1 are copies in Pillow. All 8 bits are kept, all levels are below a threshold above 255, nothing
    is added, channels stay in order, a rectangle, kernel or box has no extent. The identity matrix
    at the same size reads every pixel at its centre, where all filters have one weight of 1 and the
    others 0. A resize to the same size is a copy, and crops of the whole, borders of 0 pixels and
    flips along no axis are nothing.
    """
    (move,) = moves
    if not isinstance(move, EffectMove):
        return () if is_idle(move, sizes).all() else None
    if not move.acts.any():
        return ()
    idle = is_idle(move, sizes) & move.acts
    return (without(move, idle),) if idle.any() else None


def join_flips(moves: Moves, sizes: Sizes) -> Moves | None:
    """Two flips are one, or none.

    Exact: flips move pixels and change none, flips along different axes commute, and two along the
    same axis cancel out.
    """
    del sizes
    match moves:
        case (FlipMove() as first, FlipMove() as second):
            return (
                FlipMove(first.horizontal ^ second.horizontal, first.vertical ^ second.vertical),
            )
    return None


def drop_repeated(moves: Moves, sizes: Sizes) -> Moves | None:
    """Leave out two inversions that cancel out, and a second op that finds nothing left to do.

    Exact: 255 - (255 - x) = x. The bits that a second posterize would drop are 0 already if the
    first keeps no more than it. The gray of equal channels is that level, because its weights add
    up to exactly 1 before rounding.
    """
    del sizes
    match moves:
        case (EffectMove() as first, EffectMove() as second):
            pass
        case _:
            return None
    same = (first.effect == second.effect) & _CAN_REPEAT[first.effect]
    if not same.any():
        return None
    inverts = same & first.does(Effect.INVERT)
    bits = [np.trunc(move.values(Effect.POSTERIZE, "bits")) for move in (first, second)]
    again = same & ((~first.does(Effect.POSTERIZE)) | (bits[0] <= bits[1]))
    if not again.any():
        return None
    return without(first, inverts) if inverts.any() else first, without(second, again)


def is_idle(move: Move, sizes: Sizes) -> Bools:
    """Which images of `sizes` the move leaves as they are, as `drop_idle` proves."""
    match move:
        case FlipMove():
            return ~(move.horizontal | move.vertical)
        case PadMove():
            return np.asarray((move.left | move.top | move.right | move.bottom) == 0)
        case CropMove() | ResizeMove():
            return np.asarray((move.height == sizes.height) & (move.width == sizes.width))
        case EffectMove():
            return _is_idle_effect(move, sizes)


def without(move: EffectMove, rows: Bools) -> EffectMove:
    """The effects of the samples that are not in `rows`. Requires that sizes stay."""
    return replace(move, effect=np.where(rows, _NONE, move.effect))


def _is_idle_effect(move: EffectMove, sizes: Sizes) -> Bools:
    # All blends have their factor first, which saves looking at each kind on its own.
    with np.errstate(over="ignore"):  # the numbers of other kinds may be of any size
        idle = _IS_BLEND[move.effect] & (move.numbers[:, 0].astype(np.float32) == 1)
    idle |= ~move.acts
    others = move.effect[_IS_OTHER[move.effect]]
    if len(others):
        for kind in np.unique(others).tolist():
            idle |= (move.effect == kind) & _is_idle_kind(Effect(kind), move, sizes)
    return np.asarray(idle)


def _is_idle_kind(kind: Effect, move: EffectMove, sizes: Sizes) -> Bools:
    """Whether the numbers make the effect idle, if it is of this kind."""
    if kind in _IDENTITY:
        return _is_identity(kind, move, sizes)
    return np.asarray(
        _IDLE[kind](**{name: move.values(kind, name) for name in parameter_names(kind)})
    )


def _is_identity(kind: Effect, move: EffectMove, sizes: Sizes) -> Bools:
    """A warp by the identity, of the whole image or of the window that its source is too."""
    frame = move.values(kind, "frame")
    return np.asarray(
        (move.values(kind, "matrix") == _IDENTITY[kind]).all(axis=1)
        & (frame[:, :4] == frame[:, 4:]).all(axis=1)
        & (move.height == sizes.height)
        & (move.width == sizes.width)
    )


RULES = (
    Rule("drop_idle", Fidelity.EXACT, drop_idle, span=1, free=True),
    Rule("join_flips", Fidelity.EXACT, join_flips, free=True),
    Rule("drop_repeated", Fidelity.EXACT, drop_repeated, free=True),
)
