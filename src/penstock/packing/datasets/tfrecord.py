"""TFRecord files of tf.train.Example, with the feature names of TF-Slim and the Detection API.

Labels of images are the numbers in the file. Those of boxes count from 1, as the Detection API
leaves 0 to the background, unless a 0 is among them; `box_labels` count from 0 either way.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.packing.datasets.annotations import (
    NO_BOXES,
    Boxes,
    boxes_from_fractions,
    image_size,
    note_odd_boxes,
)
from penstock.packing.datasets.files import (
    TF_EXTENSIONS,
    MappedInput,
    check_limit,
    choose_record_files,
    class_names_beside,
    cut_short,
    image_name,
    kept_maps,
    numbered_name,
    recognise_record_files,
    user_column_name,
)
from penstock.packing.datasets.layout_source import (
    FROM_0,
    Asked,
    Findings,
    LabelNames,
    Layout,
    LayoutSource,
    require,
)
from penstock.packing.datasets.protobuf import (
    BYTES_LIST,
    FLOAT_LIST,
    INT64_LIST,
    NO_FEATURE,
    Example,
    parse_example,
)
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, Column, PackItem
from penstock.printable import printable

IMAGE = "image/encoded"
NAMES = ("image/filename", "image/source_id")
LABEL_NUMBER, LABEL_TEXT = "image/class/label", "image/class/text"
BOX = tuple(f"image/object/bbox/{side}" for side in ("xmin", "ymin", "xmax", "ymax"))
BOX_LABEL, BOX_TEXT = "image/object/class/label", "image/object/class/text"
# What the image itself says, or what is read into columns of its own.
KNOWN = frozenset(
    [IMAGE, *NAMES, LABEL_NUMBER, LABEL_TEXT, *BOX, BOX_LABEL, BOX_TEXT]
    + [f"image/{fact}" for fact in ("height", "width", "channels", "format", "colorspace")]
    + ["image/key/sha256"]
)
LARGEST_NAMED_LABEL = 100_000
DTYPE_OF = {FLOAT_LIST: "float32", INT64_LIST: "int64"}
HEADER_BYTES, FOOTER_BYTES = 12, 4
GZIP_MAGIC = b"\x1f\x8b"
BACKGROUND = "boxes have the number of the background, and were left out"


def open_tfrecord(path: str, asked: Asked) -> LayoutSource:
    """Open a TFRecord file, or the files of one data set in a folder.

    Class names come from the records, a `*.pbtxt` label map or a `labels.txt` beside them.
    """
    files = choose_record_files(path, TF_EXTENSIONS, asked)
    survey, starts, firsts = Survey(), array("q"), []
    for file in files:
        firsts.append(len(starts))
        for where, start, record in tf_records(file, check_data=False):
            survey.add(parse_example(record, where), where)
            starts.append(start)
    if not survey.count:
        raise SourceError(f"{printable(path)}: no record in it.")
    listed = class_names_beside(files[0])
    survey.labels.finish()
    first = survey.first_box_number(listed)
    if survey.detection and first < 0:
        raise SourceError(f"{printable(path)}: a box has the label {first}; 0 or more is needed.")
    findings = Findings()
    counts_from_0 = survey.detection and first == 0
    return LayoutSource(
        kind="tfrecord",
        title=asked.title(path),
        columns=survey.columns(),
        read=_Reader(files, firsts, starts, survey, findings, first).read,
        length=survey.count,
        classes=survey.classes(listed),
        box_classes=survey.box_classes(listed),
        details=f"{survey.boxes:,} boxes" if survey.detection else "",
        findings=findings,
        files=tuple(files),
        known=((FROM_0, printable(files[0]), counts_from_0 * survey.boxes),),
    )


TFRECORD = Layout(
    "tfrecord", lambda path: recognise_record_files(path, TF_EXTENSIONS), open_tfrecord
)


@dataclass(frozen=True, slots=True)
class _Reader:
    files: list[str]
    firsts: list[int]  # the number of the first sample of each file
    starts: array[int]  # where each record begins in its file
    survey: Survey
    findings: Findings
    first_box_number: int
    maps: Callable[[str], MappedInput] = field(default_factory=kept_maps)

    def read(self, index: int) -> PackItem:
        file = bisect_right(self.firsts, index) - 1
        number = index - self.firsts[file]
        where, _, record = next(tf_records(self.maps(self.files[file]), self.starts[index], number))
        example = parse_example(record, where)
        blobs = example.get(IMAGE, NO_FEATURE).blobs
        data = bytes(blobs[0]) if blobs else b""
        columns: dict[str, Any] = {}
        if self.survey.labelled:
            columns["label"] = self._label(example, where)
        if self.survey.detection:
            columns["boxes"] = self._boxes(example, data, where)
            labels = self._box_labels(example, where)
            columns["box_labels"] = labels[: len(columns["boxes"])]
        for feature, column in self.survey.extra_columns().items():
            columns[column.name] = _extra(example, feature, column)
        if self.survey.detection:
            self._leave_out_background(columns, where)
        prefix = f"{file:05d}-" if len(self.files) > 1 else ""
        return PackItem(_name(example, number, prefix, data, where), data, columns)

    def _leave_out_background(self, columns: dict[str, Any], where: str) -> None:
        """Drop boxes whose number is below the first class, with all their values."""
        kept = columns["box_labels"] >= 0
        if kept.all():
            return
        self.findings.add(BACKGROUND, where, int(np.count_nonzero(~kept)))
        for name, column in columns.items():
            is_of_objects = name in {"boxes", "box_labels"} or name.startswith("object_")
            if is_of_objects and isinstance(column, np.ndarray) and len(column) == len(kept):
                columns[name] = column[kept]

    def _label(self, example: Example, where: str) -> int:
        numbers = example.get(LABEL_NUMBER, NO_FEATURE).integers
        if len(numbers) == 1:
            return numbers[0]
        texts = example.get(LABEL_TEXT, NO_FEATURE).blobs
        if len(texts) != 1 or numbers:
            raise SourceError(f"{where}: one label per record is needed, got {len(numbers)}.")
        return self.survey.labels.number(str(texts[0], "utf-8", "replace"), where)

    def _boxes(self, example: Example, data: bytes, where: str) -> Boxes:
        sides = [example.get(side, NO_FEATURE).floats for side in BOX]
        if len({len(side) for side in sides}) != 1:
            counts = ", ".join(str(len(side)) for side in sides)
            raise SourceError(f"{where}: boxes have {counts} left, top, right and bottom edges.")
        size = _size(example, data, where, self.findings) if len(sides[0]) else None
        if size is None:
            return NO_BOXES
        boxes = boxes_from_fractions(np.stack(sides, axis=1).tolist(), size, where)
        note_odd_boxes(boxes, size, self.findings, where)
        return boxes

    def _box_labels(self, example: Example, where: str) -> npt.NDArray[np.int64]:
        boxes = len(example.get(BOX[0], NO_FEATURE).floats)
        labels = example.get(BOX_LABEL, NO_FEATURE).integers
        if len(labels) != boxes:
            raise SourceError(f"{where}: {boxes} boxes but {len(labels)} labels of boxes.")
        return np.array(labels, np.int64) - self.first_box_number


def _size(example: Example, data: bytes, where: str, findings: Findings) -> Size | None:
    """Return the image's size: of its header if it can be read, else what the record says."""
    sides = [example.get(f"image/{side}", NO_FEATURE).integers for side in ("height", "width")]
    if not data and all(len(side) == 1 and side[0] > 0 for side in sides):
        return Size(sides[0][0], sides[1][0])
    return image_size(data, where, findings)


