"""Functions of NumPy's on arrays that are not computed yet: those that move pixels, or copy."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from penstock.deferring.array import DeferredArray
from penstock.deferring.counts import may_defer_arrays
from penstock.deferring.image import DeferredImage
from penstock.deferring.values import levels_as
from penstock.transforms.functional.native.memory import CHANNELS

Function = Callable[..., Any]

_ALL = slice(None)
_BACKWARDS = slice(None, None, -1)
_COLOURED = 3  # axes


def _flip(m: Any, axis: Any = None) -> Any:
    if not isinstance(m, DeferredArray):
        return None
    wanted = range(m.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if any(type(one) is not int or not -m.ndim <= one < m.ndim for one in wanted):
        return None
    places = {one % m.ndim for one in wanted}
    return m[tuple(_BACKWARDS if place in places else _ALL for place in range(m.ndim))]


def _fliplr(m: Any) -> Any:
    return m[:, ::-1]


def _flipud(m: Any) -> Any:
    return m[::-1]


def _rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    is_half = isinstance(m, DeferredArray) and type(k) is int and k % 4 == 2
    return m[::-1, ::-1] if is_half and tuple(axes) == (0, 1) and m.axes[:2] == "hw" else None


def _transpose(a: Any, axes: Any = None) -> Any:
    is_known = isinstance(a, DeferredArray) and isinstance(axes, (list, tuple))
    return a.transpose(axes) if is_known else None


def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    if not isinstance(a, DeferredArray) or a.ndim != _COLOURED:
        return None
    pair = source, destination
    if a.axes == "hwc" and pair in ((-1, 0), (2, 0)):
        return a.transpose(2, 0, 1)
    if a.axes == "chw" and pair in ((0, -1), (0, 2)):
        return a.transpose(1, 2, 0)
    return None


def _copy(a: Any, order: Any = "K", subok: Any = False) -> Any:
    is_known = isinstance(a, DeferredArray) and a.is_open and order == "K" and not subok
    return a.astype(a.dtype) if is_known else None


def _atleast_3d(*arys: Any) -> Any:
    is_one = len(arys) == 1 and arys[0].ndim == _COLOURED
    return arys[0] if is_one else None


def _expand_dims(a: Any, axis: Any) -> Any:
    if not isinstance(a, DeferredArray) or type(axis) is not int:
        return None
    if axis == 0:
        return a[None]
    return a[..., None] if axis in (-1, a.ndim) else None


def _rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    return _moveaxis(a, axis, start)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, **others: Any) -> Any:
    return None if others or not isinstance(a, DeferredArray) else a.within(a_min, a_max)


REMEMBERED: dict[Any, Function] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else None,
    np.flip: _flip,
    np.fliplr: _fliplr,
    np.flipud: _flipud,
    np.rot90: _rot90,
    np.transpose: _transpose,
    np.moveaxis: _moveaxis,
    np.copy: _copy,
    np.atleast_3d: _atleast_3d,
    np.expand_dims: _expand_dims,
    np.rollaxis: _rollaxis,
    np.clip: _clip,
}


# ---- functions that ask for memory without asking us ----


def wrap_numpy() -> dict[Function, Function]:
    """Wrappers for functions that make arrays of anything."""
    return {
        np.array: _wrap(np.array, _array),
        np.asarray: _wrap(np.asarray, _asarray),
        np.ascontiguousarray: _wrap(np.ascontiguousarray, _ascontiguousarray),
    }


def _wrap(original: Function, attempt: Function) -> Function:
    @wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        kind = type(args[0]) if args else None
        if kind is DeferredArray:
            done = attempt(*args, **kwargs) if args[0].is_open else None
            return original(args[0].values(), *args[1:], **kwargs) if done is None else done
        if kind is DeferredImage and may_defer_arrays():
            seen = _seen_as_array(args[0])
            done = None if seen is None else attempt(seen, *args[1:], **kwargs)
            if done is not None:
                args[0].load()  # as Pillow has by then
                return done
        return original(*args, **kwargs)

    return wrapper


def _seen_as_array(image: DeferredImage) -> DeferredArray | None:
    """An image as an array, whose memory is Pillow's: nobody may write into it."""
    chain = image.chain
    if chain is None or image.mode not in CHANNELS:
        return None
    channels = CHANNELS[image.mode]
    axes = "hw" if channels == 1 else "hwc"
    return DeferredArray.of_chain(chain, levels_as(channels), axes=axes, is_fixed=True)


def _array(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    if kwargs.keys() - {"copy"}:
        return None
    if kwargs.get("copy", True) is not True:
        return _asarray(a, dtype) if kwargs["copy"] is None else None
    return a.astype(a.dtype if dtype is None else dtype)


def _asarray(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    if kwargs:
        return None
    return a if dtype is None else a.astype(dtype, copy=False)


def _ascontiguousarray(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    made = _asarray(a, dtype, **kwargs)
    if not isinstance(made, DeferredArray) or not made.is_open:
        return made
    return made if made.is_ordered else made.copy()
