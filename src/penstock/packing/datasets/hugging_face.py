"""Data sets of Hugging Face's library `datasets`, which are tables in memory.

Rows are read through the library's own Arrow format, so that what `select`, `shuffle` and `filter`
leave of a table is respected. Images stay the encoded files that they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from penstock.errors import SourceError
from penstock.packing.datasets.arrow_rows import (
    ArrowRows,
    columns_of,
    first_category,
    objects_of,
    present,
)
from penstock.packing.datasets.files import image_name, numbered_name, read_bytes
from penstock.packing.datasets.layout_source import Findings, LabelNames, LayoutSource, require
from penstock.packing.datasets.parquet_schema import (
    OBJECTS_NAME,
    Chosen,
    ParquetSchema,
    hugging_face_features,
    read_schema,
    type_of,
)
from penstock.packing.datasets.upright import upright_file
from penstock.packing.items import LABEL, PackItem
from penstock.printable import printable

BoxForm = Literal["xywh", "xyxy"]

_TABLE, _SPLITS = "datasets.arrow_dataset.Dataset", "datasets.dataset_dict.DatasetDict"
_STREAM = "datasets.iterable_dataset.IterableDataset"
_STREAMS = "datasets.dataset_dict.IterableDatasetDict"
_ROWS_AT_ONCE = 1000


def is_hugging_face(data: object) -> bool:
    """Whether this is an object of `datasets`; the library need not be imported to know it."""
    return bool(_kinds(data) & {_TABLE, _SPLITS, _STREAM, _STREAMS})


def _kinds(data: object) -> set[str]:
    return {f"{base.__module__}.{base.__qualname__}" for base in type(data).__mro__}


class HuggingFaceRows:
    """The rows of a data set, and how each becomes a sample."""

    def __init__(self, table: _Table, rows: ArrowRows) -> None:
        self._table = table
        self._rows = rows

    def content(self, index: int) -> memoryview | bytes:
        """Return the file of an image: where it lies in the table, if it can be used as it is."""
        where = self._table.place(index)
        return self._content(self._table.row(index), where)[0]

    def item(self, index: int, *, with_image: bool = True) -> PackItem:
        """Return a sample; without its image, only its name and the values beside it."""
        where, row = self._table.place(index), self._table.row(index)
        content, path = self._content(row, where)
        start = bytes(content[:64])
        name = image_name(path, start, where) if path else numbered_name(index, start)
        if start.startswith(b"\x89PNG"):  # a picture that was turned may have been another file
            name = str(Path(name).with_suffix(".png"))
        columns = self._rows.columns(row, where)
        return PackItem(name, bytes(content) if with_image else b"", columns)

    def _content(self, row: dict[str, Any], where: str) -> tuple[memoryview | bytes, str | None]:
        cell = row[self._rows.schema.image]
        stored, path = cell, None
        if self._rows.schema.image_form == "struct" and cell.is_valid:
            stored = cell["bytes"]
            path = cell["path"].as_py() if "path" in cell else None
        if stored.is_valid:
            content: memoryview | bytes = memoryview(stored.as_buffer()).cast("B")
        elif path is not None:
            content = _read_file(path, where)
        else:
            raise SourceError(f"{where}: it has no image. Remove such rows with dataset.filter.")
        name = None if path is None else os.path.basename(path)
        return upright_file(content) or content, name


def open_hugging_face(
    dataset: Any,
    *,
    image: str | None = None,
    label: str | Literal[False] | None = None,
    columns: Sequence[str] | None = None,
    box_format: BoxForm | None = None,
) -> tuple[LayoutSource, HuggingFaceRows]:
    """Open a data set for packing and for loading; the arguments are those of `from_hf`."""
    _require_table(dataset)
    table = _Table(dataset)
    features = hugging_face_features(table.schema.metadata or {}, table.title)
    used = _choose_image(features, table, image)
    label_column = _choose_label(features, table, label, used)
    left = [name for name in table.schema.names if name not in {used, label_column}]
    asked = _read_columns(columns, left, table.title)
    schema = read_schema(
        table.schema,
        require("pyarrow.types", "pyarrow", table.title),
        table.has_nulls,
        table.one_length,
        table.title,
        Chosen(used, label_column, asked),
    )
    if schema.image_form == "tensor":
        raise _not_images(used, table.title)
    names = _check_labels(schema, label_column, table)
    findings = Findings()
    corners = schema.has_objects and _boxes_are_corners(table, box_format)
    if box_format is not None and not schema.has_objects:
        raise SourceError(
            f"{table.title}: box_format={box_format!r}, but there is no column {OBJECTS_NAME!r} "
            "with bbox and category. Leave it out."
        )
    numbered = schema.has_objects and schema.box_classes is None
    first = first_category(table.cells(OBJECTS_NAME)) if numbered else 0
    rows = HuggingFaceRows(
        table.only(used, schema.label, *schema.user, *[OBJECTS_NAME] * schema.has_objects),
        ArrowRows(schema, names, findings, first, boxes_are_corners=corners),
    )
    told = "left, top, right, bottom" if corners else "left, top, width, height"
    layout = LayoutSource(
        kind="hugging face",
        title=table.title,
        columns=columns_of(schema),
        read=rows.item,
        length=len(dataset),
        classes=schema.classes or names.names,
        box_classes=schema.box_classes,
        details=f"objects.bbox read as {told}" if schema.has_objects else "",
        findings=findings,
    )
    return layout, rows


class _Table:
    """The table behind a data set, by the library's public names."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._arrow = dataset.with_format("arrow")
        self.schema = dataset.features.arrow_schema
        name = getattr(dataset.info, "dataset_name", None) or "Hugging Face data set"
        self.title = printable(f"{name}, {dataset.split}" if dataset.split else name)

    def __len__(self) -> int:
        return len(self._dataset)

    def only(self, *names: str | None) -> _Table:
        """The same with fewer columns, so that others are not read for nothing."""
        kept = [name for name in dict.fromkeys(names) if name is not None]
        return _Table(self._dataset.select_columns(kept))

    def place(self, index: int) -> str:
        """What errors call a row."""
        return f"{self.title}, row {index:,}"

    def row(self, index: int) -> dict[str, Any]:
        """A row's cells, as pyarrow scalars."""
        table = self._arrow[int(index)]
        return {name: table.column(name)[0] for name in table.schema.names}

    def cells(self, column: str) -> Iterator[tuple[str, Any]]:
        """All cells of a column, each with what errors call it."""
        only = self._arrow.select_columns([column])
        for start in range(0, len(only), _ROWS_AT_ONCE):
            cells = only[start : start + _ROWS_AT_ONCE].column(column)
            for number, cell in enumerate(cells, start):
                yield self.place(number), cell

    def has_nulls(self, column: str) -> bool:
        """Whether a value is missing anywhere in a column."""
        return any(values.null_count for values in self._values(column))

    def one_length(self, column: str) -> int | None:
        """How long all lists in a column are; None if they differ or one is missing."""
        lengths: set[int | None] = set()
        for values in self._values(column):
            for chunk in values.chunks:
                lengths.update(chunk.value_lengths().unique().to_pylist())
        return lengths.pop() if len(lengths) == 1 else None

    def _values(self, column: str) -> Iterator[Any]:
        only = self._arrow.select_columns([column])
        for start in range(0, len(only), 1 << 16):
            yield only[start : start + (1 << 16)].column(column)


