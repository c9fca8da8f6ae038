"""The rows of one or more Parquet files of the same schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from penstock.errors import SourceError
from penstock.limits import beyond, how_to_allow, limits_in_force
from penstock.packing.datasets.optional import require
from penstock.printable import printable
from penstock.regular_file import require_regular

ROWS_PER_BATCH = 32
MOST_KEPT_BYTES = 1 << 28  # of row groups, each of which is read for the sake of some rows
ROWS_OF_NUMBERS = 1 << 16
MOST_INFLATION = 50  # columns of images and numbers shrink by much less


class _KeptGroups:
    """Row groups that were read last: one must be read whole to get at a row inside it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tables: dict[tuple[str, int], Any] = {}  # the one used last comes last

    def cells(self, file: Any, path: str, group: int, skip: int) -> Iterator[dict[str, Any]]:
        """Return the cells of a row group from a row on; a large one is read and not kept."""
        if _group_bytes(file.metadata)[group] > MOST_KEPT_BYTES:
            return _cells(file, group, None, skip)
        with self._lock:
            table = self._tables.pop((path, group), None)
        if table is None:
            table = file.read_row_group(group)
        with self._lock:
            self._tables[path, group] = table
            while sum(kept.nbytes for kept in self._tables.values()) > MOST_KEPT_BYTES:
                del self._tables[next(iter(self._tables))]
        return (
            {name: table.column(name)[row] for name in table.schema.names}
            for row in range(skip, table.num_rows)
        )


@dataclass(frozen=True, slots=True)
class ParquetFiles:
    """Files that are read one after the other, a few rows at a time."""

    paths: list[str]
    schema: Any  # pyarrow.Schema of all files
    types: Any  # the module pyarrow.types
    count: int  # rows in all
    largest_group: int  # bytes of the largest row group, inflated
    _parquet: Any
    _error: type[Exception]
    _kept: _KeptGroups = field(default_factory=_KeptGroups)

    @classmethod
    def open(cls, paths: list[str], title: str) -> ParquetFiles:
        """Read the files' schemas and counts of rows."""
        pyarrow = require("pyarrow", "pyarrow", title)
        parquet = require("pyarrow.parquet", "pyarrow", title)
        schemas, count, largest = [], 0, 0
        for path in paths:
            try:
                require_regular(path)
                with parquet.ParquetFile(path) as file:
                    schemas.append(file.schema_arrow)
                    count += file.metadata.num_rows
                    largest = max(largest, *_group_bytes(file.metadata), 0)
                    _check_columns(file.metadata, printable(path))
            except SourceError:
                raise
            except (pyarrow.ArrowException, OSError) as error:
                raise _unreadable(path, error) from error
            if not schemas[-1].equals(schemas[0]):
                raise SourceError(f"{printable(path)}: its columns differ from {paths[0]}.")
        return cls(
            paths, schemas[0], pyarrow.types, count, largest, parquet, pyarrow.ArrowException
        )

    def rows(
        self, columns: list[str] | None = None, start: int = 0
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield rows from `start` on: what errors call each, and its cells as pyarrow scalars."""
        position = 0  # of the next row group's first row, in all files
        for path in self.paths:
            title = printable(path)
            first = position
            try:
                with self._parquet.ParquetFile(path, memory_map=True) as file:
                    for group in range(file.num_row_groups):
                        rows = file.metadata.row_group(group).num_rows
                        if position + rows > start:
                            skip = max(0, start - position)
                            cells = (
                                self._kept.cells(file, path, group, skip)
                                if skip and columns is None
                                else _cells(file, group, columns, skip)
                            )
                            for number, row in enumerate(cells, start=position - first + skip):
                                yield f"{title}, row {number:,}", row
                        position += rows
            except (self._error, OSError) as error:
                raise _unreadable(path, error) from error

    def has_nulls(self, column: str) -> bool:
        """Tell whether a value is missing anywhere in a column."""
        for path in self.paths:
            try:
                with self._parquet.ParquetFile(path, memory_map=True) as file:
                    for batch in file.iter_batches(ROWS_OF_NUMBERS, columns=[column]):
                        if batch.column(0).null_count:
                            return True
            except (self._error, OSError) as error:
                raise _unreadable(path, error) from error
        return False

    def one_length(self, column: str) -> int | None:
        """Tell how long all lists in a column are; None if they differ or one is missing."""
        lengths: set[int | None] = set()
        for path in self.paths:
            try:
                with self._parquet.ParquetFile(path, memory_map=True) as file:
                    for batch in file.iter_batches(ROWS_OF_NUMBERS, columns=[column]):
                        lengths.update(batch.column(0).value_lengths().unique().to_pylist())
            except (self._error, OSError) as error:
                raise _unreadable(path, error) from error
        return lengths.pop() if len(lengths) == 1 else None


def _group_bytes(metadata: Any) -> list[int]:
    groups = range(metadata.num_row_groups)
    return [int(metadata.row_group(group).total_byte_size) for group in groups]


def _check_columns(metadata: Any, where: str) -> None:
    """Raise for too many columns, and for such as inflate to many times what they have on disk."""
    if beyond("columns", metadata.num_columns):
        advice = how_to_allow("columns", metadata.num_columns)
        raise SourceError(f"{where}: {metadata.num_columns:,} columns. {advice}.")
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            plain, packed = column.total_uncompressed_size, column.total_compressed_size
            if plain > MOST_INFLATION * packed and beyond("record_bytes", plain):
                raise SourceError(
                    f"{where}, {column.path_in_schema}: {packed:,} bytes that inflate to "
                    f"{plain:,}. {how_to_allow('record_bytes', plain)}."
                )


def _rows_per_batch(file: Any, group: int) -> int:
    """Return how many rows to read at once: few where each may be as large as all of a column.

    With a dictionary, any number of rows may have the same large value.
    """
    chunks = [file.metadata.row_group(group).column(n) for n in range(file.metadata.num_columns)]
    largest = max((chunk.total_uncompressed_size for chunk in chunks), default=0)
    return max(1, min(ROWS_PER_BATCH, limits_in_force().record_bytes // max(1, largest)))


def _cells(file: Any, group: int, columns: list[str] | None, skip: int) -> Iterator[dict[str, Any]]:
    rows = _rows_per_batch(file, group)
    for batch in file.iter_batches(rows, row_groups=[group], columns=columns):
        if skip >= batch.num_rows:
            skip -= batch.num_rows
            continue
        for row in range(skip, batch.num_rows):
            yield {name: batch.column(name)[row] for name in batch.schema.names}
        skip = 0


def _unreadable(path: str, error: Exception) -> SourceError:
    return SourceError(
        f"{printable(path)}: not a Parquet file that can be read ({error}). Get it again."
    )
