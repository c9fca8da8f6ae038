"""What a loader needs to know of a data set: how many samples, where, with which labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, runtime_checkable

import numpy.typing as npt

from penstock.geometry import Ints

if TYPE_CHECKING:
    from typing_extensions import TypeIs

# One row per sample: a number, or a vector of numbers (multi-hot, probabilities, coordinates).
Labels = npt.NDArray[Any]


@runtime_checkable
class Source(Protocol):
    """A data set, sample by sample, without its pixels.

    Samples have fixed positions 0 .. len - 1; shuffling is the loader's business.
    """

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Class names, so that label i means `classes[i]`; None where labels are plain numbers."""
        ...

    @property
    def labels(self) -> Labels | None:
        """One row per sample: int64, or a float type for regression; None without labels."""
        ...

    def __len__(self) -> int:
        """Return the number of samples."""
        ...

    def open(self, index: int) -> BinaryIO:
        """Open one sample's image file for reading; raises OSError."""
        ...

    def name(self, index: int) -> str:
        """Return what errors call this sample: short, and printable on any terminal."""
        ...

    def describe(self) -> str:
        """Return one line for people: what and how much this is."""
        ...


@runtime_checkable
class PathSource(Source, Protocol):
    """A source whose samples are files of their own, which the core reads itself."""

    def paths(self, indices: Ints) -> list[str]:
        """Return the files that hold these samples, as absolute paths."""
        ...


def has_paths(source: Source) -> TypeIs[PathSource]:
    """Whether a source is a PathSource; unlike `isinstance`, reads none of its labels."""
    return hasattr(type(source), "paths")
