"""Ops of a policy by looking up: in a batch of images of one size, few different things can happen.

That is the usual case, after a crop, and spares most of the work of drawing.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from penstock.geometry import Floats, Ints, Size, Sizes
from penstock.transforms.arguments import Colour
from penstock.transforms.effects import NUMBERS, Effect, EffectMove
from penstock.transforms.policy_ops import NOTHING, PolicyOp, make_scene, policy_move

Ops = tuple[PolicyOp, ...]
Look = tuple[int, Colour]  # Pillow's number of the filter, and the colour of the outside

_SIGNS = (-1.0, 1.0)


def binned_move(
    ops: Ops,
    levels: tuple[float, ...],
    chosen: Ints,
    bins: Ints,
    signs: Floats,
    sizes: Sizes,
    look: Look,
) -> EffectMove:
    """As `policy_move`, for levels that come from a few: each sample's is number `bins`."""
    alike = len(sizes) and not np.ptp(sizes.height) and not np.ptp(sizes.width)
    if not alike:
        scene = make_scene(sizes, *look)
        return policy_move(ops, chosen, np.array(levels)[bins], signs, scene)
    effect, numbers = _table(ops, levels, sizes[0], look)
    entry = (chosen * len(levels) + bins) * len(_SIGNS) + (signs > 0)
    entry = np.where(chosen == NOTHING, len(effect) - 1, entry)
    return EffectMove(effect[entry], numbers[entry], sizes.height, sizes.width)


@lru_cache(maxsize=64)
def _table(ops: Ops, levels: tuple[float, ...], size: Size, look: Look) -> tuple[Ints, Floats]:
    """Effects and their numbers for every op, level and sign, in this order; nothing at the end."""
    cases = [(op, level, sign) for op in range(len(ops)) for level in levels for sign in _SIGNS]
    chosen, level, sign = np.array(cases).T
    sizes = Sizes(np.full(len(cases), size.height), np.full(len(cases), size.width))
    move = policy_move(ops, chosen.astype(np.int64), level, sign, make_scene(sizes, *look))
    return (
        np.concatenate([move.effect, [int(Effect.NONE)]]),
        np.concatenate([move.numbers, np.zeros((1, NUMBERS))]),
    )
