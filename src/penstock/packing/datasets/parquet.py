"""Parquet with images: Hugging Face's layout, columns of encoded images, and tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from penstock.errors import SourceError
from penstock.limits import limits_in_force
from penstock.packing.datasets.arrow_extensions import plain_array, plain_cell, plain_schema
from penstock.packing.datasets.arrow_rows import ArrowRows, columns_of, first_category, present
from penstock.packing.datasets.files import (
    check_limit,
    choose_record_files,
    image_name,
    numbered_name,
    recognise_record_files,
)
from penstock.packing.datasets.layout_source import (
    Asked,
    Findings,
    LabelNames,
    Layout,
    LayoutSource,
    require,
)
from penstock.packing.datasets.parquet_schema import OBJECTS_NAME, read_schema
from penstock.packing.items import PackItem
from penstock.printable import printable
from penstock.regular_file import require_regular

ROWS_PER_BATCH = 32
ROWS_OF_NUMBERS = 1 << 16
MOST_KEPT_BYTES = 1 << 28  # of row groups, each of which is read for the sake of some rows
MOST_INFLATION = 50  # columns of images and numbers shrink by much less


def open_parquet(path: str, asked: Asked) -> LayoutSource:
    """Open a Parquet file, or the files of one data set in a folder."""
    title = printable(path)
    files = ParquetFiles.open(choose_record_files(path, (".parquet",), asked), title)
    schema = read_schema(files.schema, files.types, files.has_nulls, files.one_length, title)
    names = LabelNames()
    if schema.label is not None and schema.classes is None and not schema.label_is_float:
        for where, row in files.rows([schema.label]):
            names.add(present(row[schema.label].as_py(), schema.label, where))
        names.finish()
    findings = Findings()
    numbered = schema.has_objects and schema.box_classes is None
    cells = ((where, row[OBJECTS_NAME]) for where, row in files.rows([OBJECTS_NAME]))
    first = first_category(cells) if numbered else 0
    reader = _Reader(files, ArrowRows(schema, names, findings, first))
    return LayoutSource(
        kind="parquet",
        title=asked.title(path),
        columns=columns_of(schema),
        read=lambda index: next(reader.stream(index)),
        length=files.count,
        classes=schema.classes or names.names,
        box_classes=schema.box_classes,
        details="objects.bbox read as left, top, width, height" if schema.has_objects else "",
        findings=findings,
        stream=reader.stream,
        files=tuple(files.paths),
        sequential=_why_sequential(files),
    )


PARQUET = Layout("parquet", lambda path: recognise_record_files(path, (".parquet",)), open_parquet)


def _why_sequential(files: ParquetFiles) -> str:
    largest = files.largest_group
    if largest <= MOST_KEPT_BYTES:
        return ""
    return f"a row group has {largest:,} bytes and must be read whole to get at one row"


@dataclass(frozen=True, slots=True)
class _Reader:
    files: ParquetFiles
    rows: ArrowRows

    def stream(self, start: int) -> Iterator[PackItem]:
        for index, (where, row) in enumerate(self.files.rows(None, start), start):
            data, path = self._image(row[self.rows.schema.image], where)
            name = image_name(path, data, where) if path else numbered_name(index, data)
            yield PackItem(name, data, self.rows.columns(row, where))

    def _image(self, cell: Any, where: str) -> tuple[bytes, str | None]:
        content, path = self.rows.image(cell, where)
        if content is None and path is not None:
            raise SourceError(
                f"{where}: the image is not in the file, only its path {path!r}. "
                "Write the data set again with its images embedded."
            )
        return content or b"", path


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
            {name: plain_cell(table.column(name)[row]) for name in table.schema.names}
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
                    schemas.append(plain_schema(file.schema_arrow))
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
        return any(values.null_count for values in self._values(column))

    def one_length(self, column: str) -> int | None:
        """Tell how long all lists in a column are; None if they differ or one is missing."""
        lengths: set[int | None] = set()
        for values in self._values(column):
            lengths.update(values.value_lengths().unique().to_pylist())
        return lengths.pop() if len(lengths) == 1 else None

    def _values(self, column: str) -> Iterator[Any]:
        for path in self.paths:
            try:
                with self._parquet.ParquetFile(path, memory_map=True) as file:
                    for batch in file.iter_batches(ROWS_OF_NUMBERS, columns=[column]):
                        yield plain_array(batch.column(0))
            except (self._error, OSError) as error:
                raise _unreadable(path, error) from error


def _check_columns(metadata: Any, where: str) -> None:
    """Raise for too many columns, and for columns that inflate to many times their size on disk."""
    count = metadata.num_columns
    check_limit("columns", count, f"{where}: {count:,} columns")
    for group in range(metadata.num_row_groups):
        for number in range(count):
            column = metadata.row_group(group).column(number)
            plain, packed = column.total_uncompressed_size, column.total_compressed_size
            if plain > MOST_INFLATION * packed:
                what = f"{where}, {column.path_in_schema}: {packed:,} bytes that inflate to"
                check_limit("record_bytes", plain, f"{what} {plain:,}")


def _group_bytes(metadata: Any) -> list[int]:
    groups = range(metadata.num_row_groups)
    return [int(metadata.row_group(group).total_byte_size) for group in groups]


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
            yield {name: plain_cell(batch.column(name)[row]) for name in batch.schema.names}
        skip = 0


def _unreadable(path: str, error: Exception) -> SourceError:
    return SourceError(
        f"{printable(path)}: not a Parquet file that can be read ({error}). Get it again."
    )
