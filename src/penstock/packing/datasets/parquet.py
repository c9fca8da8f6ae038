"""Parquet with images: Hugging Face's layout, columns of encoded images, and tensors.

An `objects` column with `bbox` and `category` is read as Hugging Face documents it:
boxes are left, top, width, height in pixels, as in COCO.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.packing.datasets.boxes import boxes_from_corner_and_size, note_odd_boxes
from penstock.packing.datasets.files import is_image_name
from penstock.packing.datasets.images import png_of_pixels
from penstock.packing.datasets.labels import LabelNames
from penstock.packing.datasets.layout_source import FROM_0, FROM_1, Findings, LayoutSource
from penstock.packing.datasets.names import image_extension, numbered_name, safe_name
from penstock.packing.datasets.parquet_files import MOST_KEPT_BYTES, ParquetFiles
from penstock.packing.datasets.parquet_schema import OBJECTS_NAME, ParquetSchema, read_schema
from penstock.packing.datasets.record_files import choose_record_files
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, REGRESSION_LABEL, Column, PackItem
from penstock.printable import printable


def open_parquet(path: str, split: str | None = None) -> LayoutSource:
    """Open a Parquet file, or the files of one data set in a folder."""
    title = printable(path)
    files = ParquetFiles.open(choose_record_files(path, (".parquet",), split), title)
    schema = read_schema(files.schema, files.types, files.has_nulls, files.one_length, title)
    names = LabelNames()
    if schema.label is not None and schema.classes is None and not schema.label_is_float:
        for where, row in files.rows([schema.label]):
            names.add(_present(row[schema.label].as_py(), schema.label, where))
        names.finish()
    findings = Findings()
    numbered = schema.has_objects and schema.box_classes is None
    first = _first_category(files) if numbered else 0
    return LayoutSource(
        kind="parquet",
        title=title + (f", {split}" if split else ""),
        columns=_columns(schema),
        read=_Reader(files, schema, names, findings, first).items,
        length=files.count,
        classes=schema.classes or names.names,
        box_classes=schema.box_classes,
        details="objects.bbox read as left, top, width, height" if schema.has_objects else "",
        findings=findings,
        files=tuple(files.paths),
        sequential=_sequential(files),
    )


def _sequential(files: ParquetFiles) -> str:
    if files.largest_group <= MOST_KEPT_BYTES:
        return ""
    return f"a row group has {files.largest_group:,} bytes and must be read whole to get at one row"


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

    def items(self, start: int) -> Iterator[PackItem]:
        for offset, (where, row) in enumerate(self.files.rows(None, start)):
            data, path = self._image(row[self.schema.image], where)
            name = _name(path, start + offset, data, where)
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
            raise SourceError(f"{where}: category {labels[outside][0]} is none of the classes.")
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


def _name(path: str | None, index: int, data: bytes, where: str) -> str:
    if not path:
        return numbered_name(index, data)
    name = safe_name(path, where)
    return name if is_image_name(name) else name + (image_extension(data) or "")
