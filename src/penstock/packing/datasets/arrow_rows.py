"""Rows of Arrow tables with images, as samples: for Parquet files and Hugging Face data sets.

An `objects` column has `bbox` and `category`. Hugging Face documents boxes as left, top, width,
height in pixels, as in COCO; `boxes_are_corners` reads left, top, right, bottom.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.packing.datasets.annotations import (
    boxes_from_corner_and_size,
    boxes_from_rows,
    note_odd_boxes,
    png_of_pixels,
)
from penstock.packing.datasets.layout_source import FROM_0, FROM_1, Findings, LabelNames
from penstock.packing.datasets.parquet_schema import OBJECTS_NAME, ParquetSchema
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, REGRESSION_LABEL, Column


def columns_of(schema: ParquetSchema) -> tuple[Column, ...]:
    """Return the columns that samples have beside their images."""
    columns: list[Column] = []
    if schema.label is not None:
        columns.append(REGRESSION_LABEL if schema.label_is_float else LABEL)
    if schema.has_objects:
        columns += [BOXES, BOX_LABELS]
    return (*columns, *schema.user.values())


@dataclass(frozen=True, slots=True)
class ArrowRows:
    """What the cells of a row mean."""

    schema: ParquetSchema
    names: LabelNames  # of labels that are not numbered yet
    findings: Findings
    first_category: int  # 0, or 1 if categories without names count from there
    boxes_are_corners: bool = False

    def image(self, cell: Any, where: str) -> tuple[bytes | None, str | None]:
        """Return the bytes of an image file, its path, or both."""
        if self.schema.image_form == "tensor":
            values = cell.values.to_numpy(zero_copy_only=False) if cell.is_valid else np.zeros(0)
            shape = self.schema.tensor_shape or ()
            if values.size != np.prod(shape, dtype=object):
                raise SourceError(f"{where}: {values.size:,} values do not fill the shape {shape}.")
            return png_of_pixels(values.reshape(shape), where), None
        value = cell.as_py()
        if self.schema.image_form == "binary":
            return value, None
        return (value or {}).get("bytes"), (value or {}).get("path")

    def columns(self, row: dict[str, Any], where: str) -> dict[str, Any]:
        """Return the values beside the image."""
        columns: dict[str, Any] = {}
        label = self.schema.label
        if label is not None:
            value = present(row[label].as_py(), label, where)
            by_name = self.schema.classes is None and not self.schema.label_is_float
            columns["label"] = self.names.number(value, where) if by_name else value
        if self.schema.has_objects:
            boxes, labels = self._objects(row[OBJECTS_NAME].as_py(), where)
            note_odd_boxes(boxes, None, self.findings, where)
            columns["boxes"] = boxes
            columns["box_labels"] = self._box_labels(labels, where)
        for name, column in self.schema.user.items():
            columns[column.name] = _user_value(row[name].as_py(), column)
        return columns

    def _objects(self, value: Any, where: str) -> tuple[Any, Any]:
        rows, categories = objects_of(value, where)
        read = boxes_from_rows if self.boxes_are_corners else boxes_from_corner_and_size
        try:
            return read(rows, where), np.array(categories, np.int64)
        except (ValueError, TypeError, OverflowError) as error:
            raise _bad_objects(where, error) from error

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


def first_category(cells: Iterable[tuple[str, Any]]) -> int:
    """Return 0 if categories without names count from there, else 1: 0 is the background then.

    `cells` are those of the `objects` column, each with what errors call it.
    """
    return int(all(0 not in objects_of(cell.as_py(), where)[1] for where, cell in cells))


def objects_of(value: Any, where: str) -> tuple[list[Any], list[Any]]:
    """Return boxes and categories of a struct of lists, or of a list of structs."""
    try:
        if isinstance(value, list):
            value = {key: [item[key] for item in value] for key in ("bbox", "category")}
        value = value or {"bbox": [], "category": []}
        boxes, labels = list(value["bbox"] or []), list(value["category"] or [])
    except (ValueError, TypeError) as error:
        raise _bad_objects(where, error) from error
    if len(boxes) != len(labels):
        raise SourceError(f"{where}: {len(boxes)} boxes but {len(labels)} categories.")
    return boxes, labels


def _bad_objects(where: str, error: Exception) -> SourceError:
    return SourceError(f"{where}: objects must be boxes with categories ({error}).")


def _user_value(value: Any, column: Column) -> Any:
    if column.kind == "bytes":
        return (value.get("bytes") if isinstance(value, dict) else value) or b""
    if column.kind == "ragged":
        return np.array(value or [], column.dtype)
    if column.kind == "text":
        return value if isinstance(value, str) else json.dumps(value, default=str)
    return value


def present(value: Any, name: str, where: str) -> Any:
    """Return a label, which must be there and finite."""
    if value is None:
        raise SourceError(f"{where}: {name} is empty. Every row needs a label.")
    if isinstance(value, float) and not math.isfinite(value):
        raise SourceError(f"{where}: {name} is {value}, not a finite number.")
    return int(value) if isinstance(value, bool) else value
