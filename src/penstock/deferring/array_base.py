"""What everybody may know of an array that is not computed yet, and how others get its values.

There is no memory that others could read by mistake. Code in C asks for one, by the protocols that
NumPy has for that, and gets the values, computed then; or refuses it, and then the batch is asked
for again with ordinary images.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.deferring.array_index import Strides, ordered_strides
from penstock.deferring.array_memory import Flags, Place, fixed, laid_out
from penstock.deferring.carry_out import carry_out, from_whole
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here, note_early
from penstock.deferring.family import Member
from penstock.deferring.spec import Spec
from penstock.deferring.values import Values, is_levels

Array = npt.NDArray[Any]

OURS = frozenset(
    {
        *("_chain", "_values", "_blue_first", "_axes", "_shape", "_strides", "_is_fixed"),
        *("_had", "_family", "_view"),
    }
)


class ArrayBase(Member):
    """An array to everybody, whose values are computed when they are asked for."""

    __slots__ = (*sorted(OURS), "__weakref__")

    _chain: Chain
    _values: Values
    _blue_first: bool
    _axes: str
    _shape: tuple[int, ...]
    _strides: Strides
    _is_fixed: bool  # whether nobody may write into it
    _had: Array | None

    @property  # type: ignore[misc]  # nobody gives it another one
    def __class__(self) -> Any:
        return np.ndarray

    @property
    def is_open(self) -> bool:
        """Whether nobody has had its values yet."""
        return self._had is None

    @property
    def chain(self) -> Chain | None:
        """How its levels are made, unless somebody has had its values."""
        return self._chain if self._had is None else None

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

    @property
    def is_ordered(self) -> bool:
        """Whether its memory is that of a new array."""
        ordered = ordered_strides(self._shape, self._values.dtype.itemsize)
        found = zip(self._strides, ordered, self._shape, strict=True)
        return all(own == other for own, other, side in found if side > 1)

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
        self._had = fixed(values) if self._is_fixed else values
        return self._had

    def computed(self) -> Array:
        """The values in an array that nobody has; it stays as it is."""
        place = Place(self, from_whole(self._chain))
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
        return Flags(self) if self._had is None else self._had.flags

    @property
    def owns_memory(self) -> bool:
        """Whether it is a new array of NumPy's, rather than a view."""
        return self._family is None and self.is_ordered and not self._is_fixed

    @property
    def is_fixed(self) -> bool:
        """Whether nobody may write into it, as long as it is open."""
        return self._is_fixed

    def __len__(self) -> int:
        return self.shape[0]

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

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.values().__reduce_ex__(protocol)

    def __getattr__(self, name: str) -> Any:
        if name in OURS or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        return getattr(self.values(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OURS:
            object.__setattr__(self, name, value)
        else:
            setattr(self.values(), name, value)

    __hash__ = None  # type: ignore[assignment]  # as NumPy's


def settled(value: Any) -> Any:
    """The same with ordinary arrays, in containers of Python's own as well."""
    if isinstance(value, ArrayBase):
        return value.values()
    if type(value) in (tuple, list):
        return type(value)(map(settled, value))
    if type(value) is dict:
        return {name: settled(one) for name, one in value.items()}
    return value
