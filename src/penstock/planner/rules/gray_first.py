"""Gray first: an image that loses its colour loses it before anything else is done to it.

The core then turns rows gray while it decodes them, and all that follows has one channel to work on
instead of three.
"""

from __future__ import annotations

import numpy as np

from penstock._core import Effect, PadMode
from penstock.geometry import Bools, Sizes
from penstock.planner.draft import Moves
from penstock.planner.rules.idle import is_idle, without
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove, effect_where
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove


def gray_first(moves: Moves, sizes: Sizes) -> Moves | None:
    """Turn images gray before they are cropped, mirrored and padded.

    Exact: gray is made of single pixels, and crops, flips and borders of repeated pixels only move
    those. So does a border of one gray, which is its own gray. Resizes and warps round each channel
    on its own, so gray stays behind them; and behind borders that have colour.
    """
    now = sizes
    is_first = np.ones(len(sizes), dtype=np.bool_)  # nothing but what gray can pass came before
    has_moved = np.zeros_like(is_first)
    early = np.zeros_like(is_first)
    rest: list[Move] = []
    for move in moves:
        if isinstance(move, EffectMove):
            rows = is_first & has_moved & move.does(Effect.GRAYSCALE)
            early |= rows
            is_first &= (~move.acts) | rows
            rest.append(without(move, rows) if rows.any() else move)
        else:
            acts = ~is_idle(move, now)
            has_moved |= acts
            is_first &= ~acts | _can_be_passed(move)
            rest.append(move)
        now = move.out_sizes(now)
    if not early.any():
        return None
    return effect_where(early, Effect.GRAYSCALE, sizes), *rest


def _can_be_passed(move: Move) -> Bools | bool:
    match move:
        case CropMove() | FlipMove():
            return True
        case PadMove(mode=PadMode.CONSTANT):
            return len(set(move.fill)) == 1
        case PadMove():
            return True
    return False


RULES = (Rule("gray_first", Fidelity.EXACT, gray_first, span=None, free=True, last=True),)
