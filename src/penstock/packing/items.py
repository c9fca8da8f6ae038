"""What goes into a packed file: samples, the columns beside their images, and where they come from.

A layout on disk (a folder, COCO, a tar ...) is one class that follows `PackSource`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

ColumnKind = Literal["fixed", "ragged", "text", "bytes"]


@dataclass(frozen=True, slots=True)
class Column:
    """One value a sample, declared before the first sample.

    | kind | a sample's value | `dtype` | `shape` |
    |---|---|---|---|
    | fixed | an array or number | of its elements | of the array |
    | ragged | an array of any number of rows | of its elements | of one row |
    | text | str; surrogate escapes stand for bytes that are not UTF-8 | "" | () |
    | bytes | bytes | "" | () |

    dtypes: bool, int8 ... int64, uint8 ... uint64, float16, float32, float64.
    """

    name: str
    kind: ColumnKind
    dtype: str = ""
    shape: tuple[int, ...] = ()


# The columns that loaders know by name; a source uses these where it has such data.
LABEL = Column("label", "fixed", "int64")
REGRESSION_LABEL = Column("label", "fixed", "float64")
BOXES = Column("boxes", "ragged", "float32", (4,))  # left, top, right, bottom in pixels
BOX_LABELS = Column("box_labels", "ragged", "int64")  # one a box
# Beside boxes, `mask_runs.encode_runs` of one mask for each; else a PNG of class numbers.
MASKS = Column("masks", "bytes")


def keypoints_column(points: int) -> Column:
    """Return the column of keypoints: a row an object, each point x, y in pixels, visibility."""
    return Column("keypoints", "ragged", "float32", (points, 3))


@dataclass(frozen=True, slots=True)
class PackItem:
    """One sample on its way into a packed file."""

    name: str  # path below the data set's root, with "/"; `unpack` writes the file there
    data: bytes | os.PathLike[str]  # the image file's bytes, or where to read them
    columns: Mapping[str, Any] = field(default_factory=dict)  # a value for each declared column


@runtime_checkable
class PackSource(Protocol):
    """Samples in a fixed order, the same at every call; that is what `--resume` relies on.

    A file that cannot be read need not be checked here: hand out its path, and `on_error` decides.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        """What every item brings; `name` and the image's own facts are not listed."""
        ...

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the values of `label`, or None."""
        ...

    @property
    def box_classes(self) -> tuple[str, ...] | None:
        """Names of the values of `box_labels`, or None."""
        ...

    @property
    def length(self) -> int | None:
        """Number of samples, or None if that is only known at the end."""
        ...

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the samples from position `start` on."""
        ...

    def describe(self) -> str:
        """Return one line for people: what and how much this is."""
        ...