def _require_table(dataset: Any) -> None:
    kinds = _kinds(dataset)
    if kinds & {_SPLITS, _STREAMS}:
        splits = ", ".join(map(repr, dataset)) or "none"
        raise SourceError(
            f"from_hf: a DatasetDict has several data sets. Give one of its splits ({splits}): "
            f"dataset[{next(iter(dataset), 'train')!r}]."
        )
    if _STREAM in kinds:
        raise SourceError(
            "from_hf: a streaming data set (IterableDataset) has no length, and its rows cannot be "
            "read in any order. Load it without streaming=True, or write the stream to disk "
            "first: Dataset.from_generator(lambda: iter(stream))."
        )
    if _TABLE not in kinds:
        raise SourceError(
            f"from_hf: a datasets.Dataset is needed, got {type(dataset).__name__}. "
            "Loader and open_data take files, folders and lists."
        )
    if dataset.format["type"] == "custom":
        raise SourceError(
            "from_hf: the data set has a transform of its own (set_transform or with_transform), "
            "which would be ignored. Give its steps to Loader(transform=...), and the data set "
            "without them: dataset.with_format(None)."
        )
    if not len(dataset):
        raise SourceError("from_hf: the data set is empty. Give one with at least one row.")


def _choose_image(features: dict[str, Any], table: _Table, asked: str | None) -> str:
    images = [name for name in table.schema.names if type_of(features.get(name)) == "Image"]
    listed = ", ".join(map(repr, images)) or "none"
    if asked is None and len(images) != 1:
        raise SourceError(
            f"{table.title}: its columns with the type Image are {listed}; one is needed. "
            "Name the column of images: from_hf(dataset, image=...)."
        )
    chosen = images[0] if asked is None else asked
    if chosen not in table.schema.names:
        raise SourceError(
            f"{table.title}: no column {chosen!r}. Its columns with the type Image are {listed}."
        )
    kind = str(table.schema.field(chosen).type)
    if not (chosen in images or kind in {"binary", "large_binary"} or "bytes: binary" in kind):
        raise _not_images(chosen, table.title)
    mode = (features.get(chosen) or {}).get("mode")
    if mode not in {None, "RGB"}:
        raise SourceError(
            f"{table.title}: the column {chosen!r} is Image(mode={mode!r}), but images are decoded "
            f"to RGB. If that is meant: dataset.cast_column({chosen!r}, Image())."
        )
    return chosen


