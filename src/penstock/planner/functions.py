"""Moves crops past functions of the user's that are declared to look at single pixels."""

from __future__ import annotations

from dataclasses import replace

from penstock.geometry import Sizes
from penstock.planner.draft import Draft, Moves
from penstock.planner.plan import Segment
from penstock.planner.rules import of_fidelity
from penstock.planner.rules.rule import Fidelity, rewrite, rewrite_moves
from penstock.transforms.declared import Declared
from penstock.transforms.moves import CropMove

_TO_THE_FRONT = tuple(rule for rule in of_fidelity(Fidelity.EXACT) if not rule.last)


def lets_crops_pass(segment: Segment, following: Segment) -> bool:
    """Whether a crop that follows a segment's function may be done before it.

    Exact: a function that makes each pixel from that pixel alone makes the same of a part of the
    image as of that part in the whole. What the function draws does not depend on the image's size.
    Images that are kept for reuse are kept as they were written.
    """
    if segment.python is None or segment.kept or following.kept:
        return False
    return segment.python.op.declared == Declared.PER_PIXEL


def split_crop(moves: Moves, sizes: Sizes) -> tuple[Moves, Moves]:
    """The crop that exact rules bring to the front of moves, if there is one, and the rest."""
    planned = rewrite_moves(moves, sizes, _TO_THE_FRONT)
    if planned and isinstance(planned[0], CropMove):
        return planned[:1], planned[1:]
    return (), moves


def crop_ahead(draft: Draft, following: Draft) -> tuple[Draft, Draft]:
    """The drafts of two segments, with the crop moved from the second to the first."""
    planned = rewrite(following, _TO_THE_FRONT)[0]
    if not planned.stages or not isinstance(planned.stages[0].move, CropMove):
        return draft, following
    crop, *rest = planned.stages
    cropped = crop.move.out_sizes(following.sizes)
    return replace(draft, stages=(*draft.stages, crop)), Draft(tuple(rest), cropped)
