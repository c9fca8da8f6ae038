"""The steps of many chains as moves of the planner's, with a row for each chain.

Chains need not have the same kinds of steps: where one lacks a step that others have, it has one
that changes nothing. So a whole batch is one program for the core to be made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from penstock._core import Effect, PadMode, Weights
from penstock.deferring.chain import Applied, Chain, Crop, Flip, Pad, Resize, ResizeBox, Step
from penstock.geometry import Sizes
from penstock.planner.rules import BY_NAME
from penstock.planner.rules.rule import Rule, rewrite_moves
from penstock.transforms.effects import EffectMove, no_numbers
from penstock.transforms.moves import (
    BoxResizeMove,
    CropMove,
    FlipMove,
    Move,
    PadMove,
    ResizeMove,
)

# What steps are done in one move: those of a class that have these numbers in common.
Kind: TypeAlias = tuple[Any, ...]
Kinds: TypeAlias = tuple[Kind, ...]

# Those exact rules that bring more here than it takes to apply them.
_CROPS_FIRST = tuple(
    BY_NAME[name]
    for name in (
        *("join_crops", "crop_before_flip", "crop_before_per_pixel"),
        *("window_of_neighbourhood", "crop_before_padding", "window_of_warp", "gray_first"),
    )
)
_TABLES = (BY_NAME["merge_tables"],)
_NONE = int(Effect.NONE)


def moves_of(chains: Sequence[Chain], sizes: Sizes) -> tuple[Move | BoxResizeMove, ...]:
    """Return what is done to all of them, in an order that costs less; `sizes` are the sources'."""
    every = [tuple(map(_kind_of, chain.steps)) for chain in chains]
    kinds = _joined_all(every)
    rows: list[Sequence[Step]] = [
        chain.steps if own == kinds else _filled(chain, own, kinds)
        for chain, own in zip(chains, every, strict=True)
    ]
    moves: tuple[Any, ...] = ()
    before = sizes
    for kind, steps in zip(kinds, zip(*rows, strict=True), strict=True):
        move = _move(kind, steps, before)
        moves += (move,)
        before = move.out_sizes(before)
    rules = _rules_for(kinds)
    return rewrite_moves(moves, sizes, rules) if rules else moves


def _kind_of(step: Step) -> Kind:
    if isinstance(step, Resize):
        return Resize, step.filter, step.weights
    if isinstance(step, ResizeBox):
        return ResizeBox, step.filter
    return (Pad, step.mode, step.fill) if isinstance(step, Pad) else (type(step),)


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


def _filled(chain: Chain, own: Kinds, kinds: Kinds) -> list[Step]:
    """The steps of a chain, with some that change nothing where it has none of a kind."""
    height, width = chain.source_size
    done = 0
    filled: list[Step] = []
    for kind in kinds:
        if done < len(own) and own[done] == kind:
            step = chain.steps[done]
            filled.append(step)
            if not isinstance(step, Flip):
                height, width = step.height, step.width
            done += 1
        else:
            filled.append(_nothing(kind, height, width))
    return filled


def _nothing(kind: Kind, height: int, width: int) -> Step:
    made, *numbers = kind
    if made is Crop:
        return Crop(0, 0, height, width)
    if made is Flip:
        return Flip(horizontal=False, vertical=False)
    if made is Pad:
        return Pad(height, width, 0, 0, *numbers)
    if made is Applied:
        return Applied(height, width, _NONE, ())
    if made is ResizeBox:
        return ResizeBox(height, width, numbers[0], (0, 0, width, height))
    return Resize(height, width, *numbers)


def _rules_for(kinds: Kinds) -> tuple[Rule, ...]:
    """Rules for crops after effects or borders, and for effects that may be done together."""
    classes = [made for made, *_ in kinds]
    if ResizeBox in classes:  # which rules do not know
        return ()
    firsts = [place for place, made in enumerate(classes) if made in (Applied, Pad)]
    has_late_crops = bool(firsts) and Crop in classes[firsts[0] :]
    has_several_effects = classes.count(Applied) > 1
    return _CROPS_FIRST * has_late_crops + _TABLES * has_several_effects


def _move(kind: Kind, steps: Sequence[Any], sizes: Sizes) -> Move | BoxResizeMove:
    """The steps of one kind of all chains, whose images have these sizes before it."""
    made, *numbers = kind
    if made is Flip:
        return FlipMove(*np.array(steps, dtype=np.bool_).T)
    if made is Applied:
        return _effects(steps)
    if made is Pad:
        height, width, top, left = np.array([step[:4] for step in steps], dtype=np.int64).T
        right, bottom = width - left - sizes.width, height - top - sizes.height
        mode, fill = numbers
        return PadMove(left, top, right, bottom, PadMode(mode), fill)
    if made is ResizeBox:
        height, width = np.array([step[:2] for step in steps], dtype=np.int64).T
        boxes = np.array([step.box for step in steps], dtype=np.float64)
        return BoxResizeMove(height, width, numbers[0], boxes)
    columns = np.array(steps, dtype=np.int64).T
    if made is Crop:
        return CropMove(*columns)
    filter_, weights = numbers
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