def _name(example: Example, number: int, prefix: str, data: bytes, where: str) -> str:
    for feature in NAMES:
        blobs = example.get(feature, NO_FEATURE).blobs
        if blobs and len(blobs[0]):
            return image_name(str(blobs[0], "utf-8", "surrogateescape"), data, where)
    return numbered_name(number, data, prefix)


def _extra(example: Example, name: str, column: Column) -> Any:
    feature = example.get(name, NO_FEATURE)
    if column.kind == "bytes":
        return bytes(feature.blobs[0]) if feature.blobs else b""
    values = feature.integers if column.dtype == "int64" else feature.floats
    return np.array(values, column.dtype)


@dataclass(slots=True)
class Survey:
    """Counts, features and class names of all records."""

    count: int = 0
    boxes: int = 0
    labelled: bool = False
    detection: bool = False
    labels: LabelNames = field(default_factory=LabelNames)  # for labels that are only text
    names: dict[int, str] = field(default_factory=dict)  # of labels, where records give both
    box_names: dict[int, str] = field(default_factory=dict)
    box_numbers: tuple[int, int] | None = None  # smallest and largest label of a box
    _extras: dict[str, int] = field(default_factory=dict)  # other features, and their kind

    def add(self, example: Example, where: str) -> None:
        """Take one record into account."""
        if self.count == 0 and IMAGE not in example:
            raise SourceError(
                f"{where}: no feature {IMAGE}, but {', '.join(sorted(example)[:20])}. "
                "Only encoded images in that feature are read."
            )
        labelled = LABEL_NUMBER in example or LABEL_TEXT in example
        if self.count and labelled != self.labelled:
            raise SourceError(f"{where}: some records have a label and some have none.")
        self.labelled = labelled
        self.count += 1
        self.boxes += len(example.get(BOX[0], NO_FEATURE).floats)
        self.detection = self.detection or any(side in example for side in BOX)
        numbers = _pair_names(self.names, example, LABEL_NUMBER, LABEL_TEXT, where)
        if labelled and not numbers:
            for text in example[LABEL_TEXT].blobs if LABEL_TEXT in example else ():
                self.labels.add(str(text, "utf-8", "replace"))
        found = _pair_names(self.box_names, example, BOX_LABEL, BOX_TEXT, where)
        if len(found):
            found = [*found, *(self.box_numbers or ())]
            self.box_numbers = min(found), max(found)
        check_limit("columns", len(self._extras) + len(example), f"{where}: too many features")
        for name, feature in example.items():
            if name not in KNOWN and feature.kind:
                kind = self._extras.setdefault(name, feature.kind)
                if kind != feature.kind:
                    raise SourceError(f"{where}: {name} is of another kind than before.")

    def columns(self) -> tuple[Column, ...]:
        """Return the columns that these records fill."""
        label = (LABEL,) if self.labelled else ()
        boxes = (BOXES, BOX_LABELS) if self.detection else ()
        return (*label, *boxes, *self.extra_columns().values())

    def extra_columns(self) -> dict[str, Column]:
        """Return the column of each feature that has no meaning to us."""
        columns = {}
        for name, kind in sorted(self._extras.items()):
            title = user_column_name(name.removeprefix("image/"))
            is_bytes = kind == BYTES_LIST
            columns[name] = (
                Column(title, "bytes") if is_bytes else Column(title, "ragged", DTYPE_OF[kind])
            )
        return columns

    def classes(self, listed: dict[int, str]) -> tuple[str, ...] | None:
        """Return the names of labels, given those a file beside the records lists."""
        if not self.labelled:
            return None
        return self.labels.names or _by_number(listed or self.names)

    def box_classes(self, listed: dict[int, str]) -> tuple[str, ...] | None:
        """Return the names of boxes' labels, which `first_box_number` begins."""
        names = dict(listed or self.box_names)
        if not self.detection or not names:
            return None
        if self.box_numbers is not None:
            names.setdefault(self.box_numbers[1], f"class {self.box_numbers[1]}")
        every = _by_number(names)
        return None if every is None else every[self.first_box_number(listed) :]

    def first_box_number(self, listed: dict[int, str]) -> int:
        """Return what boxes' labels count from: 1, as in the Detection API, unless 0 is a class.

        A list of classes beside the records decides, or else the records.
        """
        numbers = listed or (*(self.box_numbers or ()), *self.box_names)
        return min(1, *numbers) if numbers else 1


