"""Memory for the values of arrays that are not computed yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from penstock._core import BatchBuffer
from penstock.deferring.array_index import Strides
from penstock.deferring.carry_out import InBatch, Job
from penstock.deferring.chain import Chain

if TYPE_CHECKING:
    from penstock.deferring.array_base import ArrayBase

Array = npt.NDArray[Any]


class Place:
    """Memory for the values of one array, and how it is filled."""

    def __init__(self, given: ArrayBase, chain: Chain) -> None:
        spec = given.spec
        self._spec = spec
        filled = spec if spec.is_native else spec.levels()
        self._array = np.empty(given.shape, filled.numpy_dtype)
        self._format = filled.format
        self._chain = chain

    def job(self) -> Job:
        """What is to be computed."""
        stored = self._array.reshape(-1).view(np.uint8)
        return Job(self._chain, InBatch(BatchBuffer.borrow(stored), 0, self._format))

    def array(self) -> Array:
        """The array, once it is computed."""
        values = self._spec.values
        if values is None or self._spec.is_native:
            return self._array
        return values.look_up(self._array, interleaved=self._spec.layout == "hwc")


class Flags:
    """What NumPy would say of an array's memory, until somebody wants that to be another one."""

    __slots__ = ("_array",)

    def __init__(self, array: ArrayBase) -> None:
        object.__setattr__(self, "_array", array)

    def _now(self) -> Any:
        array = self._array
        if not array.is_open:
            return array.values().flags
        if array.owns_memory:
            return np.empty(array.shape, array.dtype).flags
        seen = np.lib.stride_tricks.as_strided(
            np.empty(1, array.dtype), array.shape, array.strides, writeable=not array.is_fixed
        )
        return seen.flags

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._array.values().flags, name, value)

    def __getitem__(self, name: str) -> Any:
        return self._now()[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._array.values().flags[name] = value

    def __repr__(self) -> str:
        return repr(self._now())


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


def fixed(values: Array) -> Array:
    """The same memory, which nobody may write into, nor be allowed to: as that of Pillow's images.

    A flag alone could be put back by whoever owns the memory.
    """
    if not values.flags.writeable:
        return values
    return np.asarray(memoryview(values).toreadonly())  # type: ignore[arg-type]  # a buffer
