"""YOLO: one text file per image, one line per object, coordinates as fractions of the image.

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
from penstock.packing.datasets.annotations import (
    boxes_from_centres,
    check_mask_area,
    draw_polygon,
    image_size,
    note_odd_boxes,
)
from penstock.packing.datasets.files import (
    check_limit,
    images_below,
    names_in,
    read_lines,
    read_text,
    recognise_file,
)
from penstock.packing.datasets.layout_source import Asked, Findings, Layout, LayoutSource, require
from penstock.packing.items import BOX_LABELS, BOXES, MASKS, Column, PackItem, keypoints_column
from penstock.packing.mask_runs import encode_runs
from penstock.printable import printable
from penstock.sources.source import PathTable

BOX_NUMBERS = 4
STRAY = "label files belong to no image, and were left out"
NO_SIZE = Size(1, 1)  # for images without objects, whose size does not matter
LABEL_FOLDERS = ("labels", "labels_yolo", "Annotations", "annotations")
IMAGE_FOLDERS = ("images", "Images")
NAME_FILES = (
    "classes.txt",
    "obj.names",
    "names.txt",
    "labels/classes.txt",
    "predefined_classes.txt",
)
SPLITS = ("train", "val", "valid", "validation", "test")
LARGEST_NUMBER_OF_CLASSES = 100_000


@dataclass(frozen=True, slots=True)
class _Object:
    label: int
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Survey:
    objects: int
    outlines: int  # objects that are outlines, or boxes with keypoints
    stray: int  # label files that belong to no image


def recognise_yolo(path: str) -> str | None:
    """Recognise folders of images and label files, darknet's lists, or the file about them."""
    if not os.path.isdir(path):
        return recognise_file(path, (".yaml", ".yml", "obj.data"))
    for part in find_parts(path).values():
        if part.listed or any(name.endswith(".txt") for name in names_in(part.labels)):
            return os.path.relpath(part.labels, path)
    return None


def open_yolo(path: str, asked: Asked) -> LayoutSource:
    """Open a YOLO folder, or the file that describes it. Images without label file have no objects.

    The folder holds `images` and `labels`, for each split or with folders of splits inside,
    or darknet's obj.data, and the class names in data.yaml, classes.txt or obj.names.
    """
    folder, given = (path, None) if os.path.isdir(path) else (os.path.dirname(path) or ".", path)
    parts = find_parts(folder)
    if not parts:
        raise SourceError(f"{printable(folder)}: no folders of images and labels in it.")
    chosen = asked.choose_split(folder, list(parts))
    part, config = parts[chosen], read_config(folder, given)
    names = PathTable.from_paths(images_below(part.images) if part.listed is None else part.listed)
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
        read=reader.read,
        read_unmasked=replace(reader, masks=False).read,
        length=len(names),
        box_classes=config.names,
        details=f"{survey.objects:,} boxes",
        findings=findings,
        known=((STRAY, printable(part.labels), survey.stray),),
    )


YOLO = Layout("yolo", recognise_yolo, open_yolo)


def _survey(part: YoloPart, names: PathTable, config: YoloConfig) -> _Survey:
    """Read all label files once."""
    objects = outlines = files = 0
    for name in names:
        found = _objects(part, name, config)
        files += os.path.exists(_label_file(part, name))
        objects += len(found)
        outlines += sum(len(obj.numbers) > BOX_NUMBERS for obj in found)
    stray = 0
    if part.listed is None:  # lists of classes are not label files
        there = (name for _, _, found in os.walk(part.labels) for name in found)
        stray = sum(name.endswith(".txt") and name not in NAME_FILES for name in there) - files
    return _Survey(objects, outlines, max(0, stray))


def _label_file(part: YoloPart, name: str) -> str:
    return os.path.join(part.labels, os.path.splitext(name)[0] + ".txt")


def _objects(part: YoloPart, name: str, config: YoloConfig) -> list[_Object]:
    path = _label_file(part, name)
    if not os.path.exists(path):
        return []
    return [_object(line, where, config) for where, line in read_lines(path, "document_bytes")]


