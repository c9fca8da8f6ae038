"""Runs moves on the images of a batch in the native core, from arrays to arrays."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from penstock._core import Engine, Status
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.transforms.moves import Move


def run_natively(images: Sequence[np.ndarray], moves: Sequence[Move]) -> list[np.ndarray]:
    """HxWx3 arrays after the moves, which have a row for each."""
    sizes = Sizes(*np.array([image.shape[:2] for image in images], dtype=np.int64).T)
    steps = lower(moves, sizes)
    after = zip(steps.out_sizes.height.tolist(), steps.out_sizes.width.tolist(), strict=True)
    results = [np.empty((height, width, 3), np.uint8) for height, width in after]
    part = _engine().begin(0, len(images))
    for position, image in enumerate(images):
        part.set_pixels(position, np.ascontiguousarray(image))
    part.run_to_arrays(np.arange(len(images), dtype=np.int32), steps.programs(), results)
    assert part.wait(60)
    assert (part.status == Status.OK).all(), part.message(0)
    return results


@cache
def _engine() -> Engine:
    return Engine(1, 1)
