"""TFRecord files of tf.train.Example, with the feature names of TF-Slim and the Detection API.

Labels of images are the numbers in the file. Those of boxes count from 1, as the Detection API
leaves 0 to the background, unless a 0 is among them; `box_labels` count from 0 either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.packing.datasets.boxes import NO_BOXES, Boxes, boxes_from_fractions, note_odd_boxes
from penstock.packing.datasets.class_names import class_names_beside
from penstock.packing.datasets.files import is_image_name
from penstock.packing.datasets.images import image_size
from penstock.packing.datasets.layout_source import FROM_0, Findings, LayoutSource
from penstock.packing.datasets.names import image_extension, numbered_name, safe_name
from penstock.packing.datasets.places import Places
from penstock.packing.datasets.record_files import TF_EXTENSIONS, choose_record_files
from penstock.packing.datasets.tf_example import NO_FEATURE, Example, parse_example
from penstock.packing.datasets.tf_framing import tf_records
from penstock.packing.datasets.tf_survey import (
    BOX,
    BOX_LABEL,
    IMAGE,
    LABEL_NUMBER,
    LABEL_TEXT,
    NAMES,
    Survey,
)
from penstock.packing.items import Column, PackItem
from penstock.printable import printable

BACKGROUND = "boxes have the number of the background, and were left out"


def open_tfrecord(path: str, split: str | None = None) -> LayoutSource:
    """Open a TFRecord file, or the files of one data set in a folder.

    Class names come from the records, a `*.pbtxt` label map or a `labels.txt` beside them.
    """
    files = choose_record_files(path, TF_EXTENSIONS, split)
    survey, places = Survey(), Places()
    for number, file in enumerate(files):
        for where, record, start in tf_records(file, check_data=False):
            survey.add(parse_example(record, where), where)
            places.add(number, start)
    if not survey.count:
        raise SourceError(f"{printable(path)}: no record in it.")
    listed = class_names_beside(files[0])
    survey.labels.finish()
    first = survey.first_box_number(listed)
    if survey.detection and first < 0:
        raise SourceError(f"{printable(path)}: a box has the label {first}; 0 or more is needed.")
    findings = Findings()
    return LayoutSource(
        kind="tfrecord",
        title=printable(path) + (f", {split}" if split else ""),
        columns=survey.columns(),
        read=_Reader(files, places, survey, findings, first).items,
        length=survey.count,
        classes=survey.classes(listed),
        box_classes=survey.box_classes(listed),
        details=f"{survey.boxes:,} boxes" if survey.detection else "",
        findings=findings,
        files=tuple(files),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    files: list[str]
    places: Places
    survey: Survey
    findings: Findings
    first_box_number: int

    def items(self, start: int) -> Iterator[PackItem]:
        if self.survey.detection and self.first_box_number == 0:
            self.findings.add(FROM_0, printable(self.files[0]), self.survey.boxes)
        for number, first, begin in self.places.runs(start):
            prefix = f"{number:05d}-" if len(self.files) > 1 else ""
            records = tf_records(self.files[number], start=begin, number=first)
            for inside, (where, record, _) in enumerate(records, first):
                yield self._item(parse_example(record, where), inside, prefix, where)

    def _item(self, example: Example, number: int, prefix: str, where: str) -> PackItem:
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
        return PackItem(_name(example, number, prefix, data, where), data, columns)

    def _leave_out_background(self, columns: dict[str, Any], where: str) -> None:
        """Drop boxes of a number that the list of classes begins above, with all that is theirs."""
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
            raise SourceError(f"{where}: one label a record is needed, got {len(numbers)}.")
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
            name = safe_name(str(blobs[0], "utf-8", "surrogateescape"), where)
            return name if is_image_name(name) else name + (image_extension(data) or "")
    return numbered_name(number, data, prefix)


def _extra(example: Example, name: str, column: Column) -> Any:
    feature = example.get(name, NO_FEATURE)
    if column.kind == "bytes":
        return bytes(feature.blobs[0]) if feature.blobs else b""
    values = feature.integers if column.dtype == "int64" else feature.floats
    return np.array(values, column.dtype)
