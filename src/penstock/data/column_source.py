"""A data set with declared columns: packed, or in a layout that `pack` reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.packing.items import LABEL, Column
from penstock.sources import Labels


class ColumnSource(ABC):
    """A `Source` whose samples have columns, any of which can be read for any samples."""

    title: str  # what errors call the data set

    @property
    @abstractmethod
    def schema(self) -> tuple[Column, ...]:
        """The columns that every sample has."""

    @abstractmethod
    def table(self, name: str) -> tuple[str, ...] | None:
        """Return a list about the whole data set: classes, box_classes or box_class_ids."""

    @abstractmethod
    def values(self, column: Column, indices: Ints) -> Any:
        """Return the values of these samples, in memory of their own.

        One array for a fixed column, otherwise a list of arrays, texts or bytes.
        """

    @abstractmethod
    def rows(
        self, columns: Sequence[Column], indices: Ints
    ) -> tuple[Ints, dict[str, npt.NDArray[Any]]]:
        """Return how many rows each sample has in these ragged columns, and all rows by column.

        Raises if a sample does not have the same number of rows in each of them.
        """

    @abstractmethod
    def same_counts(self, column: Column, other: Column) -> bool:
        """Whether every sample has as many rows in one ragged column as in the other."""

    @abstractmethod
    def masks(self, index: int) -> npt.NDArray[np.uint8]:
        """Return the bytes of a sample's column of masks; DecodeError if they cannot be read."""

    @abstractmethod
    def image_size(self, index: int) -> tuple[int, int]:
        """Return an image's height and width; DecodeError if they are unknown."""

    @abstractmethod
    def files(self) -> tuple[str, ...]:
        """Return the files that hold many samples each."""

    @abstractmethod
    def file_name(self, index: int) -> str:
        """Return the name that a sample's file has in the data set."""

    @abstractmethod
    def check_unchanged(self, indices: Ints) -> None:
        """Raise if what was read of these samples is no longer what their files have."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of samples."""

    @abstractmethod
    def open(self, index: int) -> BinaryIO:
        """Open one sample's image file for reading."""

    @abstractmethod
    def name(self, index: int) -> str:
        """Return what errors call this sample."""

    @abstractmethod
    def describe(self) -> str:
        """Return one line: what, how many images, which labels."""

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Class names in the order of their labels, if the data set has classes."""
        return self.table("classes")

    @property
    def box_classes(self) -> tuple[str, ...] | None:
        """Class names of boxes, in the order of their labels, if there are any."""
        return self.table("box_classes")

    @property
    def labels(self) -> Labels | None:
        """The column `label` of all samples, if there is one; `label_dtype` says of which type."""
        column = self.label
        return None if column is None else self.labels_at(column, np.arange(len(self)))

    @property
    def label(self) -> Column | None:
        """The column of labels; LoaderError if they are not numbers."""
        column = next((column for column in self.schema if column.name == LABEL.name), None)
        if column is not None and column.kind != "fixed":
            raise LoaderError(
                f"{self.title}: its labels are {column.kind}, not numbers of one shape. "
                'Ask for them by name: Loader(..., columns=["label"]).'
            )
        return column

    def labels_at(self, column: Column, indices: Ints) -> Labels:
        """Return the labels of these samples; class numbers are int64 however they are stored."""
        found: Labels = self.values(column, indices)
        return found.astype(label_dtype(column), copy=False)


def label_dtype(column: Column) -> np.dtype[Any]:
    """Return the type of labels: int64 for class numbers, else that of the column."""
    stored = np.dtype(column.dtype)
    return stored if column.shape or stored.kind == "f" else np.dtype(np.int64)
