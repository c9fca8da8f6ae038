"""Parquet with images: Hugging Face's layout, columns of encoded images, and tensors.

An `objects` column with `bbox` and `category` is read as Hugging Face documents it:
boxes are left, top, width, height in pixels, as in COCO.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.limits import limits_in_force
from penstock.packing.datasets.annotations import (
    boxes_from_corner_and_size,
    note_odd_boxes,
    png_of_pixels,
)
from penstock.packing.datasets.files import (
    check_limit,
    choose_record_files,
    image_name,
    numbered_name,
    recognise_record_files,
)
from penstock.packing.datasets.layout_source import (
    FROM_0,
    FROM_1,
    Asked,
    Findings,
    LabelNames,
    Layout,
    LayoutSource,
    require,
)
from penstock.packing.datasets.parquet_schema import OBJECTS_NAME, ParquetSchema, read_schema
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, REGRESSION_LABEL, Column, PackItem
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
            names.add(_present(row[schema.label].as_py(), schema.label, where))
        names.finish()
    findings = Findings()
    numbered = schema.has_objects and schema.box_classes is None
    first = _first_category(files) if numbered else 0
    reader = _Reader(files, schema, names, findings, first)
    return LayoutSource(
        kind="parquet",
        title=asked.title(path),
        columns=_columns(schema),
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


def _columns(schema: ParquetSchema) -> tuple[Column, ...]:
    columns: list[Column] = []
    if schema.label is not None:
        columns.append(REGRESSION_LABEL if schema.label_is_float else LABEL)
    if schema.has_objects:
        columns += [BOXES, BOX_LABELS]
    return (*columns, *schema.user.values())


@dataclass(frozen=True, slots=True)
class _Reader:
    files: ParquetFiles
    schema: ParquetSchema
    names: LabelNames
    findings: Findings
    first_category: int

    def stream(self, start: int) -> Iterator[PackItem]:
        for index, (where, row) in enumerate(self.files.rows(None, start), start):
            data, path = self._image(row[self.schema.image], where)
            name = image_name(path, data, where) if path else numbered_name(index, data)
            yield PackItem(name, data, self._row_columns(row, where))

    def _image(self, cell: Any, where: str) -> tuple[bytes, str | None]:
        if self.schema.image_form == "tensor":
            values = cell.values.to_numpy(zero_copy_only=False) if cell.is_valid else np.zeros(0)
            shape = self.schema.tensor_shape or ()
            if values.size != np.prod(shape, dtype=object):
                raise SourceError(f"{where}: {values.size:,} values do not fill the shape {shape}.")
            return png_of_pixels(values.reshape(shape), where), None
        value = cell.as_py()
        if self.schema.image_form == "binary":
            return value or b"", None
        content = (value or {}).get("bytes")
        path = (value or {}).get("path")
        if content is None and path is not None:
            raise SourceError(
                f"{where}: the image is not in the file, only its path {path!r}. "
                "Write the data set again with its images embedded."
            )
        return content or b"", path

    def _row_columns(self, row: dict[str, Any], where: str) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        label = self.schema.label
        if label is not None:
            value = _present(row[label].as_py(), label, where)
            by_name = self.schema.classes is None and not self.schema.label_is_float
            columns["label"] = self.names.number(value, where) if by_name else value
        if self.schema.has_objects:
            boxes, labels = _objects(row[OBJECTS_NAME].as_py(), where)
            note_odd_boxes(boxes, None, self.findings, where)
            columns["boxes"] = boxes
            columns["box_labels"] = self._box_labels(labels, where)
        for name, column in self.schema.user.items():
            columns[column.name] = _user_value(row[name].as_py(), column)
        return columns

    def _box_labels(self, labels: npt.NDArray[np.int64], where: str) -> npt.NDArray[np.int64]:
        classes = self.schema.box_classes
        outside = labels < self.first_category
        if classes is None and len(labels):
            self.findings.add(FROM_1 if self.first_category else FROM_0, where, len(labels))
        elif classes is not None:
            outside |= labels >= len(classes)
        if outside.any():
            raise SourceError(f"{where}: category {labels[outside][0]} is not one of the classes.")
        return labels - self.first_category


def _first_category(files: ParquetFiles) -> int:
    """Return 0 if categories without names count from there, else 1: 0 is the background then."""
    for where, row in files.rows([OBJECTS_NAME]):
        if (_objects(row[OBJECTS_NAME].as_py(), where)[1] == 0).any():
            return 0
    return 1


def _objects(value: Any, where: str) -> tuple[Any, Any]:
    """Read a struct of lists, or a list of structs."""
    try:
        if isinstance(value, list):
            value = {key: [item[key] for item in value] for key in ("bbox", "category")}
        value = value or {"bbox": [], "category": []}
        boxes = boxes_from_corner_and_size(value["bbox"] or [], where)
        labels = np.array(value["category"] or [], np.int64)
    except (ValueError, TypeError, OverflowError) as error:
        raise SourceError(f"{where}: objects must be boxes with categories ({error}).") from error
    if len(boxes) != len(labels):
        raise SourceError(f"{where}: {len(boxes)} boxes but {len(labels)} categories.")
    return boxes, labels


def _user_value(value: Any, column: Column) -> Any:
    if column.kind == "bytes":
        return (value.get("bytes") if isinstance(value, dict) else value) or b""
    if column.kind == "ragged":
        return np.array(value or [], column.dtype)
    if column.kind == "text":
        return value if isinstance(value, str) else json.dumps(value, default=str)
    return value


def _present(value: Any, name: str, where: str) -> Any:
    if value is None:
        raise SourceError(f"{where}: {name} is empty. Every row needs a label.")
    if isinstance(value, float) and not math.isfinite(value):
        raise SourceError(f"{where}: {name} is {value}, not a finite number.")
    return int(value) if isinstance(value, bool) else value


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
                        yield batch.column(0)
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
            yield {name: batch.column(name)[row] for name in batch.schema.names}
        skip = 0


def _unreadable(path: str, error: Exception) -> SourceError:
    return SourceError(
        f"{printable(path)}: not a Parquet file that can be read ({error}). Get it again."
    )
