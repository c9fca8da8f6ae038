"""An image as a pipeline gives it: its pixels, what hashes them, and what is known of it."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
BFLOAT16 = "bfloat16"  # NumPy has none: such pixels are kept as their 16 bits
INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
FLOATS = ("float16", "float32", "float64", BFLOAT16)
DTYPES = ("bool", *INTEGERS, *FLOATS)
MOST_DIMENSIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Pixels:
    """An image's values, in memory that whoever gave them may use again."""

    stored: Array  # as they are; of bfloat16, the bits as uint16
    dtype: str  # one of DTYPES

    @property
    def shape(self) -> tuple[int, ...]:
        """The sides, in the order in which they were given."""
        return self.stored.shape

    @property
    def values(self) -> Array:
        """The values, in a type that NumPy can count with."""
        if self.dtype != BFLOAT16:
            return self.stored
        return (self.stored.astype(np.uint32) << 16).view(np.float32)

    def copied(self) -> Pixels:
        """Return the same in memory of its own."""
        return Pixels(np.array(self.stored, order="C"), self.dtype)

    def digest(self) -> str:
        """Return SHA-256 over a line with type and shape, and the bytes in C order."""
        sides = "x".join(map(str, self.shape))
        hashed = hashlib.sha256(f"{self.dtype} {sides}\n".encode("ascii"))
        ordered = np.ascontiguousarray(self.stored)
        hashed.update(ordered.astype(ordered.dtype.newbyteorder("<"), copy=False).data)
        return hashed.hexdigest()

    def count_nans(self) -> int:
        """Return how many values are not a number."""
        return int(np.isnan(self.values).sum()) if self.dtype in FLOATS else 0


@dataclass(frozen=True, slots=True)
class Item:
    """One image of a side, with what a certificate says of it."""

    position: int  # among the images of its side, from 0
    name: str | None  # of its file, where that is known for certain
    shape: tuple[int, ...]
    dtype: str
    digest: str
    label: str | None  # hash of what goes with the image; None if nothing does
    nans: int = 0
    shown_label: str | None = None  # for people; a certificate does not know it
    lent: Pixels | None = None  # the pixels, as long as the next batch has not been asked for
    load: Callable[[], Pixels] | None = None  # what reads them from a file

    @property
    def has_pixels(self) -> bool:
        """Whether the pixels are at hand."""
        return self.lent is not None or self.load is not None

    def pixels(self) -> Pixels:
        """Return the pixels; only where there are some."""
        if self.lent is not None:
            return self.lent
        assert self.load is not None  # noqa: S101  (has_pixels)
        return self.load()

    @property
    def called(self) -> str:
        """What people call it."""
        return f"image {self.position:,}" if self.name is None else self.name


def as_pixels(given: Any) -> Pixels | None:
    """Return what an array, a tensor or a Pillow image holds; None for anything else."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(given, torch.Tensor):
        tensor = given.detach().cpu()
        if tensor.dtype == torch.bfloat16:
            return Pixels(tensor.contiguous().view(torch.int16).numpy().view(np.uint16), BFLOAT16)
        return _checked(tensor.numpy())
    pillow = sys.modules.get("PIL.Image")
    if pillow is not None and isinstance(given, pillow.Image):
        return _checked(np.asarray(given))
    if isinstance(given, np.ndarray) or hasattr(given, "__array__"):
        array = np.asarray(given)
        if array.dtype.name == BFLOAT16:  # JAX's arrays
            return Pixels(array.view(np.uint16), BFLOAT16)
        return _checked(array)
    return None


def _checked(array: Array) -> Pixels | None:
    name = array.dtype.name
    return Pixels(array, name) if name in DTYPES else None


def channel_axis(shape: tuple[int, ...]) -> int | None:
    """Return where the channels of an image are: first or last; None if it has no such side.

    Images have fewer channels than rows and columns.
    """
    if len(shape) < MOST_DIMENSIONS:
        return None
    return 0 if shape[0] <= shape[2] else 2


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape for people."""
    return "x".join(map(str, shape))
