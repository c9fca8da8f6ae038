"""MXNet RecordIO: images with a label, a list of labels, or boxes as GluonCV and SSD write them.

A list of labels is read as boxes if it looks like them in every record: width of its header,
width of an object (5 or more), the rest of the header, then objects: class, left, top, right,
bottom as fractions of the image, and more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.packing.datasets.boxes import boxes_from_fractions, note_odd_boxes
from penstock.packing.datasets.files import read_text
from penstock.packing.datasets.images import image_size
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.names import numbered_name, safe_name
from penstock.packing.datasets.recordio_framing import ImageRecord, image_records
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, REGRESSION_LABEL, Column, PackItem
from penstock.printable import printable

LABEL_VECTOR = Column("label_vector", "ragged", "float32")
LARGEST_CLASS = 1 << 24  # floats tell whole numbers apart up to here
NO_SIZE = Size(1, 1)  # for images without objects, whose size does not matter
NO_IMAGE = "records without an image (such as an index) were left out"
PADDING = "boxes of a negative class, which fill up a list, were left out"
INDEX_DIFFERS = "index files list another number of records than there are"


def open_recordio(path: str) -> LayoutSource:
    """Open a .rec file; names come from the .lst beside it, if they tell its images apart."""
    survey = _Survey()
    for number, record in enumerate(image_records(path)):
        survey.add(number, record)
    if not survey.images:
        raise SourceError(f"{printable(path)}: no image in it.")
    findings = Findings()
    names = _listed_names(path)
    columns = survey.columns()
    return LayoutSource(
        kind="recordio",
        title=printable(path),
        columns=columns,
        read=_Reader(path, survey.places, columns, survey.object_width, names, findings).items,
        length=survey.images,
        details=f"{survey.boxes:,} boxes" if BOXES in columns else "",
        findings=findings,
        files=(path,),
    )


@dataclass(slots=True)
class _Survey:
    images: int = 0
    boxes: int = 0
    single: bool = True  # every record has one label ...
    whole: bool = True  # ... which is a whole number
    detection: bool = True
    object_width: int = 0
    # Of each image, the number of its record and the byte at which that begins.
    places: list[tuple[int, int]] = field(default_factory=list)

    def add(self, number: int, record: ImageRecord) -> None:
        if not len(record.image):
            return
        self.places.append((number, record.start))
        self.images += 1
        self.single = self.single and not record.vector
        label = float(record.labels[0])
        self.whole = self.whole and label.is_integer() and abs(label) <= LARGEST_CLASS
        width = _object_width(record)
        self.object_width = self.object_width or width
        self.detection = self.detection and width == self.object_width > 0
        if self.detection:
            self.boxes += len(_objects(record))

    def columns(self) -> tuple[Column, ...]:
        if self.single:
            return (LABEL if self.whole else REGRESSION_LABEL,)
        if not self.detection:
            return (LABEL_VECTOR,)
        more = self.object_width - 5
        extra = (Column("box_extra", "ragged", "float32", (more,)),) if more else ()
        return (BOXES, BOX_LABELS, *extra)


def _object_width(record: ImageRecord) -> int:
    """Return how many numbers an object has, or 0 if these labels are no list of objects."""
    labels = record.labels
    if not record.vector or len(labels) < 2 or not np.isfinite(labels[:2]).all():
        return 0
    header, width = float(labels[0]), float(labels[1])
    fits = header.is_integer() and width.is_integer() and 2 <= header <= len(labels)
    return int(width) if fits and width >= 5 and (len(labels) - header) % width == 0 else 0


def _objects(record: ImageRecord) -> npt.NDArray[np.float32]:
    header, width = int(record.labels[0]), int(record.labels[1])
    return record.labels[header:].reshape(-1, width)


@dataclass(frozen=True, slots=True)
class _Reader:
    path: str
    places: list[tuple[int, int]]
    columns: tuple[Column, ...]
    object_width: int
    names: dict[int, str]
    findings: Findings

    def items(self, start: int) -> Iterator[PackItem]:
        if start >= len(self.places):
            return
        records, begin = self.places[start] if start else (0, 0)
        position = start
        for record in image_records(self.path, begin, records):
            records += 1
            if len(record.image):
                yield self._item(record, position)
                position += 1
            else:
                self.findings.add(NO_IMAGE, record.where)
        self._compare_index(records)

    def _item(self, record: ImageRecord, position: int) -> PackItem:
        data = bytes(record.image)
        name = self.names.get(record.identity) or numbered_name(position, data)
        columns: dict[str, Any]
        if BOXES in self.columns:
            columns = self._boxes(record, data)
        elif LABEL_VECTOR in self.columns:
            columns = {"label_vector": record.labels}
        else:
            label = float(record.labels[0])
            columns = {"label": int(label) if LABEL in self.columns else label}
        return PackItem(name, data, columns)

    def _boxes(self, record: ImageRecord, data: bytes) -> dict[str, Any]:
        objects = _objects(record)
        if not np.all(np.abs(objects[:, 0]) <= LARGEST_CLASS):
            raise SourceError(f"{record.where}: a box of class {objects[:, 0].tolist()[:10]}.")
        padding = int(np.count_nonzero(objects[:, 0] < 0))
        if padding:
            self.findings.add(PADDING, record.where, padding)
            objects = objects[objects[:, 0] >= 0]
        size = image_size(data, record.where, self.findings) if len(objects) else None
        if size is None:
            objects = objects[:0]
        boxes = boxes_from_fractions(objects[:, 1:5].tolist(), size or NO_SIZE, record.where)
        note_odd_boxes(boxes, size, self.findings, record.where)
        columns = {"boxes": boxes, "box_labels": objects[:, 0].astype(np.int64)}
        if self.object_width > 5:
            columns["box_extra"] = objects[:, 5:]
        return columns

    def _compare_index(self, records: int) -> None:
        index = os.path.splitext(self.path)[0] + ".idx"
        if os.path.exists(index):
            lines = sum(1 for line in read_text(index, "text_bytes").splitlines() if line)
            if lines != records:
                self.findings.add(INDEX_DIFFERS, printable(index))


def _listed_names(path: str) -> dict[int, str]:
    """Return names by id from the .lst file, or none where two images share a name."""
    listing = os.path.splitext(path)[0] + ".lst"
    if not os.path.exists(listing):
        return {}
    names: dict[int, str] = {}
    for number, line in enumerate(read_text(listing, "text_bytes").splitlines(), start=1):
        words = line.split("\t")
        if len(words) >= 2 and re.fullmatch(r"\s*[0-9]{1,18}\s*", words[0]):
            where = f"{printable(listing)}, line {number}"
            names[int(words[0])] = safe_name(words[-1].strip(), where)
    return names if len(set(names.values())) == len(names) else {}
