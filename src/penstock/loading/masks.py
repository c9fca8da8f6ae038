"""Masks of objects, which follow their image: the same moves, nearest pixel, 0 outside.

The core and Pillow work on images of three channels, so masks travel in threes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from penstock.geometry import Ints, Sizes
from penstock.transforms.effects import Effect, EffectMove
from penstock.transforms.moves import Move, PadMove, ResizeMove

Mask = npt.NDArray[np.uint8]  # (masks, height, width)
Pixels = npt.NDArray[np.uint8]  # (height, width, 3)

_NEAREST = 0
# Where an effect that moves pixels has its filter; the colour of the outside comes next.
_FILTER_COLUMN = {Effect.AFFINE: 6, Effect.PERSPECTIVE: 8, Effect.ELASTIC: 4}


@dataclass(frozen=True, slots=True)
class Threes:
    """Masks of a batch as images of three channels, and whose they are."""

    images: list[Pixels]
    owners: Ints  # the row of the batch that each image belongs to


def mask_moves(moves: Sequence[Move]) -> tuple[Move, ...]:
    """What happens to masks when `moves` happen to their images."""
    changed: list[Move] = []
    mixing: npt.NDArray[np.bool_] | None = None
    for move in moves:
        match move:
            case PadMove():
                changed.append(replace(move, fill=(0, 0, 0)))
            case ResizeMove():
                changed.append(replace(move, filter=_NEAREST))
            case EffectMove():
                if mixing is None:
                    mixing = np.zeros(len(move.effect), dtype=np.bool_)
                mixing |= move.effect == Effect.MIX_BEGIN
                changed.append(_mask_effects(move, mixing))
                mixing &= move.effect != Effect.MIX_END
            case _:
                changed.append(move)
    return tuple(changed)


def in_threes(masks: Sequence[Mask]) -> Threes:
    """Pack the masks of every sample; what is left of the last three is 0."""
    images: list[Pixels] = []
    owners: list[int] = []
    for row, stack in enumerate(masks):
        for first in range(0, len(stack), 3):
            some = stack[first : first + 3]
            image = np.zeros((*stack.shape[1:], 3), dtype=np.uint8)
            image[:, :, : len(some)] = some.transpose(1, 2, 0)
            images.append(image)
            owners.append(row)
    return Threes(images, np.array(owners, dtype=np.int64))


def out_of_threes(
    images: Sequence[Pixels], owners: Ints, counts: Sequence[int], sizes: Sizes
) -> list[Mask]:
    """Unpack what became of `in_threes`; `counts` says how many masks each sample has."""
    masks = []
    for row, count in enumerate(counts):
        size = sizes[row]
        stack = np.zeros((count, size.height, size.width), dtype=np.uint8)
        for number, place in enumerate(np.flatnonzero(owners == row).tolist()):
            here = stack[3 * number : 3 * number + 3]
            here[...] = images[place].transpose(2, 0, 1)[: len(here)]
        masks.append(stack)
    return masks


def _mask_effects(move: EffectMove, mixing: npt.NDArray[np.bool_]) -> EffectMove:
    effect, numbers = np.full_like(move.effect, Effect.NONE), move.numbers.copy()
    for kind, column in _FILTER_COLUMN.items():
        rows = (move.effect == kind) & ~mixing
        effect[rows] = kind
        numbers[rows, column : column + 2] = 0  # nearest; black
    return EffectMove(effect, numbers, move.height, move.width)
