"""An array to everybody, whose values nobody has computed yet: what is remembered of it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from penstock.deferring.array_base import ArrayBase, settled
from penstock.deferring.array_index import Strides, axes_after, ordered_strides, read_index
from penstock.deferring.array_operators import operators
from penstock.deferring.chain import Chain
from penstock.deferring.family import as_it_is
from penstock.deferring.values import (
    Values,
    calculated,
    calculated_in_place,
    clipped,
    read_operand,
)

_MOVED = {"hwc": "chw", "chw": "hwc"}


class DeferredArray(ArrayBase):
    """An RGB or gray image, or a part of it, as bytes or floats.

    `axes` are "hwc", "chw" or "hw" for gray; of three channels, red or blue comes first.
    """

    __slots__ = ()

    # ---- how it is made ----

    @staticmethod
    def of_chain(
        chain: Chain,
        values: Values,
        *,
        blue_first: bool = False,
        axes: str = "hwc",
        is_fixed: bool = False,
    ) -> DeferredArray:
        """An array with memory of its own; nobody may write into one that is fixed."""
        shape: tuple[int, ...] = chain.height, chain.width
        if axes == "hwc":
            shape = *shape, values.channels
        elif axes == "chw":
            shape = values.channels, *shape
        strides = ordered_strides(shape, values.dtype.itemsize)
        return _made(chain, values, blue_first, axes, shape, strides, is_fixed)

    def with_chain(self, chain: Chain) -> DeferredArray:
        """The same of other pixels, in memory of its own."""
        return DeferredArray.of_chain(
            chain, self._values, blue_first=self._blue_first, axes=self._axes
        )

    def with_values(self, values: Values) -> DeferredArray:
        """The same with other values, in memory that has the order of this one's."""
        axes = self._axes
        is_ordered = self.memory_axes == axes
        made = DeferredArray.of_chain(
            self._chain,
            values,
            blue_first=self._blue_first,
            axes=axes if is_ordered else _MOVED[axes],
        )
        return made if is_ordered else made.moved()

    def turned(self) -> DeferredArray:
        """The same with its channels in the opposite order, in memory of its own."""
        return DeferredArray.of_chain(
            self._chain,
            self._values.turned(),
            blue_first=not self._blue_first,
            axes=self._axes,
        )

    def again(self) -> DeferredArray:
        """The same in other memory."""
        return self.with_chain(self._chain)

    def recipe(self) -> Callable[[], DeferredArray]:
        """How to make the same in other memory, later."""
        return partial(
            DeferredArray.of_chain,
            self._chain,
            self._values,
            blue_first=self._blue_first,
            axes=self._axes,
            is_fixed=self._is_fixed,
        )

    @property
    def memory_axes(self) -> str:
        """The axes from the outermost to the innermost, in memory."""
        if self._values.channels == 1:
            return self._axes
        first, _, last = self._strides
        is_ordered = abs(first) > abs(last)
        return self._axes if is_ordered else _MOVED[self._axes]

    @property
    def is_dense(self) -> bool:
        """Whether it is in some order of its axes."""
        order = [self._axes.index(axis) for axis in self.memory_axes]
        shape = tuple(self._shape[axis] for axis in order)
        strides = tuple(self._strides[axis] for axis in order)
        return strides == ordered_strides(shape, self._values.dtype.itemsize)

    def moved(self) -> DeferredArray:
        """The view with channels last instead of first, or the other way around."""
        order = (2, 0, 1) if self._axes == "hwc" else (1, 2, 0)
        view = _made(
            self._chain,
            self._values,
            self._blue_first,
            _MOVED[self._axes],
            tuple(self._shape[axis] for axis in order),
            tuple(self._strides[axis] for axis in order),
            self._is_fixed,
        )
        view.join(self, lambda values: values.transpose(order))
        return view

    def part(self, key: Any) -> DeferredArray | None:
        """The view that an index gives; None for what cannot be remembered."""
        axes = axes_after(key) if self._axes == "hw" else ""
        if axes:
            return self._with_one_channel(key, axes)
        found = read_index(key, self._axes, self._shape, self._strides)
        if found is None:
            return None
        view = _made(
            found.chain_of(self._chain),
            self._values.turned() if found.is_turned else self._values,
            self._blue_first ^ found.is_turned,
            self._axes,
            found.shape,
            found.strides,
            self._is_fixed,
        )
        view.join(self, operator.itemgetter(key))
        return view

    def _with_one_channel(self, key: Any, axes: str) -> DeferredArray:
        """The view of a gray image with an axis for its channel, first or last."""
        is_first = axes == "chw"
        shape = (1, *self._shape) if is_first else (*self._shape, 1)
        strides = (0, *self._strides) if is_first else (*self._strides, 0)
        view = _made(
            self._chain, self._values, self._blue_first, axes, shape, strides, self._is_fixed
        )
        view.join(self, operator.itemgetter(key))
        return view

    # ---- what is remembered ----

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's name)
        """Gray images and others turned over, at once."""
        return self.values().T

    def __getitem__(self, key: Any) -> Any:
        found = self.part(key) if self._had is None else None
        return self.values()[settled(key)] if found is None else found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values()[settled(key)] = settled(value)

    def transpose(self, *axes: Any) -> Any:
        """Remember that channels go first or last."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        if self._had is None and self._axes in _MOVED and _is_move(self._axes, order):
            return self.moved()
        return self.values().transpose(*axes)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Remember another type of numbers."""
        is_plain = self._had is None and not args and not kwargs.keys() - {"copy"}
        wanted = _dtype_of(dtype) if is_plain else None
        if wanted is None:
            return self.values().astype(dtype, *args, **kwargs)
        if wanted == self.dtype:
            return self.with_values(self._values) if kwargs.get("copy", True) is True else self
        values = self._values.cast(wanted)
        return self.values().astype(dtype, **kwargs) if values is None else self.with_values(values)

    def copy(self, *args: Any, **kwargs: Any) -> Any:
        """Remember a copy."""
        if self._had is not None or args or kwargs:
            return self.values().copy(*args, **kwargs)
        return self.again()

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Any:
        made = self.again() if self._had is None else self._had.copy()
        memo[id(self)] = made
        return made

    def after(self, ufunc: np.ufunc, other: Any, *, is_first: bool = True) -> Any:
        """Remember arithmetic with numbers that are the same for all pixels; None for others."""
        if self._had is not None or ufunc not in EXACT:
            return None
        operand = read_operand(other, self._axes, self._values.channels)
        if operand is None:
            return None
        name = ufunc.__name__
        values = calculated(self._values, name, ufunc, operand, is_first=is_first)
        return None if values is None else self.with_values(values)

    def within(self, least: Any, most: Any) -> Any:
        """Remember that values end at two numbers; None for others."""
        limits = [read_operand(one, "", self._values.channels) for one in (least, most)]
        if self._had is not None or None in limits:
            return None
        values = clipped(self._values, *limits)  # type: ignore[arg-type]  # none is None
        return None if values is None else self.with_values(values)

    def clip(self, *args: Any, **kwargs: Any) -> Any:
        """Remember that values end at two numbers."""
        done = self.within(*args) if len(args) == 2 and not kwargs else None
        return self.values().clip(*settled(args), **settled(kwargs)) if done is None else done

    def change(self, ufunc: np.ufunc, other: Any) -> bool:
        """Remember arithmetic in place; false if that cannot be."""
        if self._had is not None or self._is_fixed or not self.is_alone:
            return False
        operand = read_operand(other, self._axes, self._values.channels)
        values = None if operand is None else calculated_in_place(self._values, ufunc, operand)
        if values is None or values.dtype != self.dtype:
            return False
        self.leave_family()
        self._values = values
        return True

    # ---- functions of NumPy's ----

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs and len(inputs) == 2:
            left, right = inputs
            done = None
            if isinstance(left, DeferredArray) and not isinstance(right, DeferredArray):
                done = left.after(ufunc, right)
            elif isinstance(right, DeferredArray) and not isinstance(left, DeferredArray):
                done = right.after(ufunc, left, is_first=False)
            if done is not None:
                return done
        return getattr(ufunc, method)(*settled(inputs), **settled(kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from penstock.deferring.array_functions import REMEMBERED

        remembered = REMEMBERED.get(func)
        if remembered is not None:
            done = remembered(*args, **kwargs)
            if done is not None:
                return done
        return func(*settled(args), **settled(kwargs))


EXACT = frozenset([np.add, np.subtract, np.multiply, np.divide])  # the same in any order and place


def _made(
    chain: Chain,
    values: Values,
    blue_first: bool,
    axes: str,
    shape: tuple[int, ...],
    strides: Strides,
    is_fixed: bool,
) -> DeferredArray:
    made = DeferredArray()
    put = object.__setattr__
    put(made, "_chain", chain)
    put(made, "_values", values)
    put(made, "_blue_first", blue_first)
    put(made, "_axes", axes)
    put(made, "_shape", shape)
    put(made, "_strides", strides)
    put(made, "_is_fixed", is_fixed)
    put(made, "_had", None)
    put(made, "_family", None)
    put(made, "_view", as_it_is)
    return made


def _is_move(axes: str, order: Any) -> bool:
    return tuple(order) == ((2, 0, 1) if axes == "hwc" else (1, 2, 0))


def _dtype_of(given: Any) -> Any:
    try:
        return np.dtype(given)
    except TypeError:
        return None


for _name, _method in operators().items():
    setattr(DeferredArray, _name, _method)
