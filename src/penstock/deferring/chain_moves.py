"""The steps of many chains as moves of the planner's, with a row for each chain.

Chains need not have the same kinds of steps: where one lacks a step that others have, it has one
that changes nothing. So a whole batch is one program for the core to be made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from penstock._core import Effect, Weights
from penstock.deferring.chain import Applied, Chain, Crop, Flip, Resize, Step
from penstock.geometry import Sizes
from penstock.planner.rules import of_fidelity
from penstock.planner.rules.rule import Fidelity, rewrite_moves
from penstock.transforms.effects import EffectMove, no_numbers
from penstock.transforms.moves import CropMove, FlipMove, Move, ResizeMove

# What steps are done in one move: those of a class; of resizes, those with a filter and weights.
Kind: TypeAlias = type | tuple[int, int]
Kinds: TypeAlias = tuple[Kind, ...]

_RULES = tuple(rule for rule in of_fidelity(Fidelity.EXACT) if rule.free)
_NONE = int(Effect.NONE)


def moves_of(chains: Sequence[Chain], sizes: Sizes) -> tuple[Move, ...]:
    """Return what is done to all of them, in an order that costs less; `sizes` are the sources'."""
    every = [_kinds_of(chain.steps) for chain in chains]
    kinds = _joined_all(every)
    rows = [_filled(chain, kinds) for chain in chains]
    moves = tuple(map(_move, kinds, zip(*rows, strict=True)))
    return rewrite_moves(moves, sizes, _RULES) if _is_worth_planning(kinds) else moves


def _kinds_of(steps: tuple[Step, ...]) -> Kinds:
    return tuple(step[2:] if isinstance(step, Resize) else type(step) for step in steps)


def _joined_all(every: Sequence[Kinds]) -> Kinds:
    """The kinds of all chains, in an order that has those of each chain in their order."""
    joined: Kinds = ()
    for kinds in sorted(set(every), key=lambda kinds: (-len(kinds), str(kinds))):
        joined = _joined(joined, kinds)
    return joined


@lru_cache(maxsize=1024)
def _joined(one: Kinds, other: Kinds) -> Kinds:
    """The shortest that has both."""
    if not one or not other:
        return one or other
    if one[0] == other[0]:
        return one[0], *_joined(one[1:], other[1:])
    first, second = (one[0], *_joined(one[1:], other)), (other[0], *_joined(one, other[1:]))
    return first if len(first) <= len(second) else second


def _filled(chain: Chain, kinds: Kinds) -> list[Step]:
    """The steps of a chain, with some that change nothing where it has none of a kind."""
    height, width = chain.source_size
    own = iter(chain.steps)
    step = next(own, None)
    filled: list[Step] = []
    for kind in kinds:
        if step is not None and (step[2:] if isinstance(step, Resize) else type(step)) == kind:
            filled.append(step)
            if not isinstance(step, Flip):
                height, width = step.height, step.width
            step = next(own, None)
        else:
            filled.append(_nothing(kind, height, width))
    return filled


def _nothing(kind: Kind, height: int, width: int) -> Step:
    if kind is Crop:
        return Crop(0, 0, height, width)
    if kind is Flip:
        return Flip(horizontal=False, vertical=False)
    if kind is Applied:
        return Applied(height, width, _NONE, ())
    filter_, weights = kind  # type: ignore[misc]  # it is no class
    return Resize(height, width, filter_, weights)


def _is_worth_planning(kinds: Kinds) -> bool:
    """Whether a crop may come before an effect, or effects may be done together."""
    effects = [place for place, kind in enumerate(kinds) if kind is Applied]
    return len(effects) > 1 or (bool(effects) and Crop in kinds[effects[0] :])


def _move(kind: Kind, steps: Sequence[Any]) -> Move:
    if kind is Flip:
        return FlipMove(*np.array(steps, dtype=np.bool_).T)
    if kind is Applied:
        return _effects(steps)
    columns = np.array(steps, dtype=np.int64).T
    if kind is Crop:
        return CropMove(*columns)
    filter_, weights = kind  # type: ignore[misc]  # it is no class
    return ResizeMove(columns[0], columns[1], filter_, weights=Weights(weights))


def _effects(steps: Sequence[Any]) -> EffectMove:
    """The effects of several chains, which need not be the same."""
    numbers = no_numbers(len(steps))
    for row, step in enumerate(steps):
        if step.numbers:
            numbers[row, : len(step.numbers)] = step.numbers
    rows = [step[:3] for step in steps]
    height, width, effect = np.array(rows, dtype=np.int64).T
    return EffectMove(effect, numbers, height, width)
