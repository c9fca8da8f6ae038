"""What torch makes of arrays that are not computed yet: tensors that are not, either."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch
import torch.overrides
from torch.utils import _device

from penstock.deferring.array import DeferredArray
from penstock.deferring.array_memory import fixed
from penstock.deferring.tensor import DeferredTensor, make

Function = Callable[..., Any]


def wrap_torch() -> dict[Function, Function]:
    """Wrappers for functions that make tensors of arrays."""
    # torch remembers which functions heed its default device, when it is first asked: these here.
    _device._device_constructors()  # noqa: SLF001 (there is no other way)
    torch.overrides.get_ignored_functions()
    return {
        torch.from_numpy: _wrap(torch.from_numpy, _shared),
        torch.as_tensor: _wrap(torch.as_tensor, _shared),
        torch.tensor: _wrap(torch.tensor, _copied),
    }


def _wrap(original: Function, attempt: Function) -> Function:
    @wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is DeferredArray:
            done = attempt(*args, **kwargs) if args[0].is_open else None
            return original(args[0].values(), *args[1:], **kwargs) if done is None else done
        return original(*args, **kwargs)

    return wrapper


def _shared(array: DeferredArray, dtype: Any = None, **others: Any) -> Any:
    """A tensor in the memory of an array; None if torch refuses such memory."""
    if others or min(array.strides) < 0:
        return None
    if array.is_fixed:
        _from_numpy(_FIXED)  # torch warns of such memory, once
    made = tensor_of(array)
    return made if dtype is None else made.to(dtype)


def _copied(array: DeferredArray, dtype: Any = None, **others: Any) -> Any:
    if others or min(array.strides) < 0:
        return None
    made = _made(array)
    made.memory = array.memory_axes
    return made if dtype is None else made.to(dtype)


def tensor_of(array: DeferredArray) -> Any:
    """A tensor that shares the memory of an open array."""
    made = _made(array)
    made.memory, made.is_dense = array.memory_axes, array.is_dense
    made.join(array, _from_numpy)
    return made


def _made(array: DeferredArray) -> Any:
    chain: Any = array.chain  # of an open one
    return make(DeferredTensor, chain, array.spec)


_from_numpy = torch.from_numpy  # as it is before anybody puts something else in its place
_FIXED = fixed(np.zeros(1, np.uint8))
