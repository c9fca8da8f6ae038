"""What a loader needs to know of a data set, and the source that files make.

`FileSource` is what folders, labels files and lists become: one image file per sample.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from penstock.geometry import Ints
from penstock.printable import printable
from penstock.regular_file import open_regular

if TYPE_CHECKING:
    from typing_extensions import TypeIs


# One row per sample: a number, or a vector of numbers (multi-hot, probabilities, coordinates).
Labels = npt.NDArray[Any]
_MOST_NAMED = 5


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


@runtime_checkable
class LendingSource(Source, Protocol):
    """A source whose samples lie in memory, where they can be read without a copy."""

    def content(self, index: int) -> bytes | memoryview:
        """Return the bytes of one sample's image file."""
        ...


def lends(source: Source) -> TypeIs[LendingSource]:
    """Whether a source is a LendingSource; unlike `isinstance`, reads none of its labels."""
    return hasattr(type(source), "content")


@dataclass(frozen=True, slots=True, eq=False)
class PathTable:
    """An immutable list of paths: path i is `blob[offsets[i]:offsets[i + 1]]`."""

    blob: bytes  # the paths as the file system spells them, end to end
    offsets: Ints  # one more than there are paths; starts with 0, never falls

    def __post_init__(self) -> None:
        offsets, blob = self.offsets, self.blob
        if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
            raise ValueError(f"PathTable: offsets must be a row of int64, got {offsets.dtype}.")
        if offsets[0] != 0 or offsets[-1] != len(blob) or np.any(np.diff(offsets) < 0):
            raise ValueError(f"PathTable: offsets must rise from 0 to {len(blob)}.")

    @classmethod
    def from_paths(cls, paths: Iterable[str | bytes]) -> PathTable:
        """Take the paths one at a time, so that an iterator of any length will do."""
        blob = bytearray()
        ends = array("q", [0])
        for path in paths:
            blob += os.fsencode(path)
            ends.append(len(blob))
        return cls(bytes(blob), np.array(ends, np.int64))

    @classmethod
    def from_blocks(cls, blocks: Iterable[bytes], lengths: Iterable[array[int]]) -> PathTable:
        """Join blocks of paths that are already end to end, given each path's length in bytes."""
        parts = [np.frombuffer(part, np.int64) for part in lengths]
        offsets = np.concatenate([np.zeros(1, np.int64), *parts])
        return cls(b"".join(blocks), np.cumsum(offsets, out=offsets))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        return self.at(np.array([index], np.int64))[0]

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))

    def at(self, indices: Ints) -> list[str]:
        """Return the paths at `indices`, which may repeat and come in any order."""
        if len(indices) and (indices.min() < 0 or indices.max() >= len(self)):
            wrong = indices[(indices < 0) | (indices >= len(self))][0]
            raise IndexError(f"index {wrong} is out of range: there are {len(self)} paths.")
        starts = self.offsets[indices].tolist()
        ends = self.offsets[indices + 1].tolist()
        blob = self.blob
        return [os.fsdecode(blob[start:end]) for start, end in zip(starts, ends, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class FileSource:
    """Image files below one folder, each with a label, or all of them without."""

    title: str  # how the user named the data; opens `describe()`
    root: str  # absolute, so that a later change of the working directory does no harm
    files: PathTable  # relative to `root`, or absolute
    labels: Labels | None
    classes: tuple[str, ...] | None
    left_out: tuple[str, ...] = field(default=(), kw_only=True)  # found, but not regular files

    def __len__(self) -> int:
        return len(self.files)

    def paths(self, indices: Ints) -> list[str]:
        """Return the absolute paths of these samples."""
        return [os.path.join(self.root, file) for file in self.files.at(indices)]

    def open(self, index: int) -> BinaryIO:
        """Open one image file."""
        return open_regular(os.path.join(self.root, self.files[index]))

    def name(self, index: int) -> str:
        """Return the path below the folder, with undecodable bytes spelled out."""
        return printable(self.files[index])

    def describe(self) -> str:
        """Return one line: what, how many images, which labels."""
        count = len(self)
        images = f"{self.title}: {count:,} image{'' if count == 1 else 's'}"
        if self.classes is not None:
            many = "" if len(self.classes) == 1 else "es"
            images += f" in {len(self.classes):,} class{many}"
        else:
            labels = self.labels
            told = (
                "no labels" if labels is None else describe_labels(labels.dtype, labels.shape[1:])
            )
            images += f", {told}"
        return f"{images}; {describe_left_out(self.left_out)}" if self.left_out else images


def describe_left_out(names: tuple[str, ...]) -> str:
    """Return which special files were found and are not among the samples."""
    shown = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"left out, as they are no regular files: {shown}{more}"


def describe_labels(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    """Return what kind of labels these are, for people; `shape` is that of one sample's."""
    kind = "float" if dtype.kind == "f" else "integer"
    width = f" of {' x '.join(map(str, shape))} numbers" if shape else ""
    return f"{kind} labels{width}"
