"""KITTI's object detection: one text file per image, one line per object.

The 2D boxes are read; truncation, occlusion and what follows (3D) are kept as numbers.
`DontCare` regions are boxes like any other: their class tells them apart.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from penstock.errors import SourceError
from penstock.packing.datasets.annotations import boxes_from_rows, note_odd_boxes
from penstock.packing.datasets.files import has_folder, images_below, read_lines
from penstock.packing.datasets.layout_source import Asked, Findings, Layout, LayoutSource
from penstock.packing.items import BOX_LABELS, BOXES, Column, PackItem
from penstock.printable import printable

# The classes that KITTI knows, in the order in which its authors and torchvision list them.
KITTI_CLASSES = (
    "Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc", "DontCare",
)  # fmt: skip
IMAGES, LABELS = "image_2", "label_2"
NUMBERS = 14  # after the class: truncated, occluded, alpha, 4 of the box, 7 in 3D
NUMBERS_COLUMN = Column("kitti_numbers", "ragged", "float32", (NUMBERS,))


class _Object(NamedTuple):
    name: str
    numbers: list[float]


def kitti_root(folder: str) -> str | None:
    """Return the folder that holds images and labels: the one given, or `training` in it."""
    for root in (folder, os.path.join(folder, "training")):
        if has_folder(root, IMAGES) and has_folder(root, LABELS):
            return root
    return None


def open_kitti(folder: str, asked: Asked) -> LayoutSource:
    """Open a folder with `image_2` and `label_2`, or `training` above them.

    Classes are KITTI's own if no other is in it, else those of all its splits, sorted.
    The split is a folder inside `image_2`, if there are some.
    """
    root = kitti_root(folder)
    everything = images_below(os.path.join(root, IMAGES)) if root else []
    if root is None or not everything:
        raise SourceError(f"{printable(folder)}: no images and labels of KITTI in it.")
    found = {obj.name for name in everything for obj in _objects(root, name)}
    classes = KITTI_CLASSES if found <= set(KITTI_CLASSES) else tuple(sorted(found))
    label_of = {name: label for label, name in enumerate(classes)}
    names = _chosen(folder, everything, asked)
    findings = Findings()

    def read(index: int) -> PackItem:
        name = names[index]
        objects, where = _objects(root, name), _label_file(root, name)
        boxes = boxes_from_rows([obj.numbers[3:7] for obj in objects], where)
        note_odd_boxes(boxes, None, findings, where)
        values: dict[str, Any] = {
            "boxes": boxes,
            "box_labels": np.array([label_of[obj.name] for obj in objects], np.int64),
            "kitti_numbers": np.array([obj.numbers for obj in objects], np.float32),
        }
        return PackItem(name, Path(root, IMAGES, name), values)

    return LayoutSource(
        kind="kitti",
        title=asked.title(folder),
        columns=(BOXES, BOX_LABELS, NUMBERS_COLUMN),
        read=read,
        length=len(names),
        box_classes=classes,
        details=f"{sum(len(_objects(root, name)) for name in names):,} boxes",
        findings=findings,
    )


KITTI = Layout(
    "kitti", lambda path: LABELS if os.path.isdir(path) and kitti_root(path) else None, open_kitti
)


def _chosen(folder: str, names: list[str], asked: Asked) -> list[str]:
    parts = sorted({name.split("/", 1)[0] for name in names if "/" in name})
    if not parts and asked.split is None:
        return names
    below = asked.choose_split(folder, parts) + "/"
    return [name for name in names if name.startswith(below)]


def _label_file(root: str, name: str) -> str:
    return os.path.join(root, LABELS, os.path.splitext(name)[0] + ".txt")


def _objects(root: str, name: str) -> list[_Object]:
    path = _label_file(root, name)
    if not os.path.exists(path):
        return []
    objects = []
    for where, line in read_lines(path, "document_bytes"):
        kind, *words = line.split()
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = []
        if len(numbers) != NUMBERS:
            raise SourceError(
                f"{where}: a class and {NUMBERS} numbers are needed, got {line[:60]!r}."
            )
        objects.append(_Object(kind, numbers))
    return objects
