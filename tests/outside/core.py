"""Runs drawn moves on single arrays in the native core, as the loader does on batches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from penstock._core import Engine, Status
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.transforms.moves import Move

Pixels = npt.NDArray[np.uint8]

_WAIT_S = 60.0


def run_on_core(pixels: Pixels, moves: Sequence[Move]) -> Pixels:
    """An HxWx3 array after the moves of a batch of one."""
    height, width, _ = pixels.shape
    steps = lower(moves, Sizes(np.array([height]), np.array([width])))
    after = steps.out_sizes[0]
    result = np.empty((after.height, after.width, 3), dtype=np.uint8)
    part = _engine().begin(0, 1)
    part.set_pixels(0, np.ascontiguousarray(pixels))
    part.run_to_arrays(np.zeros(1, dtype=np.int32), steps.programs(), [result])
    assert part.wait(_WAIT_S)
    assert part.status[0] == Status.OK, part.message(0)
    return result


@cache
def _engine() -> Engine:
    return Engine(workers=1, readers=1)
