"""What arithmetic makes of an image's levels.

There are 256 levels and up to three channels, so whatever is done to each value alone is known
once it is done to a table of all of them: by NumPy or torch itself, with its own rounding and its
own rules about types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from penstock._core import look_up_values

Table = npt.NDArray[Any]  # (channels, 256)
Pixels = npt.NDArray[np.uint8]

TYPES = {  # of values, as NumPy and torch call them
    np.dtype(np.uint8): torch.uint8,
    np.dtype(np.int16): torch.int16,
    np.dtype(np.int32): torch.int32,
    np.dtype(np.int64): torch.int64,
    np.dtype(np.float16): torch.float16,
    np.dtype(np.float32): torch.float32,
    np.dtype(np.float64): torch.float64,
}

_COLOURS = 3
_MOST_KEPT = 64
_LEVELS = 256
_NOTHING = (0.0, 0.0, 0.0)
_ONES = (1.0, 1.0, 1.0)


class Guess(NamedTuple):
    """(level * scale / divisor - mean) / std, which may have the same bits: the core finds out."""

    scale: float = 1.0
    divisor: float = 1.0
    mean: tuple[float, ...] = _NOTHING
    std: tuple[float, ...] = _ONES


class Values:
    """A value for each level of each channel, and what has been made of them before."""

    __slots__ = ("_after", "channels", "dtype", "guess", "table")

    def __init__(self, table: Table, guess: Guess) -> None:
        self.table = np.ascontiguousarray(table)
        self.channels = len(table)
        self.dtype = table.dtype
        self.guess = guess
        self._after: dict[Any, Values | None] = {}

    def after(self, key: Any, change: Callable[[Table], Table], guess: Guess) -> Values | None:
        """The values after a change; None if it does not lead to a number for each of them.

        `key` tells it from all other changes.
        """
        if key in self._after:
            return self._after[key]
        if len(self._after) >= _MOST_KEPT:
            self._after.clear()  # numbers were drawn
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                table = change(self.table)
        except Exception:  # noqa: BLE001 (whatever it is, it comes again with the pixels)
            table = self.table[:0]
        is_known = table.dtype in TYPES and table.shape == self.table.shape
        made = Values(table, guess) if is_known else None
        self._after[key] = made
        return made

    def turned(self) -> Values:
        """The same with the channels in the opposite order."""
        if is_levels(self):
            return self  # they are alike in all channels
        guess = self.guess._replace(mean=self.guess.mean[::-1], std=self.guess.std[::-1])
        made = self.after("turned", lambda table: table[::-1], guess)
        return self if made is None else made

    def cast(self, dtype: Any) -> Values | None:
        """The same of another type, as NumPy casts them; None for what depends on the processor."""
        if dtype not in TYPES or not self._fit(dtype):
            return None
        return self.after(("cast", dtype), lambda table: table.astype(dtype), self.guess)

    def cast_by_torch(self, dtype: torch.dtype) -> Values | None:
        """The same as torch casts them, which may round twice."""
        wanted = next((one for one, name in TYPES.items() if name == dtype), None)
        if wanted is None or not self._fit(wanted):
            return None
        return self.after(
            ("cast by torch", wanted), lambda t: torch.from_numpy(t).to(dtype).numpy(), self.guess
        )

    def _fit(self, dtype: Any) -> bool:
        """Whether a type has room for all values; of floats beyond whole numbers nobody knows."""
        if dtype.kind == "f" or self.dtype.kind != "f":
            return True
        most = np.iinfo(dtype)
        inside = (self.table > most.min - 1.0) & (self.table < most.max + 1.0)
        return bool(inside.all())

    def look_up(
        self, levels: Pixels, *, interleaved: bool, target: npt.NDArray[Any] | None = None
    ) -> npt.NDArray[Any]:
        """Write the values of an image; both arrays are in the order of their axes."""
        target = np.empty(levels.shape, self.dtype) if target is None else target
        look_up_values(
            target.ctypes.data,
            levels.ctypes.data,
            levels.size // self.channels,
            self.table.ctypes.data,
            self.channels,
            self.dtype.itemsize,
            interleaved,
        )
        return target


def _levels(channels: int) -> Values:
    table = np.tile(np.arange(_LEVELS, dtype=np.uint8), (channels, 1))
    return Values(table, Guess())


_LEVELS_OF = {1: _levels(1), _COLOURS: _levels(_COLOURS)}


def levels_as(channels: int) -> Values:
    """The levels themselves, as bytes."""
    return _LEVELS_OF[channels]


def is_levels(values: Values) -> bool:
    """Whether nothing has been done to them."""
    return values is _LEVELS_OF[values.channels]


# ---- operands ----


class Operand(NamedTuple):
    """A number, or one for each channel, in the form in which it meets a table."""

    number: Any
    key: Any
    each: tuple[float, ...]  # the same for three channels, as a guess takes it


def read_operand(given: Any, axes: str, channels: int) -> Operand | None:
    """What a value is calculated with; None for what is not the same for all pixels."""
    if type(given) in (int, float):
        return Operand(
            given, (type(given), given.hex() if type(given) is float else given), _all(given)
        )
    if isinstance(given, np.generic):
        is_number = given.dtype.kind in "iuf"
        return (
            Operand(given, (given.dtype.str, given.tobytes()), _all(given)) if is_number else None
        )
    if type(given) in (list, tuple):
        if not all(type(one) in (int, float) for one in given):
            return None
        given = np.asarray(given)
    if isinstance(given, torch.Tensor):
        return _read_tensor(given, axes, channels)
    return _read_array(given, axes, channels) if type(given) is np.ndarray else None


def _read_array(given: npt.NDArray[Any], axes: str, channels: int) -> Operand | None:
    shape = _shape_in_table(given.shape, axes, channels)
    if shape is None or given.dtype.kind not in "iuf":
        return None
    return Operand(given.reshape(shape), (given.dtype.str, shape, given.tobytes()), _all(given))


def _read_tensor(given: torch.Tensor, axes: str, channels: int) -> Operand | None:
    is_plain = type(given) is torch.Tensor and given.device.type == "cpu"
    shape = _shape_in_table(tuple(given.shape), axes, channels) if is_plain else None
    if shape is None or given.requires_grad or given.dtype not in _TORCH_NUMBERS:
        return None
    numbers = given.numpy()
    return Operand(
        given.reshape(shape), ("t", numbers.dtype.str, shape, numbers.tobytes()), _all(numbers)
    )


_TORCH_NUMBERS = (torch.uint8, torch.int32, torch.int64, torch.float32, torch.float64)


def _shape_in_table(shape: tuple[int, ...], axes: str, channels: int) -> tuple[int, ...] | None:
    """The shape that a number or one for each channel has beside a table; None for others."""
    if len(shape) > len(axes):
        return None
    if all(side == 1 for side in shape):
        return shape if not shape else (1, 1)
    aligned = (1,) * (len(axes) - len(shape)) + shape
    sides = dict(zip(axes, aligned, strict=True))
    is_by_channel = sides.pop("c", 1) == channels and all(side == 1 for side in sides.values())
    return (channels, 1) if is_by_channel else None


def _all(number: Any) -> tuple[float, ...]:
    """As floats of single precision, which is what the core computes with."""
    numbers = np.asarray(number, np.float32).reshape(-1).tolist()
    return tuple(numbers * _COLOURS if len(numbers) == 1 else numbers)


# ---- arithmetic ----


def calculated(
    values: Values, name: str, function: Any, operand: Operand, *, is_first: bool
) -> Values | None:
    """The values after an arithmetic function of two arguments, of which they are one."""

    def change(table: Table) -> Any:
        if isinstance(function, np.ufunc):
            return function(*((table, operand.number) if is_first else (operand.number, table)))
        return function(torch.from_numpy(table), operand.number).numpy()

    # Of whole numbers, torch makes floats of this type.
    library = "numpy" if isinstance(function, np.ufunc) else torch.get_default_dtype()
    guess = _guessed(values.guess, name, operand.each) if is_first else values.guess
    return values.after((library, name, is_first, operand.key), change, guess)


def calculated_in_place(values: Values, ufunc: np.ufunc, operand: Operand) -> Values | None:
    """The same by NumPy, with the type that they had."""

    def change(table: Table) -> Table:
        made: Table = table.copy()
        ufunc(made, operand.number, out=made)
        return made

    guess = _guessed(values.guess, ufunc.__name__, operand.each)
    return values.after(("in place", ufunc.__name__, operand.key), change, guess)


def clipped(values: Values, least: Operand, most: Operand) -> Values | None:
    """The values as NumPy has them end at two numbers."""
    key = ("clip", least.key, most.key)
    return values.after(key, lambda t: np.clip(t, least.number, most.number), values.guess)


def _guessed(guess: Guess, name: str, each: tuple[float, ...]) -> Guess:
    """What the arithmetic would be; the core compares its results with the table."""
    if len(each) != _COLOURS:
        return guess
    is_one = len(set(each)) == 1
    is_begun = guess.mean != _NOTHING or guess.std != _ONES
    if name in ("divide", "div") and is_one and not is_begun and guess.divisor == 1:
        return guess._replace(divisor=each[0])
    if name in ("multiply", "mul") and is_one and not is_begun and guess.divisor == 1:
        return guess._replace(scale=guess.scale * each[0])
    if name in ("divide", "div"):
        return guess._replace(std=tuple(a * b for a, b in zip(guess.std, each, strict=True)))
    if name in ("subtract", "sub"):
        return guess._replace(mean=each)
    return guess
