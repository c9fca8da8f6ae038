"""YOLO: a text file an image, a line an object, coordinates as fractions of the image.

| numbers after the class | the line is |
|---|---|
| 4 | a box: centre x, centre y, width, height |
| 4 and those of `kpt_shape` in data.yaml | a box and its keypoints |
| 6 or more, even | an outline x, y, x, y, ...: a mask, and the box around it |
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.packing.datasets.boxes import boxes_from_centres, note_odd_boxes
from penstock.packing.datasets.files import read_text
from penstock.packing.datasets.images import image_size
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.polygons import check_mask_area, draw_polygon
from penstock.packing.datasets.splits import choose_split
from penstock.packing.datasets.yolo_layout import (
    YoloConfig,
    YoloPart,
    count_label_files,
    find_parts,
    read_config,
)
from penstock.packing.items import BOX_LABELS, BOXES, MASKS, Column, PackItem, keypoints_column
from penstock.packing.mask_runs import encode_runs
from penstock.printable import printable
from penstock.sources.source import PathTable

BOX_NUMBERS = 4
STRAY = "label files belong to no image, and were left out"
NO_SIZE = Size(1, 1)  # for images without objects, whose size does not matter


@dataclass(frozen=True, slots=True)
class _Object:
    label: int
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Survey:
    objects: int
    outlines: int  # objects that are outlines, or boxes with keypoints
    stray: int  # label files that belong to no image


def open_yolo(
    folder: str, split: str | None = None, config_file: str | None = None
) -> LayoutSource:
    """Open a YOLO folder; an image without a label file has no objects.

    Args:
        folder: It holds `images` and `labels`, for each split or with folders of splits inside,
            or darknet's obj.data, and the class names in data.yaml, classes.txt or obj.names.
        split: "train", "val" and so on.
        config_file: The yaml file with the class names, if the user named one.
    """
    parts = find_parts(folder)
    if not parts:
        raise SourceError(f"{printable(folder)}: no folders of images and labels in it.")
    chosen = choose_split(folder, list(parts), split)
    part, config = parts[chosen], read_config(folder, config_file)
    names = PathTable.from_paths(part.image_names())
    if not len(names):
        raise SourceError(f"{printable(part.images)}: no images in it.")
    survey = _survey(part, names, config)
    columns: list[Column] = [BOXES, BOX_LABELS]
    if config.keypoints is not None:
        columns.append(keypoints_column(config.keypoints[0]))
    elif survey.outlines:
        columns.append(MASKS)
    findings = Findings()
    reader = _YoloReader(part, names, config, survey, findings)
    return LayoutSource(
        kind="yolo",
        title=printable(folder) + (f", {chosen}" if chosen else ""),
        columns=tuple(columns),
        read=reader.items,
        read_unmasked=replace(reader, masks=False).items,
        length=len(names),
        box_classes=config.names,
        details=f"{survey.objects:,} boxes",
        findings=findings,
    )


def _survey(part: YoloPart, names: PathTable, config: YoloConfig) -> _Survey:
    """Read all label files once."""
    objects = outlines = files = 0
    for name in names:
        found = _objects(part, name, config)
        files += os.path.exists(_label_file(part, name))
        objects += len(found)
        outlines += sum(len(item.numbers) > BOX_NUMBERS for item in found)
    stray = 0 if part.listed is not None else count_label_files(part.labels) - files
    return _Survey(objects, outlines, max(0, stray))


def _label_file(part: YoloPart, name: str) -> str:
    return os.path.join(part.labels, os.path.splitext(name)[0] + ".txt")


def _objects(part: YoloPart, name: str, config: YoloConfig) -> list[_Object]:
    path = _label_file(part, name)
    if not os.path.exists(path):
        return []
    lines = read_text(path, "document_bytes").splitlines()
    return [
        _object(line, f"{printable(path)}, line {number}", config)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]


def _object(line: str, where: str, config: YoloConfig) -> _Object:
    try:
        label, *numbers = (float(word) for word in line.split())
    except ValueError:
        raise SourceError(f"{where}: numbers are needed, got {line.strip()[:60]!r}.") from None
    if not all(math.isfinite(number) for number in numbers):
        raise SourceError(f"{where}: numbers must be finite, got {line.strip()[:60]!r}.")
    classes = len(config.names) if config.names is not None else 2**31
    if not label.is_integer() or not 0 <= label < classes:
        raise SourceError(
            f"{where}: class {label:g} is not one of the {classes:,} classes, counted from 0."
        )
    if config.keypoints is not None:
        points, values = config.keypoints
        fits = len(numbers) == BOX_NUMBERS + points * values
        expected = f"{BOX_NUMBERS + points * values} numbers, for a box and {points} keypoints"
    else:
        fits = len(numbers) == BOX_NUMBERS or (len(numbers) >= 6 and len(numbers) % 2 == 0)
        expected = "4 numbers for a box, or an even count of 6 or more for an outline"
    if not fits:
        raise SourceError(f"{where}: after the class, {expected}, are needed; got {len(numbers)}.")
    return _Object(int(label), tuple(numbers))


@dataclass(frozen=True, slots=True)
class _YoloReader:
    part: YoloPart
    names: PathTable
    config: YoloConfig
    survey: _Survey
    findings: Findings
    masks: bool = True

    def items(self, start: int) -> Iterator[PackItem]:
        if self.survey.stray:
            self.findings.add(STRAY, printable(self.part.labels), self.survey.stray)
        for position in range(start, len(self.names)):
            name = self.names[position]
            file = Path(self.part.images, name)
            where = printable(file)
            objects = _objects(self.part, name, self.config)
            size = image_size(file, where, self.findings) if objects else None
            columns = self._columns(objects if size else [], size or NO_SIZE, where)
            yield PackItem(name, file, columns)

    def _columns(self, objects: list[_Object], size: Size, where: str) -> dict[str, Any]:
        posed = self.config.keypoints is not None
        rows = [item.numbers[:4] if posed else _as_box(item.numbers) for item in objects]
        boxes = boxes_from_centres(rows, size, where)
        note_odd_boxes(boxes, size, self.findings, where)
        columns: dict[str, Any] = {
            "boxes": boxes,
            "box_labels": np.array([item.label for item in objects], np.int64),
        }
        if self.config.keypoints is not None:
            columns["keypoints"] = _keypoints(objects, self.config.keypoints, size)
        elif self.survey.outlines and self.masks:
            check_mask_area(len(objects), size, where)
            outlines = [_outline(item.numbers, size) for item in objects]
            masks = (draw_polygon(outline, size, where) for outline in outlines)
            columns["masks"] = encode_runs(masks, len(outlines), size)
        return columns


def _as_box(numbers: tuple[float, ...]) -> tuple[float, ...]:
    if len(numbers) == BOX_NUMBERS:
        return numbers
    (left, right), (top, bottom) = (
        (min(numbers[axis::2]), max(numbers[axis::2])) for axis in (0, 1)
    )
    return (left + right) / 2, (top + bottom) / 2, right - left, bottom - top


def _outline(numbers: tuple[float, ...], size: Size) -> list[float]:
    if len(numbers) == BOX_NUMBERS:  # among outlines, a box is the outline of itself
        x, y, width, height = numbers
        left, top, right, bottom = x - width / 2, y - height / 2, x + width / 2, y + height / 2
        numbers = (left, top, right, top, right, bottom, left, bottom)
    return [value * (size.height if axis % 2 else size.width) for axis, value in enumerate(numbers)]


def _keypoints(
    objects: list[_Object], shape: tuple[int, int], size: Size
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return x, y in pixels and visibility; points without one are visible unless at (0, 0)."""
    points, values = shape
    given = np.array([item.numbers[BOX_NUMBERS:] for item in objects], np.float64)
    given = given.reshape(len(objects), points, values)
    result = np.empty((len(objects), points, 3), np.float32)
    result[:, :, :2] = given[:, :, :2] * [size.width, size.height]
    seen = given[:, :, 2] if values == 3 else 2 * given[:, :, :2].any(axis=2)
    result[:, :, 2] = seen
    return result
