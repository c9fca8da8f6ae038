"""Masks, which follow their image: the same moves, nearest pixel, a fixed value from outside.

The core looks every pixel of a moved mask up in the one before. `move_by_reference` gives the same
by Pillow, one move at a time; Pillow works on images of three channels, so masks travel in threes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock._core import Effect, Engine, EnginePart
from penstock.geometry import Ints, Size, Sizes
from penstock.packing.mask_runs import decode_runs, read_header
from penstock.planner.lower import lower
from penstock.reference.pipeline import run_moves
from penstock.transforms.effects import WARPS, EffectMove, pack_colour, place_of
from penstock.transforms.moves import Move, PadMove, ResizeMove, out_sizes

# The masks of one sample: run lengths as a packed file has them (one row of bytes), or
# (masks, height, width) of uint8 or uint16.
Masks = npt.NDArray[Any]
Pixels = npt.NDArray[np.uint8]  # (height, width, 3)

_NEAREST = 0


def count_of(masks: Masks) -> int:
    """Return how many masks a sample has."""
    return read_header(masks)[0] if masks.ndim == 1 else len(masks)


def size_of(masks: Masks) -> Size:
    """Return the size of a sample's masks."""
    return read_header(masks)[1] if masks.ndim == 1 else Size(*masks.shape[1:])


@dataclass(frozen=True, slots=True)
class MovingMasks:
    """Masks on their way through the core."""

    chunk: EnginePart
    moved: list[Masks]  # complete when the chunk is


def start_moving(
    engine: Engine,
    rank: int,
    masks: Sequence[Masks],
    wanted: Sequence[Ints],
    moves: Sequence[Move],
    sizes: Sizes,
    fill: int,
) -> MovingMasks:
    """Start to do to masks what `moves` do to their images, for those that are wanted of each."""
    steps = lower(mask_moves(moves, fill), sizes)
    after = zip(steps.out_sizes.height.tolist(), steps.out_sizes.width.tolist(), strict=True)
    moved = [
        np.empty((len(numbers), height, width), dtype=stack.dtype)
        for stack, numbers, (height, width) in zip(masks, wanted, after, strict=True)
    ]
    chunk = engine.begin(rank, len(moved))
    numbers = [one.astype(np.int32) for one in wanted]
    chunk.run_masks(list(masks), numbers, steps.programs(), moved, fill)
    return MovingMasks(chunk, moved)


def move_by_reference(
    masks: Sequence[Masks], wanted: Sequence[Ints], moves: Sequence[Move], sizes: Sizes, fill: int
) -> list[Masks]:
    """Do the same plainly, by Pillow."""
    stacks = [
        (decode_runs(stack) if stack.ndim == 1 else stack)[numbers]
        for stack, numbers in zip(masks, wanted, strict=True)
    ]
    low = _move_bytes([stack.astype(np.uint8) for stack in stacks], moves, sizes, fill & 255)
    if all(stack.dtype == np.uint8 for stack in stacks):
        return list(low)
    high = _move_bytes(
        [(stack.astype(np.uint16) >> 8).astype(np.uint8) for stack in stacks],
        moves,
        sizes,
        fill >> 8,
    )
    return [
        (above.astype(stack.dtype) << 8 if stack.dtype == np.uint16 else 0) | below
        for stack, above, below in zip(stacks, high, low, strict=True)
    ]


def mask_moves(moves: Sequence[Move], fill: int = 0) -> tuple[Move, ...]:
    """What happens to masks when `moves` happen to their images."""
    changed: list[Move] = []
    mixing: npt.NDArray[np.bool_] | None = None
    fill &= 255  # of numbers of two bytes, the core asks for the rest itself
    for move in moves:
        match move:
            case PadMove():
                changed.append(replace(move, fill=(fill, fill, fill)))
            case ResizeMove():
                changed.append(replace(move, filter=_NEAREST))
            case EffectMove():
                if mixing is None:
                    mixing = np.zeros(len(move.effect), dtype=np.bool_)
                mixing |= move.effect == Effect.MIX_BEGIN
                changed.append(_mask_effects(move, mixing, pack_colour(fill, fill, fill)))
                mixing &= move.effect != Effect.MIX_END
            case _:
                changed.append(move)
    return tuple(changed)


def _move_bytes(
    masks: Sequence[npt.NDArray[np.uint8]], moves: Sequence[Move], sizes: Sizes, fill: int
) -> list[npt.NDArray[np.uint8]]:
    changed = mask_moves(moves, fill)
    after = out_sizes(changed, sizes)
    results = []
    for row, stack in enumerate(masks):
        moved = np.zeros((len(stack), after[row].height, after[row].width), dtype=np.uint8)
        for first in range(0, len(stack), 3):
            some = stack[first : first + 3]
            image: Pixels = np.zeros((*stack.shape[1:], 3), dtype=np.uint8)
            image[:, :, : len(some)] = some.transpose(1, 2, 0)
            done = np.asarray(run_moves(PIL.Image.fromarray(image), changed, row))
            moved[first : first + 3] = done.transpose(2, 0, 1)[: len(some)]
        results.append(moved)
    return results


def _mask_effects(move: EffectMove, mixing: npt.NDArray[np.bool_], colour: int) -> EffectMove:
    effect, numbers = np.full_like(move.effect, Effect.NONE), move.numbers.copy()
    for kind in WARPS:
        rows = (move.effect == kind) & ~mixing
        effect[rows] = kind
        numbers[rows, place_of(kind, "filter")] = _NEAREST
        numbers[rows, place_of(kind, "fill")] = colour
    return EffectMove(effect, numbers, move.height, move.width)
