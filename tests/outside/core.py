"""Runs drawn moves on single arrays in the native core, as the loader does on batches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from penstock._core import Engine
from penstock.geometry import Sizes
from penstock.loading.lower import lower
from penstock.transforms.effects import Effect, EffectMove
from penstock.transforms.moves import Move, PadMove, ResizeMove

Pixels = npt.NDArray[np.uint8]

_WAIT_S = 60.0
_STATUS_OK = 0
_NEAREST = 0
# Where the effects that move pixels keep their filter; the colour of the outside is the next one.
_FILTER_COLUMNS = {Effect.AFFINE: 6, Effect.PERSPECTIVE: 8, Effect.ELASTIC: 4}


def run_on_core(pixels: Pixels, moves: Sequence[Move]) -> Pixels:
    """An HxWx3 array after the moves of a batch of one."""
    height, width, _ = pixels.shape
    steps = lower(moves, Sizes(np.array([height]), np.array([width])))
    after = steps.out_sizes[0]
    result = np.empty((after.height, after.width, 3), dtype=np.uint8)
    chunk = _engine().fetch(0, [os.fsencode(os.devnull)])  # a place for pixels that are set
    assert chunk.wait(_WAIT_S)
    chunk.set_pixels(0, np.ascontiguousarray(pixels))
    chunk.run_to_arrays(np.zeros(1, dtype=np.int32), steps.programs(), [result])
    assert chunk.wait(_WAIT_S)
    assert chunk.status[0] == _STATUS_OK, chunk.message(0)
    return result


def for_masks(moves: Sequence[Move]) -> tuple[Move, ...]:
    """The same geometry for an image of numbers: nearest pixels, 0 outside, values as they are."""
    return tuple(_for_mask(move) for move in moves)


def _for_mask(move: Move) -> Move:
    match move:
        case PadMove():
            return replace(move, fill=(0, 0, 0))
        case ResizeMove():
            return replace(move, filter=_NEAREST)
        case EffectMove():
            effect, numbers = move.effect.copy(), move.numbers.copy()
            for kind, column in _FILTER_COLUMNS.items():
                numbers[effect == kind, column : column + 2] = _NEAREST, 0
            effect[~np.isin(effect, list(_FILTER_COLUMNS))] = Effect.NONE
            return replace(move, effect=effect, numbers=numbers)
        case _:
            return move


@cache
def _engine() -> Engine:
    return Engine(workers=1, readers=1)
