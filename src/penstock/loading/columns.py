"""Columns of a data set for the samples of a batch: of packed files, labels, file names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.packed_source import PackedSource
from penstock.loading.packed_targets import BOX_LABELS, BOXES, KEYPOINTS
from penstock.packing.columns import FixedColumn
from penstock.packing.items import MASKS
from penstock.packing.shards import PackSet
from penstock.sources import FileSource, PathSource, Source

LABEL = "label"
_NAME, _PATH = "name", "path"
# Delivered by targets= alone, which moves them along with their images.
_MOVED = (BOXES, BOX_LABELS, KEYPOINTS, MASKS.name)

# An array with a row for each sample; or a list of texts, bytes or arrays.
Values = npt.NDArray[Any] | list[str] | list[bytes] | list[npt.NDArray[Any]]


class ColumnValues(Protocol):
    """One column."""

    def at(self, indices: Ints) -> Values:
        """Return the values of these samples, in memory of their own."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PackedColumn:
    """A column of a packed data set."""

    packed: PackSet
    name: str

    def at(self, indices: Ints) -> Any:
        """Return the values of these samples, in memory of their own."""
        numbers, places = self.packed.locate_all(indices)
        files = [file.columns[self.name] for file in self.packed.files]
        first = files[0]
        if isinstance(first, FixedColumn):
            values = np.empty((len(indices), *first.column.shape), dtype=first.values.dtype)
            for number in np.unique(numbers).tolist():
                here, reader = numbers == number, files[number]
                assert isinstance(reader, FixedColumn)  # noqa: S101  shards have one schema
                values[here] = reader.values[places[here]]
            return values
        found = [files[n][p] for n, p in zip(numbers.tolist(), places.tolist(), strict=True)]
        return [value.copy() for value in found] if first.column.kind == "ragged" else found


@dataclass(frozen=True, slots=True, eq=False)
class ArrayColumn:
    """A column in memory."""

    values: npt.NDArray[Any]

    def at(self, indices: Ints) -> npt.NDArray[Any]:
        """Return the values of these samples."""
        return self.values[indices]


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """A text for each sample."""

    texts: Callable[[Ints], list[str]]

    def at(self, indices: Ints) -> list[str]:
        """Return the texts of these samples."""
        return self.texts(indices)


def open_columns(source: Source, asked: Sequence[str] | None) -> dict[str, ColumnValues]:
    """Return the columns asked for, by name and in that order; LoaderError for one there is not."""
    if asked is None:
        return {}
    if (
        isinstance(asked, (str, bytes))
        or not isinstance(asked, Sequence)
        or not asked
        or not all(isinstance(name, str) for name in asked)
        or len(set(asked)) != len(asked)
    ):
        raise LoaderError(
            "Loader: columns must be a list of different names, such as ['label', 'score'], got "
            f"{asked!r}."
        )
    there = columns_of(source)
    for name in asked:
        if name in _MOVED and isinstance(source, PackedSource) and source.targets is not None:
            raise LoaderError(
                f"Loader: columns: {name!r} follow the transforms, and come with the targets. "
                "Use targets='list' or 'padded'."
            )
        if name not in there:
            raise LoaderError(
                f"Loader: columns: {source.describe()} has no column {name!r}. "
                f"There are {', '.join(there)}."
            )
    return {name: there[name] for name in asked}


def columns_of(source: Source) -> Mapping[str, ColumnValues]:
    """Return every column of a data set that can be asked for."""
    columns: dict[str, ColumnValues] = {}
    if isinstance(source, PackedSource):
        packed = source.packed
        names = [column.name for column in packed.schema if column.name not in _MOVED]
        columns |= {name: PackedColumn(packed, name) for name in names}
        columns.setdefault(_NAME, TextColumn(lambda indices: _names(source, indices)))
        return columns
    labels = getattr(source, "labels", None)  # None where a data set has none
    if labels is not None:
        columns[LABEL] = ArrayColumn(labels)
    if isinstance(source, FileSource):
        columns[_NAME] = TextColumn(source.files.at)
    if isinstance(source, PathSource):
        columns[_PATH] = TextColumn(source.paths)
    return columns


def named_columns(
    source: Source, asked: Mapping[str, ColumnValues], *, has_targets: bool
) -> dict[str, ColumnValues]:
    """Return the columns of a batch that is a dictionary: with the label, unless targets stand."""
    for name in ("image", "targets"):
        if name in asked:
            raise LoaderError(
                f"Loader: as_dict=True has a key {name!r} already, which a column is called as "
                "well. Leave out as_dict, or rename the column."
            )
    label = None if has_targets else columns_of(source).get(LABEL)
    return {**({} if label is None else {LABEL: label}), **asked}


def per_box_columns(source: Source, asked: Iterable[str]) -> tuple[str, ...]:
    """Return those that have a row for each object, and so go with the targets."""
    targets = source.targets if isinstance(source, PackedSource) else None
    return tuple(name for name in asked if targets is not None and targets.per_object(name))


def _names(source: PackedSource, indices: Ints) -> list[str]:
    return [source.file_name(index) for index in indices.tolist()]
