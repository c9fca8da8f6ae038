"""What one of ours costs in the core, to set beside what a call of somebody else's costs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from penstock._core import Engine
from penstock.errors import PenstockError
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.rng import Draws
from penstock.transforms.moves import Move
from penstock.translation.transforms.python_steps import timed_picture

_IMAGES = 8  # whose draws differ
_RUNS = 4
_TIMEOUT_S = 10.0


def native_microseconds(op: Any) -> float | None:
    """Return what an op takes on one thread, for one picture; None if it cannot be run alone."""
    picture = timed_picture()
    height, width = picture.shape[:2]
    sizes = Sizes(np.full(_IMAGES, height), np.full(_IMAGES, width))
    try:
        moves = op.sample(Draws(0, 0, np.arange(_IMAGES), 0), sizes)
        chunk = Engine(1, 1).begin(0, _IMAGES)
        for item in range(_IMAGES):
            chunk.set_pixels(item, picture)
        return max(1.0, _least(chunk, moves, sizes) - _least(chunk, (), sizes))
    except PenstockError:
        return None


def _least(chunk: Any, moves: tuple[Move, ...], sizes: Sizes) -> float:
    steps = lower(moves, sizes)
    out = zip(steps.out_sizes.height.tolist(), steps.out_sizes.width.tolist(), strict=True)
    arrays = [np.empty((height, width, 3), np.uint8) for height, width in out]
    items = np.arange(len(arrays), dtype=np.int32)
    times = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        chunk.run_to_arrays(items, steps.programs(), arrays)
        chunk.wait(_TIMEOUT_S)
        times.append(time.perf_counter() - started)
    return min(times) / len(arrays) * 1e6
