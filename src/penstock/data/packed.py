"""A packed data set as a source: its samples are records in mapped files."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from penstock.data.column_source import ColumnSource
from penstock.data.targets import has_objects
from penstock.errors import DecodeError, PackError
from penstock.geometry import Ints
from penstock.packing.columns import FixedColumn, VariableColumn
from penstock.packing.items import LABEL, MASKS, Column
from penstock.packing.ranges import places_of
from penstock.packing.read import PackFile
from penstock.packing.records import original_file
from penstock.packing.shards import PackSet, open_packed
from penstock.printable import printable


@dataclass(frozen=True, slots=True)
class Records:
    """Where samples lie in memory and what the index says of them; checked against the files."""

    addresses: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    storages: npt.NDArray[np.int32]
    heights: npt.NDArray[np.int32]
    widths: npt.NDArray[np.int32]

    def at(self, some: slice) -> Records:
        """The same of some samples that follow each other."""
        return Records(
            self.addresses[some],
            self.sizes[some],
            self.storages[some],
            self.heights[some],
            self.widths[some],
        )


class PackedSource(ColumnSource):
    """The samples of a packed file, or of a folder of shards."""

    def __init__(self, packed: PackSet) -> None:
        self.packed = packed
        self.title = packed.path

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns that every sample has."""
        return self.packed.schema

    def table(self, name: str) -> tuple[str, ...] | None:
        """Return a list about the whole data set: classes, box_classes or box_class_ids."""
        return self.packed.table(name)

    def __len__(self) -> int:
        return len(self.packed)

    def open(self, index: int) -> BinaryIO:
        """Return the sample's original file, or one with the same pixels."""
        file, place = self.packed.locate(index)
        return io.BytesIO(original_file(file, place))

    def name(self, index: int) -> str:
        """Return the file that holds the sample, and its original name."""
        file, place = self.packed.locate(index)
        return printable(f"{file.path}: sample {place:,} ({file.name(place)})")

    def files(self) -> tuple[str, ...]:
        """Return the packed files."""
        return tuple(str(file.path) for file in self.packed.files)

    def file_name(self, index: int) -> str:
        """Return the name that the sample's file had."""
        file, place = self.packed.locate(index)
        return file.name(place)

    def image_size(self, index: int) -> tuple[int, int]:
        """Return an image's height and width, as the index has them."""
        file, place = self.packed.locate(index)
        height, width = int(file.facts("height")[place]), int(file.facts("width")[place])
        if height < 1 or width < 1:
            raise DecodeError(f"the index says that it is {height}x{width}: run penstock verify")
        return height, width

    def describe(self) -> str:
        """Return one line: what, how many images, which labels."""
        count, classes = len(self), self.classes
        images = f"{printable(self.packed.path)}: {count:,} packed image{'' if count == 1 else 's'}"
        if classes is not None:
            return f"{images} in {len(classes):,} classes"
        has_labels = any(column.name == LABEL.name for column in self.schema)
        return images if has_labels or has_objects(self.schema) else f"{images}, no labels"

    def values(self, column: Column, indices: Ints) -> Any:
        """Return the values of these samples, in memory of their own."""
        files = [file.columns[column.name] for file in self.packed.files]
        first = files[0]
        if isinstance(first, FixedColumn):
            values = np.empty((len(indices), *first.column.shape), dtype=first.values.dtype)
            for number, here, places in self.packed.by_file(indices):
                reader = files[number]
                assert isinstance(reader, FixedColumn)  # noqa: S101  shards have one schema
                values[here] = reader.values[places]
            return values
        numbers, places = self.packed.locate_all(indices)
        found = [files[n][p] for n, p in zip(numbers.tolist(), places.tolist(), strict=True)]
        return [value.copy() for value in found] if first.column.kind == "ragged" else found

    def rows(
        self, columns: Sequence[Column], indices: Ints
    ) -> tuple[Ints, dict[str, npt.NDArray[Any]]]:
        """Return how many rows each sample has in these ragged columns, and all rows by column."""
        numbers, places = self.packed.locate_all(indices)
        counts = np.zeros(len(indices), dtype=np.int64)
        order: list[Ints] = []  # of the samples, file by file
        parts: list[dict[str, npt.NDArray[Any]]] = []
        for number in np.unique(numbers).tolist():
            here, file = np.flatnonzero(numbers == number), self.packed.files[number]
            part: dict[str, npt.NDArray[Any]] = {}
            for column in columns:
                reader = file.columns[column.name]
                if not isinstance(reader, VariableColumn):
                    raise PackError(
                        f"{self.title}: {column.name} must have any number of rows for each "
                        f"sample, and is a {column.kind} column. Repack it."
                    )
                found, part[column.name] = reader.rows(places[here])
                if len(part) > 1 and not np.array_equal(found, counts[here]):
                    raise PackError(
                        f"{self.title}: {column.name} must have one row for each of "
                        f"{columns[0].name}. Repack it."
                    )
                counts[here] = found
            file.check_unchanged()
            order.append(here)
            parts.append(part)
        if len(parts) == 1:
            return counts, parts[0]
        wanted = _segments(np.concatenate(order) if order else np.zeros(0, np.int64), counts)
        names = [column.name for column in columns] if parts else []
        return counts, {n: np.concatenate([part[n] for part in parts])[wanted] for n in names}

    def same_counts(self, column: Column, other: Column) -> bool:
        """Whether every sample has as many rows in one ragged column as in the other."""
        return all(
            isinstance(reader := file.columns.get(column.name), VariableColumn)
            and isinstance(rows := file.columns[other.name], VariableColumn)
            and reader.same_counts(rows)
            for file in self.packed.files
        )

    def prepare(self, indices: Ints) -> None:
        """Get ready for whoever asks for the records of these samples one by one."""

    def blocks(self) -> Ints | None:
        """Return the first sample of each block; None if a file has no blocks."""
        firsts, before = [], 0
        for file in self.packed.files:
            column = file.blocks.get("first")
            if not isinstance(column, FixedColumn):
                return None
            firsts.append(column.values.astype(np.int64) + before)
            before += len(file)
        return np.concatenate(firsts)

    def masks(self, index: int) -> npt.NDArray[np.uint8]:
        """Return the bytes of a sample's column of masks."""
        self.image_size(index)  # an image without a size has no masks
        file, place = self.packed.locate(index)
        reader = file.columns[MASKS.name]
        assert isinstance(reader, VariableColumn)  # noqa: S101  as MASKS is declared
        return reader.stored(place)

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the files anew wherever this is unpickled or copied to."""
        ids = [file.file_id for file in self.packed.files]
        return _open_again, (os.path.abspath(self.packed.path), self.title, ids)

    @property
    def memory(self) -> object:
        """What must stay alive while addresses are in use."""
        return self.packed

    def check_unchanged(self, indices: Ints) -> None:
        """Raise PackError if what was read of these samples is no longer what their files have."""
        self.packed.check_unchanged(indices)

    def _address_of(self, file: PackFile) -> int:
        """Return where a file lies in memory."""
        return file.stored(0, 1).ctypes.data

    def records(self, indices: Ints) -> Records:
        """Return where these samples lie; raises PackError for one outside of its file."""
        addresses, sizes = np.empty((2, len(indices)), dtype=np.int64)
        storages, heights, widths = np.empty((3, len(indices)), dtype=np.int32)
        for number, here, places in self.packed.by_file(indices):
            file = self.packed.files[number]
            file.announce(places)
            found = places_of(file, places)
            addresses[here] = found.offset + self._address_of(file)
            sizes[here], storages[here] = found.size, found.storage
            heights[here], widths[here] = found.height, found.width
        return Records(addresses, sizes, storages, heights, widths)


def _open_again(path: str, title: str, ids: list[bytes]) -> PackedSource:
    packed = open_packed(path)
    if [file.file_id for file in packed.files] != ids:
        raise PackError(f"{printable(path)}: was packed anew since it was opened. Open it again.")
    source = PackedSource(packed)
    source.title = title
    return source


def _segments(order: Ints, counts: Ints) -> Ints:
    """Return the places of all samples' rows, of which those of sample `order[0]` come first."""
    starts = np.empty(len(order), dtype=np.int64)
    starts[order] = np.cumsum(counts[order]) - counts[order]
    before = np.cumsum(counts) - counts
    places: Ints = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
    return places
