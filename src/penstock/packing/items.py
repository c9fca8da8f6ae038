"""What goes into a packed file: samples, the columns beside their images, and where they come from.

A layout on disk (a folder, COCO, a tar ...) is one class that follows `PackSource`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from penstock.errors import PackError, SourceError
from penstock.sources import PathSource, Source, has_paths

if TYPE_CHECKING:
    from penstock.packing.far_files import FarFile

_PATHS_AT_ONCE = 1024

ImageData: TypeAlias = "bytes | os.PathLike[str] | FarFile"

ColumnKind = Literal["fixed", "ragged", "text", "bytes"]


@dataclass(frozen=True, slots=True)
class Column:
    """One value per sample, declared before the first one.

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
    """Return the column of keypoints: one row per object, each point x, y in pixels, visibility."""
    return Column("keypoints", "ragged", "float32", (points, 3))


@dataclass(frozen=True, slots=True)
class PackItem:
    """One sample on its way into a packed file."""

    name: str  # path below the data set's root, with "/"; `unpack` writes the file there
    data: ImageData  # the image file's bytes, or where to read them
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
        """The columns of every sample, without its name and what the image says of itself."""
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


class FileItems:
    """The files of a `Source`, each with its label if it has labels."""

    box_classes: tuple[str, ...] | None = None

    def __init__(self, source: Source) -> None:
        if not has_paths(source):
            raise SourceError(
                f"{source.describe()}: its samples are not files of their own, which pack needs. "
                "Give the folder or the list of files they come from."
            )
        self.source: PathSource = source
        self._root: str | None = getattr(source, "root", None)
        self._labels = source.labels
        self.columns: tuple[Column, ...] = ()
        if self._labels is not None:
            dtype, shape = self._labels.dtype.name, self._labels.shape[1:]
            self.columns = (Column("label", "fixed", dtype, shape),)

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the labels, if the source has them."""
        return self.source.classes

    @property
    def length(self) -> int | None:
        """Number of files."""
        return len(self.source)

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the files from position `start` on."""
        for first in range(start, len(self.source), _PATHS_AT_ONCE):
            indices = np.arange(first, min(first + _PATHS_AT_ONCE, len(self.source)))
            paths = self.source.paths(indices)
            for index, path in zip(indices.tolist(), paths, strict=True):
                values = {} if self._labels is None else {"label": self._labels[index]}
                yield PackItem(name_below(self._root, path), Path(path), values)

    def describe(self) -> str:
        """Return the source's own description."""
        return self.source.describe()


def name_below(root: str | None, path: str) -> str:
    """Return a path relative to a folder if it is below it, else without root and `..` parts."""
    if root is not None and path.startswith(os.path.join(root, "")):
        path = path[len(os.path.join(root, "")) :]
    parts = os.path.splitdrive(path)[1].replace(os.sep, "/").split("/")
    return "/".join(part for part in parts if part not in {"", ".", ".."})
