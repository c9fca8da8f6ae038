"""MXNet RecordIO: images with a label, a list of labels, or boxes as GluonCV and SSD write them.

A list of labels is read as boxes if it looks like them in every record: width of its header,
width of an object (5 or more), the rest of the header, then objects: class, left, top, right,
bottom as fractions of the image, and more.
"""

from __future__ import annotations

import os
import re
import struct
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.limits import beyond
from penstock.packing.datasets.annotations import boxes_from_fractions, image_size, note_odd_boxes
from penstock.packing.datasets.files import (
    MappedInput,
    check_limit,
    cut_short,
    kept_maps,
    numbered_name,
    only_file,
    read_lines,
    recognise_file,
    safe_name,
)
from penstock.packing.datasets.layout_source import Asked, Findings, Layout, LayoutSource
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, REGRESSION_LABEL, Column, PackItem
from penstock.printable import printable

LABEL_VECTOR = Column("label_vector", "ragged", "float32")
LARGEST_CLASS = 1 << 24  # floats tell whole numbers apart up to here
NO_SIZE = Size(1, 1)  # for images without objects, whose size does not matter
NO_IMAGE = "records without an image (such as an index) were left out"
PADDING = "boxes of a negative class, which fill up a list, were left out"
INDEX_DIFFERS = "index files list another number of records than there are"

MAGIC = 0xCED7230A
MAGIC_BYTES = struct.pack("<I", MAGIC)
FRAME_BYTES = 8
IMAGE_HEADER = struct.Struct("<IfQQ")  # number of labels, label, id, second id
WHOLE, FIRST, MIDDLE, LAST = 0, 1, 2, 3


def open_recordio(path: str, _: Asked) -> LayoutSource:
    """Open a .rec file; names come from the .lst beside it, if they tell its images apart."""
    path = only_file(path, (".rec",))
    survey = _Survey()
    for record in image_records(path):
        survey.add(record)
    if not survey.images:
        raise SourceError(f"{printable(path)}: no image in it.")
    findings = Findings()
    columns = survey.columns()
    index = os.path.splitext(path)[0] + ".idx"
    is_other_index = os.path.exists(index) and len(read_lines(index)) != survey.records
    return LayoutSource(
        kind="recordio",
        title=printable(path),
        columns=columns,
        read=_Reader(path, columns, survey, _listed_names(path), findings).read,
        length=survey.images,
        details=f"{survey.boxes:,} boxes" if BOXES in columns else "",
        findings=findings,
        files=(path,),
        known=(
            (NO_IMAGE, survey.first_without_image, survey.records - survey.images),
            (INDEX_DIFFERS, printable(index), int(is_other_index)),
        ),
    )


RECORDIO = Layout(
    "recordio", lambda path: recognise_file(path, (".rec",)), open_recordio, splits=False
)


@dataclass(slots=True)
class _Survey:
    records: int = 0
    places: array[int] = field(default_factory=lambda: array("q"))  # byte and number of images
    first_without_image: str = ""
    boxes: int = 0
    single: bool = True  # every record has one label ...
    whole: bool = True  # ... which is a whole number
    detection: bool = True
    object_width: int = 0

    def add(self, record: ImageRecord) -> None:
        self.records += 1
        if not len(record.image):
            self.first_without_image = self.first_without_image or record.where
            return
        self.places.extend((record.start, self.records - 1))
        self.single = self.single and not record.vector
        label = float(record.labels[0])
        self.whole = self.whole and label.is_integer() and abs(label) <= LARGEST_CLASS
        width = _object_width(record)
        self.object_width = self.object_width or width
        self.detection = self.detection and width == self.object_width > 0
        if self.detection:
            self.boxes += len(_objects(record))

    @property
    def images(self) -> int:
        return len(self.places) // 2

    def columns(self) -> tuple[Column, ...]:
        if self.single:
            return (LABEL if self.whole else REGRESSION_LABEL,)
        if not self.detection:
            return (LABEL_VECTOR,)
        more = self.object_width - 5
        extra = (Column("box_extra", "ragged", "float32", (more,)),) if more else ()
        return (BOXES, BOX_LABELS, *extra)