def _object(line: str, where: str, config: YoloConfig) -> _Object:
    try:
        label, *numbers = (float(word) for word in line.split())
    except ValueError:
        raise SourceError(f"{where}: numbers are needed, got {line[:60]!r}.") from None
    if not all(math.isfinite(number) for number in numbers):
        raise SourceError(f"{where}: numbers must be finite, got {line[:60]!r}.")
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

    def read(self, index: int) -> PackItem:
        name = self.names[index]
        file = Path(self.part.images, name)
        where = printable(file)
        objects = _objects(self.part, name, self.config)
        size = image_size(file, where, self.findings) if objects else None
        return PackItem(name, file, self._columns(objects if size else [], size or NO_SIZE, where))

    def _columns(self, objects: list[_Object], size: Size, where: str) -> dict[str, Any]:
        posed = self.config.keypoints is not None
        rows = [obj.numbers[:4] if posed else _as_box(obj.numbers) for obj in objects]
        boxes = boxes_from_centres(rows, size, where)
        note_odd_boxes(boxes, size, self.findings, where)
        columns: dict[str, Any] = {
            "boxes": boxes,
            "box_labels": np.array([obj.label for obj in objects], np.int64),
        }
        if self.config.keypoints is not None:
            columns["keypoints"] = _keypoints(objects, self.config.keypoints, size)
        elif self.survey.outlines and self.masks:
            check_mask_area(len(objects), size, where)
            outlines = [_outline(obj.numbers, size) for obj in objects]
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
    given = np.array([obj.numbers[BOX_NUMBERS:] for obj in objects], np.float64)
    given = given.reshape(len(objects), points, values)
    result = np.empty((len(objects), points, 3), np.float32)
    result[:, :, :2] = given[:, :, :2] * [size.width, size.height]
    seen = given[:, :, 2] if values == 3 else 2 * given[:, :, :2].any(axis=2)
    result[:, :, 2] = seen
    return result


@dataclass(frozen=True, slots=True)
class YoloPart:
    """One split: images below one folder, label files with the same names below another."""

    images: str
    labels: str
    listed: tuple[str, ...] | None = None  # paths below `images`; None takes all that are there


@dataclass(frozen=True, slots=True)
class YoloConfig:
    """What `data.yaml` and the like say."""

    names: tuple[str, ...] | None
    keypoints: tuple[int, int] | None = None  # points per object, and numbers per point: 2 or 3


def find_parts(folder: str) -> dict[str, YoloPart]:
    """Return the splits of a YOLO folder; "" is the split of a folder without splits."""
    parts = dict(_split_folders(folder)) or dict(_darknet_lists(folder))
    if not parts:
        pair = _pair(folder)
        if pair is not None:
            parts = {"": pair}
    return parts


def read_config(folder: str, given: str | None = None) -> YoloConfig:
    """Return class names and keypoints, from a yaml file, the one above, or a list of names.

    Of several yaml files in a folder, the user must give one if their names differ.
    """
    if given is not None and given.endswith((".yaml", ".yml")):
        return _read_yaml(given) or YoloConfig(None)
    found = {
        name: config
        for name in names_in(folder)
        if name.endswith((".yaml", ".yml"))
        and (config := _read_yaml(os.path.join(folder, name))) is not None
    }
    if len(set(found.values())) > 1:
        raise SourceError(
            f"{printable(folder)}: {', '.join(found)} give different names of classes. "
            "Give one of these files instead of the folder."
        )
    for config in found.values():
        return config
    # Above a folder of one split may be anything; data.yaml is YOLO's.
    above = os.path.join(os.path.dirname(os.path.abspath(folder)), "data.yaml")
    config = _read_yaml(above) if os.path.exists(above) else None
    if config is not None:
        return config
    for name in NAME_FILES:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return YoloConfig(tuple(line for _, line in read_lines(path)))
    return YoloConfig(None)


