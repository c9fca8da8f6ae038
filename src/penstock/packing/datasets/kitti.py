"""KITTI's object detection: a text file an image, a line an object.

The 2D boxes are read; truncation, occlusion and what follows (3D) are kept as numbers.
`DontCare` regions are boxes like any other: their class tells them apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from penstock.errors import SourceError
from penstock.packing.datasets.boxes import boxes_from_rows, note_odd_boxes
from penstock.packing.datasets.files import images_below, read_text
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.splits import choose_split
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
        if all(os.path.isdir(os.path.join(root, part)) for part in (IMAGES, LABELS)):
            return root
    return None


def open_kitti(folder: str, split: str | None = None) -> LayoutSource:
    """Open a folder with `image_2` and `label_2`, or `training` above them.

    Args:
        folder: The data set. Classes are KITTI's own if no other is in it, else those of all its
            splits, sorted.
        split: A folder inside `image_2`, if there are some.
    """
    root = kitti_root(folder)
    everything = images_below(os.path.join(root, IMAGES)) if root else []
    if root is None or not everything:
        raise SourceError(f"{printable(folder)}: no images and labels of KITTI in it.")
    classes = {item.name for name in everything for item in _objects(root, name)}
    ordered = KITTI_CLASSES if classes <= set(KITTI_CLASSES) else tuple(sorted(classes))
    label_of = {name: label for label, name in enumerate(ordered)}
    names = _chosen(folder, everything, split)
    count = sum(len(_objects(root, name)) for name in names)
    findings = Findings()

    def items(start: int) -> Iterator[PackItem]:
        for position in range(start, len(names)):
            name = names[position]
            found = _objects(root, name)
            where = _label_file(root, name)
            boxes = boxes_from_rows([item.numbers[3:7] for item in found], where)
            note_odd_boxes(boxes, None, findings, where)
            columns: dict[str, Any] = {
                "boxes": boxes,
                "box_labels": np.array([label_of[item.name] for item in found], np.int64),
                "kitti_numbers": np.array([item.numbers for item in found], np.float32),
            }
            yield PackItem(name, Path(root, IMAGES, name), columns)

    return LayoutSource(
        kind="kitti",
        title=printable(folder) + (f", {split}" if split else ""),
        columns=(BOXES, BOX_LABELS, NUMBERS_COLUMN),
        read=items,
        length=len(names),
        box_classes=tuple(label_of),
        details=f"{count:,} boxes",
        findings=findings,
    )


def _chosen(folder: str, names: list[str], split: str | None) -> list[str]:
    parts = sorted({name.split("/", 1)[0] for name in names if "/" in name})
    if not parts and split is None:
        return names
    below = choose_split(folder, parts, split) + "/"
    return [name for name in names if name.startswith(below)]


def _label_file(root: str, name: str) -> str:
    return os.path.join(root, LABELS, os.path.splitext(name)[0] + ".txt")


def _objects(root: str, name: str) -> list[_Object]:
    path = _label_file(root, name)
    if not os.path.exists(path):
        return []
    objects = []
    for number, line in enumerate(read_text(path, "document_bytes").splitlines(), start=1):
        kind, *words = line.split() or [""]
        if not kind:
            continue
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = []
        if len(numbers) != NUMBERS:
            raise SourceError(
                f"{printable(path)}, line {number}: a class and {NUMBERS} numbers are needed, "
                f"got {line[:60]!r}."
            )
        objects.append(_Object(kind, numbers))
    return objects
