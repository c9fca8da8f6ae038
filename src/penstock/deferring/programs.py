"""The programs of chains, for the core.

`lower` makes those of many chains together, and takes as long for one of them. Most chains whose
pixels are needed at once are a crop, a resize, another crop and a mirror, or some of these: that is
one step of the core's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from penstock._core import Programs, StepColumn, Weights
from penstock.deferring.chain import Chain, Crop, Flip, JpegFile, Resize
from penstock.deferring.chain_moves import moves_of
from penstock.geometry import Size, Sizes
from penstock.pillow_order import vertical_first_for
from penstock.planner.lower import NO_RESIZE, lower
from penstock.transforms.effects import no_numbers

_LUMA_ALONE = 2  # as the core calls it


def programs_of(chains: Sequence[Chain]) -> Programs:
    """What the core does for chains, in their order."""
    if len(chains) == 1:
        row = _one_step(chains[0])
        if row is not None:
            row[StepColumn.GRAY] = _LUMA_ALONE * _has_luma_alone(chains[0])
            return Programs(np.array([[row]], dtype=np.int32), *_nothing_else())
    heights, widths = np.array([chain.source_size for chain in chains], dtype=np.int64).T
    sizes = Sizes(heights, widths)
    steps = lower(moves_of(chains, sizes), sizes)
    luma = [_has_luma_alone(chain) for chain in chains]
    if any(luma):
        steps.table[luma, 0, StepColumn.GRAY] = _LUMA_ALONE
    return steps.programs()


def _has_luma_alone(chain: Chain) -> bool:
    return isinstance(chain.source, JpegFile) and chain.source.luma_alone


@cache
def _nothing_else() -> tuple[Any, ...]:
    """The count of its steps, and no effects."""
    one = np.ones(1, dtype=np.int32)
    return one, np.zeros((0, 6), dtype=np.int32), no_numbers(0), np.zeros(1, dtype=np.int32)


class _Box(NamedTuple):
    """A part of an image."""

    top: int
    left: int
    height: int
    width: int

    def part(self, crop: Crop) -> _Box:
        """A crop of it."""
        return _Box(self.top + crop.top, self.left + crop.left, crop.height, crop.width)


def _one_step(chain: Chain) -> list[int] | None:
    """The fields of the only step; None if there have to be more, or effects."""
    box = _Box(0, 0, *chain.source_size)
    resized: Resize | None = None
    window: _Box | None = None  # of the resized image
    flip = Flip(horizontal=False, vertical=False)
    for step in chain.steps:
        if flip.horizontal or flip.vertical:
            return None  # of what follows a mirror, `lower` knows more
        match step:
            case Flip():
                flip = step
            case Crop() if window is not None:
                window = window.part(step)
            case Crop():
                box = box.part(step)
            case Resize() if (step.height, step.width) == (window or box)[2:]:
                pass
            case Resize() if resized is None:
                resized, window = step, _Box(0, 0, step.height, step.width)
            case _:
                return None
    return _fields(box, resized, window or _Box(0, 0, box.height, box.width), flip)


def _fields(box: _Box, resized: Resize | None, window: _Box, flip: Flip) -> list[int]:
    row = [0] * len(StepColumn)
    row[StepColumn.CROP_TOP : StepColumn.CROP_WIDTH + 1] = box
    row[StepColumn.WINDOW_TOP : StepColumn.WINDOW_WIDTH + 1] = window
    row[StepColumn.FLIP_HORIZONTAL] = int(flip.horizontal)
    row[StepColumn.FLIP_VERTICAL] = int(flip.vertical)
    row[StepColumn.DCT_SCALE] = 1
    if resized is None:
        row[StepColumn.RESIZE_HEIGHT], row[StepColumn.RESIZE_WIDTH] = box.height, box.width
        row[StepColumn.FILTER] = NO_RESIZE
        return row
    row[StepColumn.RESIZE_HEIGHT], row[StepColumn.RESIZE_WIDTH] = resized.height, resized.width
    row[StepColumn.FILTER], row[StepColumn.WEIGHTS] = resized.filter, resized.weights
    if resized.weights == Weights.PILLOW:
        order = vertical_first_for(Size(*box[2:]), Size(resized.height, resized.width))
        row[StepColumn.VERTICAL_FIRST] = int(order)
    return row
