"""Memory for the values of arrays that are not computed yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from penstock._core import BatchBuffer
from penstock.deferring.array_index import Strides
from penstock.deferring.carry_out import InBatch, Job

if TYPE_CHECKING:
    from penstock.deferring.array_base import ArrayBase

Array = npt.NDArray[Any]


class Place:
    """Memory for the values of one array, and how it is filled."""

    def __init__(self, given: ArrayBase) -> None:
        spec = given.spec
        self._values = None if spec.is_native else spec.values
        self._axes = spec.layout
        filled = spec if spec.is_native else spec.levels()
        self._array = np.empty(given.shape, filled.numpy_dtype)
        self._format = filled.format
        self._chain: Any = given.chain

    def job(self) -> Job:
        """What is to be computed."""
        stored = self._array.reshape(-1).view(np.uint8)
        return Job(self._chain, InBatch(BatchBuffer.borrow(stored), 0, self._format))

    def array(self) -> Array:
        """The array, once it is computed."""
        if self._values is None:
            return self._array
        axis = self._axes.find("c")
        return self._values.look_up(self._array, max(axis, 0))


def laid_out(values: Array, strides: Strides) -> Array:
    """The same values in memory of these strides, which others may have looked at."""
    if values.strides == strides:
        return values
    steps = [step * (side - 1) for step, side in zip(strides, values.shape, strict=True)]
    memory = np.empty(sum(map(abs, steps)) + values.itemsize, np.uint8)
    first = -sum(step for step in steps if step < 0)
    made: Array = np.ndarray(values.shape, values.dtype, memory, first, strides)
    made[...] = values
    return made
