"""Views of one sample: what they need of it together, and which of them share what is decoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import ALONE, StepColumn
from penstock.geometry import Bools, Ints, Sizes
from penstock.planner.draft import Moves
from penstock.planner.lower import Regions, Steps, largest_scale, regions_of
from penstock.planner.plan import Segment
from penstock.rng import Draws, JoinedDraws
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import Move, out_sizes

# What it costs to read the codes of a JPEG's pixel, when making the pixel from them costs 1.
# The codes can only be read from the top on, so a region costs those of all rows above its end.
_READ_CODES = 3


@dataclass(frozen=True, slots=True)
class ViewSteps:
    """The lowered moves of a batch, of which every sample has several views."""

    views: tuple[Steps, ...]

    def pick(self, samples: Bools | Ints) -> ViewSteps:
        """The steps of some of the samples, by a mask or by rows."""
        return ViewSteps(tuple(view.pick(samples) for view in self.views))

    def regions(self, sizes: Sizes) -> Regions:
        """What all views together read of images of `sizes`."""
        each = self.each_region(sizes)
        return Regions(
            each.top.min(axis=0),
            each.left.min(axis=0),
            each.bottom.max(axis=0),
            each.right.max(axis=0),
            max((largest_scale(view.table[:, 0]) for view in self.views), default=1),
        )

    def each_region(self, sizes: Sizes) -> Regions:
        """What each view reads of them: (views, samples)."""
        count = len(self.views)
        first = np.concatenate([view.table[:, 0] for view in self.views])
        together = regions_of(first, repeat_sizes(sizes, count))
        top, left, bottom, right = (side.reshape(count, -1) for side in together.sides)
        return Regions(top, left, bottom, right)


def draw_equal(
    segments: Sequence[Segment], before: Moves, key: tuple[int, int, Ints], sizes: Sizes
) -> tuple[Moves, tuple[EffectMove, ...]]:
    """Draw segments that differ only in their streams, as one batch of the samples of each in turn.

    `key` is seed, epoch and samples. Returns the moves, those `before` them included, and what is
    done to the finished images.
    """
    count = len(segments)
    moves = tuple(_repeat(move, count) for move in before)
    sizes = out_sizes(moves, repeat_sizes(sizes, count))
    for nodes in zip(*(segment.ops for segment in segments), strict=True):
        draws = JoinedDraws([Draws(*key, node.stream) for node in nodes])
        drawn = nodes[0].op.sample(draws, sizes)
        sizes = out_sizes(drawn, sizes)
        moves += drawn
    finishing: tuple[EffectMove, ...] = ()
    for last in zip(*(segment.finishing for segment in segments), strict=True):
        draws = JoinedDraws([Draws(*key, node.stream) for node in last])
        finishing += last[0].op.sample(draws, sizes)
    return moves, finishing


def repeat_sizes(sizes: Sizes, count: int) -> Sizes:
    """The same sizes as often as it is said, one after the other."""
    return Sizes(np.tile(sizes.height, count), np.tile(sizes.width, count))


def is_equal(one: Segment, other: Segment) -> bool:
    """Whether segments differ only in their streams."""
    return [node.op for node in one.ops] == [node.op for node in other.ops] and [
        node.op for node in one.finishing
    ] == [node.op for node in other.finishing]


def _repeat(move: Move, count: int) -> Move:
    columns: dict[str, Any] = {
        column.name: np.concatenate([values] * count)
        for column in fields(move)
        if isinstance(values := getattr(move, column.name), np.ndarray)
    }
    return replace(move, **columns)


def share(steps: ViewSteps, sizes: Sizes, is_jpeg: Bools) -> npt.NDArray[np.int32]:
    """The group that each view of each sample belongs to: (samples, views).

    The views of a group read one region, which is decoded once and contains what each of them
    needs. Decoding apart is cheaper where small regions lie far from each other in a large image.
    This changes no pixel: what is decoded of an image does not depend on what else is decoded.

    Views that are decoded at different scales never share, for they would not get the same pixels.
    """
    scales = np.stack([view.table[:, 0, StepColumn.DCT_SCALE] for view in steps.views])
    each = steps.each_region(sizes)
    groups = np.full(scales.shape, ALONE, dtype=np.int32)
    for scale in np.unique(scales).tolist():
        members = scales == scale
        apart = np.where(members, _cost(each, sizes, is_jpeg), 0).sum(axis=0)
        far = np.iinfo(np.int64).max
        together = Regions(
            np.where(members, each.top, far).min(axis=0),
            np.where(members, each.left, far).min(axis=0),
            np.where(members, each.bottom, 0).max(axis=0),
            np.where(members, each.right, 0).max(axis=0),
        )
        worth_it = (members.sum(axis=0) > 1) & (_cost(together, sizes, is_jpeg) < apart)
        groups[members & worth_it] = scale
    return np.ascontiguousarray(groups.T)


def _cost(regions: Regions, sizes: Sizes, is_jpeg: Bools) -> Ints:
    """What decoding these regions costs, in pixels made of codes that are there already."""
    return regions.area + is_jpeg * _READ_CODES * regions.bottom * sizes.width
