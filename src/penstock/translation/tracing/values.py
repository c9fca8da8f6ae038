"""What the names in a Dataset's code stand for while the code is followed, for all samples at once.

What is the same for all samples is `Known`; what differs from sample to sample is a `Column`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias


class UnfollowableError(Exception):
    """The code does something whose effect on a sample is not known here; says what and where."""

    def __init__(self, why: str, code: str | None = None) -> None:
        super().__init__(why if code is None else f"`{code}`: {why}")
        self.has_code = code is not None


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """An object that is the same for every sample."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One object per sample."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tensors:
    """What torch.tensor or torch.as_tensor makes of one object per sample."""

    column: Column
    make: Callable[[Any], Any]
    are_labels: bool  # whole numbers as int64, whose batch is that of Python's own numbers


@dataclass(frozen=True, slots=True, eq=False)
class OpenFile:
    """A file opened for reading bytes, for each sample."""

    paths: Column


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """An image for each sample: a file, converted to Pillow modes and then put through steps."""

    paths: Column
    modes: tuple[str, ...] = ()
    steps: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Tuple:
    """Several values side by side."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Values by name."""

    items: dict[str, Value]


Value: TypeAlias = Known | Column | Tensors | OpenFile | Picture | Tuple | Named


def known(value: Value, what: str) -> Any:
    """Return the object that a value stands for; it must not depend on the sample."""
    if not isinstance(value, Known):
        raise UnfollowableError(f"{what} depends on the sample")
    return value.value


def map_columns(function: Callable[..., Any], *values: Value) -> Value:
    """Call a function that only computes: once per sample if anything differs, else once."""
    columns = [value for value in values if isinstance(value, Column)]
    if any(not isinstance(value, (Known, Column)) for value in values):
        name = getattr(function, "__name__", function)
        raise UnfollowableError(f"{name} is given an image or a tensor")
    if not columns:
        return Known(function(*(value.value for value in values if isinstance(value, Known))))
    count = len(columns[0].values)
    rows = [
        value.values if isinstance(value, Column) else (value.value,) * count
        for value in values
        if isinstance(value, (Known, Column))
    ]
    return Column(tuple(function(*row) for row in zip(*rows, strict=True)))