def _object_width(record: ImageRecord) -> int:
    """Return how many numbers an object has, or 0 if these labels are not a list of objects."""
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
    columns: tuple[Column, ...]
    survey: _Survey
    names: dict[int, str]
    findings: Findings
    maps: Callable[[str], MappedInput] = field(default_factory=kept_maps)

    def read(self, index: int) -> PackItem:
        start, number = self.survey.places[2 * index : 2 * index + 2]
        record = next(image_records(self.maps(self.path), start, number))
        data = bytes(record.image)
        name = self.names.get(record.identity) or numbered_name(index, data)
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
        self.findings.add(PADDING, record.where, padding)
        objects = objects[objects[:, 0] >= 0]
        size = image_size(data, record.where, self.findings) if len(objects) else None
        if size is None:
            objects = objects[:0]
        boxes = boxes_from_fractions(objects[:, 1:5].tolist(), size or NO_SIZE, record.where)
        note_odd_boxes(boxes, size, self.findings, record.where)
        columns = {"boxes": boxes, "box_labels": objects[:, 0].astype(np.int64)}
        if self.survey.object_width > 5:
            columns["box_extra"] = objects[:, 5:]
        return columns


def _listed_names(path: str) -> dict[int, str]:
    """Return names by id from the .lst file, or none where two images share a name."""
    listing = os.path.splitext(path)[0] + ".lst"
    if not os.path.exists(listing):
        return {}
    names: dict[int, str] = {}
    for where, line in read_lines(listing):
        words = line.split("\t")
        if len(words) >= 2 and re.fullmatch(r"\s*[0-9]{1,18}\s*", words[0]):
            names[int(words[0])] = safe_name(words[-1].strip(), where)
    return names if len(set(names.values())) == len(names) else {}


class ImageRecord(NamedTuple):
    """One image of a .rec file."""

    where: str
    start: int  # its first byte in the file
    identity: int
    labels: npt.NDArray[np.float32]  # one, or as many as the header announced
    vector: bool  # whether labels were announced, so that even a single one is a list
    image: memoryview


def image_records(
    file: str | MappedInput, start: int = 0, number: int = 0
) -> Iterator[ImageRecord]:
    """Yield the images of a .rec file from a byte on, which begins the record of that number."""
    for where, begin, record in _records(file, start, number):
        if len(record) < IMAGE_HEADER.size:
            raise SourceError(f"{where}: {len(record)} bytes are too few for an image's header.")
        count, label, identity, _ = IMAGE_HEADER.unpack_from(record)
        rest = record[IMAGE_HEADER.size :]
        if 4 * count > len(rest):
            raise SourceError(f"{where}: it announces {count:,} labels, more than it has bytes.")
        labels = np.frombuffer(rest[: 4 * count], "<f4") if count else np.array([label], np.float32)
        yield ImageRecord(where, begin, identity, labels, count > 0, rest[4 * count :])


def _records(
    file: str | MappedInput, position: int, number: int
) -> Iterator[tuple[str, int, memoryview]]:
    """Yield whole records; a record that contained the magic number was split at it."""
    data = MappedInput(file) if isinstance(file, str) else file
    title = data.title
    begin, held = position, 0
    parts: list[bytes] = []
    while position < len(data):
        where = f"{title}, record {number:,} (byte {position:,})"
        if position + FRAME_BYTES > len(data):
            raise cut_short(where)
        magic, word = struct.unpack("<II", data[position : position + FRAME_BYTES])
        flag, length = word >> 29, word & (2**29 - 1)
        if magic != MAGIC:
            raise SourceError(f"{where}: no RecordIO mark here; damaged, or not a RecordIO file.")
        if length > len(data) - position - FRAME_BYTES:
            raise cut_short(where)
        held += length + len(MAGIC_BYTES)
        limit = "record_bytes" if beyond("record_bytes", held) else "nodes"
        count = held if limit == "record_bytes" else len(parts)
        size = f"{held:,} bytes in {len(parts) + 1:,} parts"
        check_limit(limit, count, f"{where}: {size}", counting=True)
        start = position + FRAME_BYTES
        part = data[start : start + length]
        position += FRAME_BYTES + (length + 3) // 4 * 4
        if flag not in {WHOLE, FIRST, MIDDLE, LAST} or (flag in {WHOLE, FIRST}) == bool(parts):
            raise SourceError(f"{where}: its parts are out of order; the file is damaged.")
        parts.append(part)
        if flag in {WHOLE, LAST}:
            yield where, begin, memoryview(MAGIC_BYTES.join(parts))
            parts, held, begin = [], 0, position
            number += 1
    if parts:
        raise cut_short(f"{title}, record {number:,}")