def _not_images(column: str, title: str) -> SourceError:
    return SourceError(
        f"{title}: the column {column!r} does not have encoded images. Paths and arrays become "
        f"images with dataset.cast_column({column!r}, datasets.Image())."
    )


def _choose_label(
    features: dict[str, Any], table: _Table, asked: str | Literal[False] | None, image: str
) -> str | None:
    if asked is False:
        return None
    names = [name for name in table.schema.names if name != image]
    if asked is not None:
        if asked not in names:
            raise SourceError(
                f"{table.title}: label={asked!r}, but its other columns are {', '.join(names)}."
            )
        return asked
    classes = [name for name in names if type_of(features.get(name)) == "ClassLabel"]
    if len(classes) > 1:
        raise SourceError(
            f"{table.title}: it has several columns of classes: {', '.join(classes)}. "
            "Say which is the label: from_hf(dataset, label=...), or label=False for none."
        )
    return classes[0] if classes else next((name for name in names if name == LABEL.name), None)


def _read_columns(asked: Sequence[str] | None, there: list[str], title: str) -> tuple[str, ...]:
    if asked is None:
        return tuple(there)
    if isinstance(asked, str) or not all(isinstance(name, str) for name in asked):
        raise SourceError(f"{title}: columns must be a list of names, got {asked!r}.")
    for name in asked:
        if name not in there:
            raise SourceError(
                f"{title}: columns: no column {name!r} beside image and label. "
                f"There are {', '.join(there) or 'none'}."
            )
    return tuple(asked)


def _check_labels(schema: ParquetSchema, asked: str | None, table: _Table) -> LabelNames:
    """Read all labels, so that a wrong one is an error now, not in the middle of an epoch."""
    names = LabelNames()
    if asked is None:
        return names
    if schema.label is None:
        if all(column.name != LABEL.name for column in schema.user.values()):
            raise SourceError(
                f"{table.title}: the column {asked!r} cannot be the label: a number, a text, or "
                "lists of numbers of one length are needed. Use label=False, and "
                f"Loader(columns=[{asked!r}]) to have it all the same."
            )
        return names
    classes = schema.classes
    for where, cell in table.cells(asked):
        value = present(cell.as_py(), asked, where)
        if classes is not None and not 0 <= value < len(classes):
            raise SourceError(
                f"{where}: {asked} is {value}, but there are {len(classes):,} classes, counted "
                "from 0. Labels of a test split are often hidden as -1: use label=False."
            )
        if classes is None and not schema.label_is_float:
            names.add(value)
    names.finish()
    return names


def _boxes_are_corners(table: _Table, asked: BoxForm | None) -> bool:
    """Whether boxes are left, top, right, bottom; SourceError where that cannot be told.

    No box can be corners if its third number is not above the first, or its fourth not above the
    second: then all boxes are left, top, width, height.
    """
    if asked is not None:
        if asked not in {"xywh", "xyxy"}:
            raise SourceError(f"{table.title}: box_format must be 'xywh' or 'xyxy', got {asked!r}.")
        return asked == "xyxy"
    found = False
    for boxes in _numbers_of_boxes(table):
        found = found or bool(len(boxes))
        if boxes.max(initial=0) > 1 and (boxes[:, 2:] <= boxes[:, :2]).any():
            return False
    if not found:
        return False
    raise SourceError(
        f"{table.title}: nothing tells whether the boxes in {OBJECTS_NAME!r} are left, top, width, "
        "height or left, top, right, bottom, in pixels. Say so: from_hf(dataset, "
        "box_format='xywh') or 'xyxy'."
    )


def _numbers_of_boxes(table: _Table) -> Iterable[Any]:
    for where, cell in table.cells(OBJECTS_NAME):
        rows, _ = objects_of(cell.as_py(), where)
        try:
            yield np.array(rows, np.float64).reshape(len(rows), 4)
        except (ValueError, TypeError) as error:
            raise SourceError(f"{where}: a box must be four numbers ({error}).") from error


def _read_file(path: str, where: str) -> bytes:
    if "://" in path:
        raise SourceError(
            f"{where}: its image is at {printable(path)}, and only local files are read. Put the "
            "images into the table first, as dataset.save_to_disk does."
        )
    return read_bytes(path, "record_bytes")
