"""Colour tables wait for one another, and for the crop that leaves fewer pixels to change.

An effect on levels (brightness, contrast, posterize, equalize, ...) is a table of 256 levels for
each channel. The core can keep a table instead of applying it, as `EffectMove.waits` asks for: the
sample's next effect then goes on from that table, and one pass over the pixels does them all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import is_

import numpy as np

from penstock._core import Effect
from penstock.geometry import Bools, Ints, Sizes
from penstock.planner.access import IS_COLOUR, IS_TABLE
from penstock.planner.draft import Moves
from penstock.planner.rules.idle import is_idle
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove, effect_where
from penstock.transforms.moves import CropMove, FlipMove, Move


def merge_tables(moves: Moves, sizes: Sizes) -> Moves | None:
    """Do tables that follow each other, and other effects on colour, in one pass.

    Exact: a table leads from level to level, so a table after a table is a table. A mean, extremes
    or counts that the next one needs are taken through the tables that wait, which gives what the
    changed pixels would have given.
    """
    del sizes
    places = [place for place, move in enumerate(moves) if isinstance(move, EffectMove)]
    if len(places) < 2:
        return None
    first = moves[places[0]]
    if not isinstance(first, EffectMove) or first.joins_tables:
        return None
    return *moves[: places[0]], replace(first, joins_tables=True), *moves[places[0] + 1 :]


def statistic_before_crop(moves: Moves, sizes: Sizes) -> Moves | None:
    """Take statistics over the whole image, but change the pixels that a later crop keeps.

    Exact: contrast, autocontrast and equalize look at the whole image to make a table, and the
    table then looks at single pixels. Crops and flips move those and change none, so the table can
    be applied behind them. It is, by the next effect if that is on colour, or else on its own right
    behind the crop, which the core then need not copy.
    """
    planned = list(moves)
    applied: dict[int, Bools] = {}  # before which moves, and for which samples
    for table in _tables(moves, sizes):
        passes = table.can_wait & (table.cuts | table.mirrors)
        if not passes.any():
            continue
        alone = passes & table.cuts & ~table.next_is_colour
        _wait(planned, table.position, passes & (table.cuts | table.next_is_colour))
        for place in np.unique(table.cut_end[alone]).tolist():
            rows = alone & (table.cut_end == place)
            applied[place] = applied.get(place, np.False_) | rows
    along = _sizes_before(moves, sizes) if applied else []
    for place in sorted(applied, reverse=True):
        planned.insert(place, effect_where(applied[place], Effect.APPLY, along[place]))
    return _unless_same(planned, moves)


@dataclass(frozen=True, slots=True)
class _Table:
    """An EffectMove, and for each sample what comes behind it, other than crops and flips."""

    position: int  # of the move
    can_wait: Bools  # whether its effect is a table that does not wait yet
    next_is_colour: Bools  # whether it is an effect on colour
    cuts: Bools  # whether a crop lies before it
    cut_end: Ints  # the position behind the last such crop, where there is one
    mirrors: Bools  # whether a flip lies before it


def _tables(moves: Moves, sizes: Sizes) -> list[_Table]:
    """All moves with a table in them, the last one first."""
    before = _sizes_before(moves, sizes)
    is_colour = cuts = mirrors = np.zeros(len(sizes), dtype=np.bool_)
    cut_end = np.zeros(len(sizes), dtype=np.int64)
    tables = []
    for position in reversed(range(len(moves))):
        move = moves[position]
        match move:
            case EffectMove():
                acts = move.acts
                can_wait = IS_TABLE[move.effect] & ~np.asarray(move.waits)
                if can_wait.any():
                    tables.append(_Table(position, can_wait, is_colour, cuts, cut_end, mirrors))
                is_colour = np.where(acts, IS_COLOUR[move.effect], is_colour)
            case CropMove():
                acts = ~is_idle(move, before[position])
                cut_end = np.where(acts & ~cuts, position + 1, cut_end)
                cuts = cuts | acts
                continue
            case FlipMove():
                mirrors = mirrors | ~is_idle(move, before[position])
                continue
            case _:
                acts = ~is_idle(move, before[position])
                is_colour = is_colour & ~acts
        cuts, mirrors = cuts & ~acts, mirrors & ~acts
    return tables


def _sizes_before(moves: Moves, sizes: Sizes) -> list[Sizes]:
    """Before each move, and after the last."""
    along = [sizes]
    for move in moves:
        along.append(move.out_sizes(along[-1]))
    return along


def _wait(moves: list[Move], position: int, rows: Bools) -> None:
    move = moves[position]
    if rows.any() and isinstance(move, EffectMove):
        moves[position] = replace(move, waits=move.waits | rows)


def _unless_same(planned: list[Move], moves: Moves) -> Moves | None:
    same = len(planned) == len(moves) and all(map(is_, planned, moves))
    return None if same else tuple(planned)


RULES = (
    Rule(
        merge_tables.__name__,
        Fidelity.EXACT,
        merge_tables,
        span=None,
        free=True,
        last=True,
        python_us=0.5,
    ),
    Rule(
        statistic_before_crop.__name__,
        Fidelity.EXACT,
        statistic_before_crop,
        span=None,
        last=True,
        python_us=10,
    ),
)
