"""What goes into a packed file: samples, the columns beside their images, and where they come from.

A layout on disk (a folder, COCO, a tar ...) is one class that follows `PackSource`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from penstock.errors import PackError

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
BOX_LABELS = Column("box_labels", "ragged", "int64")  # one for each box; classes count from 0
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

    `box_labels` count the classes of boxes from 0. Detection models keep 0 for the background, so
    loaders add one, unless the source also has `box_class_ids`: a number from 1 on for each of
    `box_classes`, to be delivered instead (such as COCO's category ids).
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
        """Names of the values of `box_labels`, which count from 0; or None."""
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


def box_class_ids_of(source: PackSource) -> tuple[int, ...] | None:
    """Return the number that detection models get for each class of boxes.

    None for a source without labels of boxes; empty where their classes have no names, which
    stands for counting from 1.
    """
    if all(column.name != BOX_LABELS.name for column in source.columns):
        return None
    names = source.box_classes or ()
    given = getattr(source, "box_class_ids", None)
    if given is None:
        return tuple(range(1, len(names) + 1))
    ids = tuple(int(number) for number in given)
    fits = min(ids, default=1) >= 1 and max(ids, default=1) < 2**63
    if len(ids) != len(names) or len(set(ids)) != len(ids) or not fits:
        raise PackError(
            f"{source.describe()}: box_class_ids must be different numbers from 1 to 2^63 - 1, one "
            f"for each of the {len(names):,} classes of boxes; got {str(ids)[:60]}."
        )
    return ids
