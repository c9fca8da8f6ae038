"""Moves drawn for some samples of a batch, spread over all of it; the others stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from penstock.geometry import Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.effects import NUMBERS, Effect, EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove, out_sizes
from penstock.transforms.op import ImageOp


def sample_rows(
    ops: Sequence[tuple[int, ImageOp]], draws: Draws, rows: Ints, sizes: Sizes
) -> tuple[Move, ...]:
    """Draw ops, each with the number of its branch, one after the other for some rows only."""
    if not len(rows):
        return ()
    moves: tuple[Move, ...] = ()
    for branch, op in ops:
        drawn = spread(op.sample(draws.branch(branch, rows), sizes.at(rows)), rows, sizes)
        sizes = out_sizes(drawn, sizes)
        moves += drawn
    return moves


def spread(moves: Iterable[Move], rows: Ints, sizes: Sizes) -> tuple[Move, ...]:
    """The moves of `rows`, with identities for all other samples of a batch of `sizes`."""
    all_rows: tuple[Move, ...] = ()
    for move in moves:
        whole = _spread_one(move, rows, sizes)
        sizes = whole.out_sizes(sizes)
        all_rows += (whole,)
    return all_rows


def join_effects(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Make one record of neighbouring effects no two of which concern the same sample."""
    joined: list[Move] = []
    for move in moves:
        before = joined[-1] if joined else None
        if isinstance(move, EffectMove) and isinstance(before, EffectMove):
            active = move.effect != Effect.NONE
            if not (active & (before.effect != Effect.NONE)).any():
                joined[-1] = EffectMove(
                    np.where(active, move.effect, before.effect),
                    np.where(active[:, None], move.numbers, before.numbers),
                    move.height,
                    move.width,
                )
                continue
        joined.append(move)
    return tuple(joined)


def _spread_one(move: Move, rows: Ints, sizes: Sizes) -> Move:
    nothing = np.zeros(len(sizes), dtype=np.int64)
    match move:
        case PadMove():
            return PadMove(
                _put(nothing, rows, move.left),
                _put(nothing, rows, move.top),
                _put(nothing, rows, move.right),
                _put(nothing, rows, move.bottom),
                move.mode,
                move.fill,
            )
        case CropMove():
            return CropMove(
                _put(nothing, rows, move.top),
                _put(nothing, rows, move.left),
                _put(sizes.height, rows, move.height),
                _put(sizes.width, rows, move.width),
            )
        case ResizeMove():
            return ResizeMove(
                _put(sizes.height, rows, move.height),
                _put(sizes.width, rows, move.width),
                move.filter,
            )
        case FlipMove():
            mirrors = np.zeros((2, len(sizes)), dtype=np.bool_)
            mirrors[0, rows] = move.horizontal
            mirrors[1, rows] = move.vertical
            return FlipMove(*mirrors)
        case EffectMove():
            numbers = np.zeros((len(sizes), NUMBERS))
            numbers[rows] = move.numbers
            return EffectMove(
                _put(nothing, rows, move.effect),
                numbers,
                _put(sizes.height, rows, move.height),
                _put(sizes.width, rows, move.width),
            )


def _put(elsewhere: Ints, rows: Ints, values: Ints) -> Ints:
    whole: Ints = elsewhere.copy()
    whole[rows] = values
    return whole
