"""An array to everybody, whose values nobody has computed yet.

It is no array of NumPy's: there is no memory that others could read by mistake. Code in C asks it
for one, by the protocols that NumPy has for that, and gets the values, computed then; or refuses
it, and then the batch is asked for again with ordinary images.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.deferring.array_index import Strides, ordered_strides, read_index
from penstock.deferring.array_memory import Place, laid_out
from penstock.deferring.array_operators import operators
from penstock.deferring.carry_out import carry_out
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here, note_early
from penstock.deferring.family import Member, as_it_is
from penstock.deferring.spec import Spec
from penstock.deferring.values import (
    FLOATS,
    Values,
    calculated,
    calculated_in_place,
    is_levels,
    read_operand,
)

Array = npt.NDArray[Any]

_BYTES = np.dtype(np.uint8)
_OURS = frozenset(
    {"_chain", "_values", "_blue_first", "_axes", "_shape", "_strides", "_had", "_family", "_view"}
)
_MOVED = {"hwc": "chw", "chw": "hwc"}


class DeferredArray(Member):
    """An RGB or gray image, or a part of it, as bytes or floats.

    `axes` are "hwc", "chw" or "hw" for gray; of three channels, red or blue comes first.
    """

    __slots__ = (*sorted(_OURS), "__weakref__")

    _chain: Chain
    _values: Values
    _blue_first: bool
    _axes: str
    _shape: tuple[int, ...]
    _strides: Strides
    _had: Array | None

    # ---- how it is made ----

    @staticmethod
    def of_chain(
        chain: Chain, values: Values, *, blue_first: bool = False, axes: str = "hwc"
    ) -> DeferredArray:
        """An array with memory of its own."""
        shape: tuple[int, ...] = chain.height, chain.width
        if axes == "hwc":
            shape = *shape, values.channels
        elif axes == "chw":
            shape = values.channels, *shape
        strides = ordered_strides(shape, values.dtype.itemsize)
        return _made(chain, values, blue_first, axes, shape, strides)

    @property  # type: ignore[misc]  # nobody gives it another one
    def __class__(self) -> Any:
        return np.ndarray

    @property
    def chain(self) -> Chain | None:
        """How its levels are made, unless somebody has had its values."""
        return self._chain if self._had is None else None

    @property
    def is_open(self) -> bool:
        """Whether nobody has had its values yet."""
        return self._had is None

    @property
    def axes(self) -> str:
        """What its axes are."""
        return self._axes

    @property
    def spec(self) -> Spec:
        """How its values are made of the levels."""
        values = None if is_levels(self._values) else self._values
        return Spec(
            channels=self._values.channels,
            values=values,
            blue_first=self._blue_first,
            layout=self._axes,
        )

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
    def is_ordered(self) -> bool:
        """Whether its memory is that of a new array."""
        return self._strides == ordered_strides(self._shape, self._values.dtype.itemsize)

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
        )
        view.join(self, lambda values: values.transpose(order))
        return view

    def part(self, key: Any) -> DeferredArray | None:
        """The view that an index gives; None for what cannot be remembered."""
        if key is None and self._axes == "hw":
            return self._with_one_channel()
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
        )
        view.join(self, operator.itemgetter(key))
        return view

    def _with_one_channel(self) -> DeferredArray:
        """The view of a gray image with an axis for its channel."""
        shape, strides = (1, *self._shape), (0, *self._strides)
        view = _made(self._chain, self._values, self._blue_first, "chw", shape, strides)
        view.join(self, operator.itemgetter(None))
        return view

    # ---- its values ----

    def values(self) -> Array:
        """The array itself, computed now at the latest."""
        if self._had is None:
            note_early()
            try:
                if self._family is None or self._family.is_alone:
                    self.settle(laid_out(self.computed(), self._strides))
                else:
                    self._family.settle()
            except Exception as error:
                counts = counts_here()
                if counts is not None:
                    counts.error = error  # not for the user's code to swallow unseen
                raise
        return self._had  # type: ignore[return-value]  # settled by now

    def settle(self, values: Array) -> Array:
        """Be these values from now on."""
        self._had = values
        return values

    def computed(self) -> Array:
        """The values in an array that nobody has; it stays as it is."""
        place = Place(self)
        carry_out([place.job()], threads=1)
        return place.array()

    # ---- what is known without values ----

    @property
    def shape(self) -> tuple[int, ...]:
        """As NumPy has it."""
        return self._shape if self._had is None else self._had.shape

    @property
    def dtype(self) -> Any:
        """As NumPy has it."""
        return self._values.dtype if self._had is None else self._had.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """As NumPy would have them."""
        return self._strides if self._had is None else self._had.strides

    @property
    def ndim(self) -> int:
        """As NumPy has it."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """As NumPy has it."""
        return int(np.prod(self.shape))

    @property
    def itemsize(self) -> int:
        """As NumPy has it."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """As NumPy has it."""
        return self.size * self.itemsize

    @property
    def flags(self) -> Any:
        """As NumPy would have them."""
        if self._had is not None:
            return self._had.flags
        if self._family is None and self.is_ordered:
            return np.empty(self._shape, self.dtype).flags
        blank = np.empty(1, self.dtype)
        return np.lib.stride_tricks.as_strided(blank, self._shape, self._strides).flags

    def __len__(self) -> int:
        return self.shape[0]

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
        """Remember bytes as floats."""
        is_plain = self._had is None and not args and not kwargs.keys() - {"copy"}
        wanted = _dtype_of(dtype) if is_plain else None
        if wanted is None:
            return self.values().astype(dtype, *args, **kwargs)
        if wanted == self.dtype:
            return self.with_values(self._values) if kwargs.get("copy", True) is True else self
        values = self._values.cast(wanted) if wanted in FLOATS else None
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

    def change(self, ufunc: np.ufunc, other: Any) -> bool:
        """Remember arithmetic in place; false if that cannot be."""
        if self._had is not None or not self.is_alone:
            return False
        operand = read_operand(other, self._axes, self._values.channels)
        values = None if operand is None else calculated_in_place(self._values, ufunc, operand)
        if values is None or values.dtype != self.dtype:
            return False
        self.leave_family()
        self._values = values
        return True

    # ---- everything else ----

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        had = self.values()
        if copy:
            return np.array(had, dtype)
        return had if dtype is None or dtype == had.dtype else had.astype(dtype)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.values().__array_interface__

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self.values())  # type: ignore[arg-type]  # NumPy's arrays are buffers

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

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.values().__reduce_ex__(protocol)

    def __getattr__(self, name: str) -> Any:
        if name in _OURS or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        return getattr(self.values(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OURS:
            object.__setattr__(self, name, value)
        else:
            setattr(self.values(), name, value)

    __hash__ = None  # type: ignore[assignment]  # as NumPy's


EXACT = frozenset([np.add, np.subtract, np.multiply, np.divide])  # the same in any order and place


def settled(value: Any) -> Any:
    """The same with ordinary arrays, in containers of Python's own as well."""
    if isinstance(value, DeferredArray):
        return value.values()
    if type(value) in (tuple, list):
        return type(value)(map(settled, value))
    if type(value) is dict:
        return {name: settled(one) for name, one in value.items()}
    return value


def _made(
    chain: Chain,
    values: Values,
    blue_first: bool,
    axes: str,
    shape: tuple[int, ...],
    strides: Strides,
) -> DeferredArray:
    made = DeferredArray()
    put = object.__setattr__
    put(made, "_chain", chain)
    put(made, "_values", values)
    put(made, "_blue_first", blue_first)
    put(made, "_axes", axes)
    put(made, "_shape", shape)
    put(made, "_strides", strides)
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


for _name, _method in operators(settled).items():
    setattr(DeferredArray, _name, _method)
