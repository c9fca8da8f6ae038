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
from penstock.deferring.chain import Chain, Crop, Flip, Resize
from penstock.deferring.chain_moves import moves_of
from penstock.geometry import Size, Sizes
from penstock.pillow_order import vertical_first_for
from penstock.planner.lower import NO_RESIZE, lower
from penstock.transforms.effects import no_numbers


def programs_of(chains: Sequence[Chain]) -> Programs:
    """What the core does for chains, in their order."""
    if len(chains) == 1:
        row = _one_step(chains[0])
        if row is not None:
            return Programs(np.array([[row]], dtype=np.int32), *_nothing_else())
    heights, widths = np.array([chain.source_size for chain in chains], dtype=np.int64).T
    sizes = Sizes(heights, widths)
    return lower(moves_of(chains, sizes), sizes).programs()


@cache
def _nothing_else() -> tuple[Any, ...]:
    """The count of its steps, and no effects."""
    one = np.ones(1, dtype=np.int32)
    return one, np.zeros((0, 6), dtype=np.int32), no_numbers(0), np.zeros(1, dtype=np.int32)


class _Read(NamedTuple):
    """A crop, a resize, a window of its result and a mirror."""

    crop: Crop
    resized: Resize | None
    window: Crop
    flip: Flip


def _read(chain: Chain) -> _Read | None:
    """The only step; None if there have to be more, or effects."""
    top, left = 0, 0
    height, width = chain.source_size
    resized: Resize | None = None
    window_top, window_left, window_height, window_width = 0, 0, height, width
    flip = Flip(horizontal=False, vertical=False)
    for step in chain.steps:
        if flip.horizontal or flip.vertical:
            return None  # of what follows a mirror, `lower` knows more
        if isinstance(step, Crop):
            if resized is None:
                top, left = top + step.top, left + step.left
                height, width = step.height, step.width
            else:
                window_top, window_left = window_top + step.top, window_left + step.left
            window_height, window_width = step.height, step.width
        elif isinstance(step, Resize):
            if (step.height, step.width) == (window_height, window_width):
                continue
            if resized is not None:
                return None
            resized = step
            window_height, window_width = step.height, step.width
        elif isinstance(step, Flip):
            flip = step
        else:
            return None
    window = Crop(window_top, window_left, window_height, window_width)
    return _Read(Crop(top, left, height, width), resized, window, flip)


def _one_step(chain: Chain) -> list[int] | None:
    """The fields of the only step, if there is only one."""
    found = _read(chain)
    if found is None:
        return None
    (_, _, height, width), resized, _, flip = found
    row = [0] * len(StepColumn)
    row[StepColumn.CROP_TOP : StepColumn.CROP_WIDTH + 1] = found.crop
    row[StepColumn.WINDOW_TOP : StepColumn.WINDOW_WIDTH + 1] = found.window
    row[StepColumn.FLIP_HORIZONTAL] = int(flip.horizontal)
    row[StepColumn.FLIP_VERTICAL] = int(flip.vertical)
    row[StepColumn.DCT_SCALE] = 1
    if resized is None:
        row[StepColumn.RESIZE_HEIGHT], row[StepColumn.RESIZE_WIDTH] = height, width
        row[StepColumn.FILTER] = NO_RESIZE
        return row
    row[StepColumn.RESIZE_HEIGHT], row[StepColumn.RESIZE_WIDTH] = resized.height, resized.width
    row[StepColumn.FILTER], row[StepColumn.WEIGHTS] = resized.filter, resized.weights
    if resized.weights == Weights.PILLOW:
        order = vertical_first_for(Size(height, width), Size(resized.height, resized.width))
        row[StepColumn.VERTICAL_FIRST] = int(order)
    return row
