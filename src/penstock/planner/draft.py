"""The planner's intermediate form: a draft of what is done to the pixels of a batch.

A stage is a move that was drawn, with the streams of the ops that drew it. What a planner must know
before anything runs can be read from it: the size of every image before and after, the element type
(uint8, until the final pass turns values into the user's), which pixels a result is made of, and
what else follows the move. Where sizes are random, a probe of many samples stands for them: each
row of a draft is one sample with its own sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from penstock._core import Effect, Element
from penstock.errors import PlanError
from penstock.geometry import Bools, Size, Sizes
from penstock.planner.access import Access, accesses
from penstock.transforms.effects import WARPS, EffectMove
from penstock.transforms.moves import CropMove, Move, PadMove

Moves = tuple[Move, ...]

IMAGE = frozenset({"image"})
EVERYTHING = frozenset({"image", "boxes", "keypoints", "masks"})


@dataclass(frozen=True, slots=True)
class Stage:
    """One move of a batch, and where it comes from."""

    move: Move
    streams: frozenset[int]  # of the ops whose draws are in it: their places in the user's list

    @property
    def access(self) -> frozenset[Access]:
        """Which pixels a pixel of the result is made of; several kinds if samples differ."""
        return accesses(self.move)

    @property
    def follows(self) -> frozenset[str]:
        """What the move reads and writes when it is done as written.

        Boxes, keypoints and masks follow what was written and not what was planned.
        """
        move = self.move
        if isinstance(move, EffectMove) and not np.isin(move.effect, WARPS).any():
            return IMAGE
        return EVERYTHING

    @property
    def element(self) -> Element:
        """The element type of the result."""
        return Element.UINT8


@dataclass(frozen=True, slots=True)
class Draft:
    """The stages of a batch whose images have `sizes` before the first."""

    stages: tuple[Stage, ...]
    sizes: Sizes

    @property
    def moves(self) -> Moves:
        """What is done, without where it comes from."""
        return tuple(stage.move for stage in self.stages)

    def sizes_along(self) -> list[Sizes]:
        """The sizes before each stage, and after the last."""
        along = [self.sizes]
        for stage in self.stages:
            along.append(stage.move.out_sizes(along[-1]))
        return along


class _Fault(NamedTuple):
    row: int
    says: str


def verify(planned: Draft, written: Draft) -> None:
    """Raise PlanError unless every stage fits the one before it, and the end is the one written."""
    along = planned.sizes_along()
    for position, (stage, sizes) in enumerate(zip(planned.stages, along, strict=False)):
        fault = _fault_of(stage.move, sizes)
        if fault is not None:
            raise _broken(f"stage {position + 1}, {_name(stage.move)}: {fault.says}", fault.row)
    end, wanted = along[-1], written.sizes_along()[-1]
    row = _first((end.height != wanted.height) | (end.width != wanted.width))
    if row is not None:
        raise _broken(f"it ends with {end[row]}, what was written with {wanted[row]}", row)
    drawn = _streams(written)
    if not _streams(planned) <= drawn:
        foreign = sorted(_streams(planned) - drawn)
        raise _broken(f"it has draws of streams {foreign} that nobody wrote", 0)


def _fault_of(move: Move, sizes: Sizes) -> _Fault | None:
    match move:
        case CropMove():
            return _outside(move, sizes)
        case PadMove():
            least = np.minimum.reduce([move.left, move.top, move.right, move.bottom])
            row = _first(least < 0)
            return None if row is None else _Fault(row, "a border is negative")
        case EffectMove():
            stays = ~np.isin(move.effect, WARPS) | move.does(Effect.ELASTIC)
            row = _first(stays & ((move.height != sizes.height) | (move.width != sizes.width)))
            if row is not None:
                wanted = Size(int(move.height[row]), int(move.width[row]))
                return _Fault(row, f"it keeps sizes, but got {sizes[row]} for {wanted}")
    after = move.out_sizes(sizes)
    row = _first((after.height < 1) | (after.width < 1))
    return None if row is None else _Fault(row, f"nothing is left: {after[row]}")


def _outside(crop: CropMove, sizes: Sizes) -> _Fault | None:
    row = _first(
        (np.minimum(crop.top, crop.left) < 0)
        | (np.minimum(crop.height, crop.width) < 1)
        | (crop.top + crop.height > sizes.height)
        | (crop.left + crop.width > sizes.width)
    )
    if row is None:
        return None
    box = Size(int(crop.height[row]), int(crop.width[row]))
    at = f"({int(crop.top[row])}, {int(crop.left[row])})"
    return _Fault(row, f"a box of {box} at {at} does not lie in {sizes[row]}")


def _first(rows: Bools) -> int | None:
    found = np.flatnonzero(rows)
    return int(found[0]) if len(found) else None


def _streams(draft: Draft) -> frozenset[int]:
    return frozenset().union(*(stage.streams for stage in draft.stages))


def _name(move: Move) -> str:
    return type(move).__name__.removesuffix("Move").lower()


def _broken(what: str, row: int) -> PlanError:
    return PlanError(
        f"Planner: a plan does not hold for sample {row} of the batch: {what}. "
        "Please report the pipeline; Loader(plan=False) does without the planner."
    )


def replace_stages(draft: Draft, position: int, count: int, moves: Sequence[Move]) -> Draft:
    """The draft with `count` stages from `position` on replaced by `moves`."""
    replaced = draft.stages[position : position + count]
    stages = [
        Stage(move, streams)
        for move, streams in zip(moves, _streams_of(moves, replaced), strict=True)
    ]
    after = draft.stages[position + count :]
    return replace(draft, stages=(*draft.stages[:position], *stages, *after))


def _streams_of(moves: Sequence[Move], replaced: Sequence[Stage]) -> list[frozenset[int]]:
    """Whose draws are in `moves`, which take the place of `replaced`.

    A move that was there before keeps its streams. The others stand for what is gone: as many of a
    type as are gone, one for one; more or fewer, each for those that do what it does. What is gone
    without a move of its type is in the last new warp, as a crop that it does too; or in the last
    new move.
    """
    everything = frozenset[int]().union(*(stage.streams for stage in replaced))
    if not everything:  # batches are planned without streams, which are for people
        return [everything] * len(moves)
    kept = {id(stage.move): stage.streams for stage in replaced}
    stays = {id(move) for move in moves}
    gone = [stage for stage in replaced if id(stage.move) not in stays]
    new = [move for move in moves if id(move) not in kept]
    found = dict(kept)
    for move in new:
        alike = [stage for stage in gone if type(stage.move) is type(move)]
        peers = [other for other in new if type(other) is type(move)]
        if len(alike) == len(peers):
            place = next(place for place, other in enumerate(peers) if other is move)
            sources: Sequence[Stage] = [alike[place]]
        else:
            does = _deeds(move)
            sources = [stage for stage in alike if _deeds(stage.move) & does] or alike or replaced
        found[id(move)] = frozenset().union(*(stage.streams for stage in sources))
    types = {type(move) for move in new}
    if new:
        lost = [stage.streams for stage in gone if type(stage.move) not in types]
        doer = ([move for move in new if Access.GATHER in accesses(move)] or new)[-1]
        found[id(doer)] = found[id(doer)].union(*lost)
    return [found[id(move)] for move in moves]


def _deeds(move: Move) -> frozenset[object]:
    """What a move does: its effects, which differ by sample, or else its type."""
    if isinstance(move, EffectMove):
        return frozenset(np.unique(move.effect[move.acts]).tolist())
    return frozenset({type(move)})