def _pair_names(
    names: dict[int, str], example: Example, number: str, text: str, where: str
) -> list[int]:
    """Learn from records that give number and name of a class; return the numbers."""
    numbers = example.get(number, NO_FEATURE).integers
    texts = example.get(text, NO_FEATURE).blobs
    if len(texts) == len(numbers):
        for label, blob in zip(numbers, texts, strict=True):
            name = str(blob, "utf-8", "replace")
            known = names.setdefault(label, name) if name else name
            if known != name:
                raise SourceError(f"{where}: label {label} is {name!r} here, but {known!r} before.")
    return numbers


def _by_number(names: dict[int, str]) -> tuple[str, ...] | None:
    """Return names so that the i-th is that of label i; numbers without a name get one."""
    if not names or min(names) < 0 or max(names) > LARGEST_NAMED_LABEL:
        return None
    return tuple(names.get(label, f"class {label}") for label in range(max(names) + 1))


def tf_records(
    file: str | MappedInput, position: int = 0, number: int = 0, *, check_data: bool = True
) -> Iterator[tuple[str, int, memoryview]]:
    """Yield what errors call each record, where it begins, and its bytes.

    Args:
        file: A path, or the file itself. A record is a length, its checksum, data, its checksum.
        position: Where the first record to yield begins.
        number: Its number in the file.
        check_data: Also check the checksums of the data, which reads all of it.
    """
    data = MappedInput(file) if isinstance(file, str) else file
    title = data.title
    crc32c = require("google_crc32c", "google-crc32c", title)
    while position < len(data):
        where = f"{title}, record {number:,} (byte {position:,})"
        body = position + HEADER_BYTES
        if body > len(data):
            raise cut_short(where)
        length, length_crc = struct.unpack("<QI", data[position:body])
        if _masked(crc32c, data[position : position + 8]) != length_crc:
            raise SourceError(f"{where}: {_wrong_length(data)}")
        if length + FOOTER_BYTES > len(data) - body:
            raise cut_short(where)
        check_limit("record_bytes", length, f"{where}: {length:,} bytes")
        end = body + length
        if check_data:
            record = data[body:end]
            (crc,) = struct.unpack("<I", data[end : end + FOOTER_BYTES])
            if _masked(crc32c, record) != crc:
                raise SourceError(
                    f"{where}: its checksum is wrong; the file is damaged. Get it again."
                )
            yield where, position, memoryview(record)
        else:
            yield where, position, data.view[body:end]
            data.check()
        position = end + FOOTER_BYTES
        number += 1


def _masked(crc32c: Any, data: bytes) -> int:
    crc: int = crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _wrong_length(data: MappedInput) -> str:
    if data[:2] == GZIP_MAGIC:
        return "the file is gzip-compressed. Decompress it first (gunzip)."
    return "the checksum of its length is wrong; damaged, or not a TFRecord file."