def _split_folders(folder: str) -> Iterator[tuple[str, YoloPart]]:
    for split in SPLITS:
        found = _pair(os.path.join(folder, split)) or _pair(folder, split)
        if found is not None:
            yield split, found


def _pair(folder: str, below: str = "") -> YoloPart | None:
    for images in IMAGE_FOLDERS:
        for labels in LABEL_FOLDERS:
            image_folder = os.path.join(folder, images, below)
            label_folder = os.path.join(folder, labels, below)
            if os.path.isdir(image_folder) and os.path.isdir(label_folder):
                return YoloPart(image_folder, label_folder)
    return None


def _darknet_lists(folder: str) -> Iterator[tuple[str, YoloPart]]:
    """Find `train.txt` and the like: lists of images with the label files beside them."""
    for split in SPLITS:
        path = os.path.join(folder, split + ".txt")
        if not os.path.exists(path) or "obj.data" not in names_in(folder):
            continue
        listed = tuple(_below(folder, line, where) for where, line in read_lines(path))
        yield split, YoloPart(folder, folder, listed)


def _below(folder: str, line: str, where: str) -> str:
    """Return a listed path as one below the folder, whichever folder the list was written for."""
    parts = [part for part in line.replace("\\", "/").split("/") if part not in {"", ".", ".."}]
    for first in range(len(parts)):
        if os.path.exists(os.path.join(folder, *parts[first:])):
            return "/".join(parts[first:])
    raise SourceError(f"{where}: {line!r} is not below {printable(folder)}. Correct the list.")


def _read_yaml(path: str) -> YoloConfig | None:
    """Return what a yaml file says of classes; None if that is nothing."""
    config, where = _load_yaml(path), printable(path)
    if "names" not in config:
        return None
    return YoloConfig(_names(config["names"], where), _keypoint_shape(config, where))


def _load_yaml(path: str) -> dict[str, Any]:
    where = printable(path)
    yaml = require("yaml", "PyYAML", where)
    text = read_text(path, "document_bytes")
    try:
        _check_yaml(yaml.parse(text), yaml, where)
        config = yaml.safe_load(text)
    except SourceError:
        raise
    # On odd tags it raises nearly anything: KeyError, AttributeError, IndexError ...
    except Exception as error:
        raise SourceError(f"{where}: not valid yaml ({error}).") from error
    return config if isinstance(config, dict) else {}


def _check_yaml(events: Iterator[Any], yaml: Any, where: str) -> None:
    """Raise for what would take endless memory or time: depth, number of values, merged copies."""
    nodes = depth = 0
    for event in events:
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        for name, count in (("nodes", nodes), ("depth", depth)):
            check_limit(name, count, f"{where}: too many values, or nested too deep", counting=True)
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<":
            raise SourceError(f"{where}: it merges keys (<<), which is not read. Write them out.")


def _names(given: Any, where: str) -> tuple[str, ...]:
    if isinstance(given, list):
        given = dict(enumerate(given))
    if (
        not isinstance(given, dict)
        or not all(type(key) is int and 0 <= key < LARGEST_NUMBER_OF_CLASSES for key in given)
        or not given
        # A list may hold itself, or a copy of a copy of a copy ...
        or not all(isinstance(name, (str, int, float)) or name is None for name in given.values())
    ):
        raise SourceError(f"{where}: names must be a list, or numbers with names.")
    try:
        return tuple(str(given.get(label, f"class {label}")) for label in range(max(given) + 1))
    except ValueError as error:  # an integer of more digits than Python writes
        raise SourceError(f"{where}: names of classes must be text ({error}).") from error


def _keypoint_shape(config: dict[str, Any], where: str) -> tuple[int, int] | None:
    shape = config.get("kpt_shape")
    if shape is None:
        return None
    if (
        not isinstance(shape, list)
        or len(shape) != 2
        or not all(type(number) is int for number in shape)
        or not (0 <= shape[0] < 10_000 and shape[1] in {2, 3})
    ):
        raise SourceError(f"{where}: kpt_shape must be [points, 2 or 3]. Correct it.")
    return shape[0], shape[1]
