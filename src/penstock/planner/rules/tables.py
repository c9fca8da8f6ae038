"""Colour tables wait until their pixels are needed.

An effect on levels (brightness, contrast, posterize, equalize, ...) is a table of 256 levels for
each channel. The core can keep a table instead of applying it. The next effect on colour goes on
from it, so that one pass over the pixels does them all; crops, mirrors and warps without a filter
move pixels and look at none; and what waits at the end is done by the final pass, which reads every
pixel anyway.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.geometry import Sizes
from penstock.planner.access import IS_TABLE
from penstock.planner.draft import Moves
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove


def merge_tables(moves: Moves, sizes: Sizes) -> Moves | None:
    """Do tables when their pixels are needed: together, behind crops, or in the final pass.

    Exact: a table leads from level to level, so a table after a table is a table, and pixels that
    only move can meet it later. A mean, extremes or counts that an effect needs are taken through
    the tables that wait, which gives what the changed pixels would have given. A warp brings in a
    colour from outside that the table turns into its fill; where it makes no level that one, the
    table is applied before the warp.
    """
    del sizes
    for place, move in enumerate(moves):
        if isinstance(move, EffectMove) and IS_TABLE[move.effect].any():
            if move.tables_wait:
                return None
            return *moves[:place], replace(move, tables_wait=True), *moves[place + 1 :]
    return None


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
)
