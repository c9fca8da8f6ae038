"""Values beside the images of a data set: labels, file names and other columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from penstock.data.column_source import ColumnSource, label_dtype
from penstock.data.targets import BOX_LABELS, BOXES, KEYPOINTS, stored_targets
from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.packing.items import MASKS, Column
from penstock.sources import FileSource, Labels, Source, has_paths

LABEL = "label"
_NAME, _PATH = "name", "path"
# Delivered only through targets=, which moves them along with their images.
_MOVED = (BOXES, BOX_LABELS, KEYPOINTS, MASKS.name)

# An array with a row for each sample; or a list of texts, bytes or arrays.
Values = npt.NDArray[Any] | list[str] | list[bytes] | list[npt.NDArray[Any]]


class ColumnValues(Protocol):
    """One column."""

    def at(self, indices: Ints) -> Values:
        """Return the values of these samples, in memory of their own."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class StoredColumn:
    """A column that a data set declares."""

    source: ColumnSource
    column: Column

    def at(self, indices: Ints) -> Any:
        """Return the values of these samples, in memory of their own."""
        return self.source.values(self.column, indices)


@dataclass(frozen=True, slots=True, eq=False)
class LabelColumn:
    """The labels of a data set: a number or a row of numbers for each sample."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]  # of one sample's
    values: Callable[[Ints], Labels]

    def at(self, indices: Ints) -> Labels:
        """Return the labels of these samples."""
        return self.values(indices)


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """A text for each sample."""

    texts: Callable[[Ints], list[str]]

    def at(self, indices: Ints) -> list[str]:
        """Return the texts of these samples."""
        return self.texts(indices)


def label_column(source: Source) -> LabelColumn | None:
    """Return the labels of a data set; LoaderError if they are not numbers."""
    if isinstance(source, ColumnSource):
        column = source.label
        if column is None:
            return None
        read = partial(source.labels_at, column)
        return LabelColumn(label_dtype(column), column.shape, read)
    labels = getattr(source, "labels", None)  # a source may lack them altogether
    if labels is None:
        return None
    return LabelColumn(labels.dtype, labels.shape[1:], lambda indices: labels[indices])


def open_columns(source: Source, asked: Sequence[str] | None) -> dict[str, ColumnValues]:
    """Return the columns asked for, by name and in that order; LoaderError if one is missing."""
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
    there, targets = columns_of(source), stored_targets(source)
    for name in asked:
        if name in _MOVED and targets is not None:
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
    if isinstance(source, ColumnSource):
        stored = [column for column in source.schema if column.name not in _MOVED]
        columns |= {column.name: StoredColumn(source, column) for column in stored}
        columns.setdefault(_NAME, TextColumn(lambda indices: _names(source, indices)))
    else:
        labels = label_column(source)
        if labels is not None:
            columns[LABEL] = labels
    if isinstance(source, FileSource):
        columns[_NAME] = TextColumn(source.files.at)
    if has_paths(source):
        columns.setdefault(_PATH, TextColumn(source.paths))
    return columns


def named_columns(
    source: Source, asked: Mapping[str, ColumnValues], *, with_label: bool
) -> dict[str, ColumnValues]:
    """Return the columns of a batch that is a dictionary, including the label if there is one."""
    for name in ("image", "targets"):
        if name in asked:
            raise LoaderError(
                f"Loader: as_dict=True has a key {name!r} already, which a column is called as "
                "well. Leave out as_dict, or rename the column."
            )
    label = columns_of(source).get(LABEL) if with_label else None
    return {**({} if label is None else {LABEL: label}), **asked}


def per_box_columns(source: Source, asked: Iterable[str]) -> tuple[str, ...]:
    """Return those of the columns that have a row for each object, and so go with the targets."""
    targets = stored_targets(source)
    return tuple(name for name in asked if targets is not None and targets.per_object(name))


def _names(source: ColumnSource, indices: Ints) -> list[str]:
    return [source.file_name(index) for index in indices.tolist()]
