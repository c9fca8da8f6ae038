"""WIDER FACE: one text file a split, with a name, a count and that many lines of faces.

All boxes are of one class; what the authors say of each face is kept as numbers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from penstock.errors import SourceError
from penstock.packing.datasets.boxes import boxes_from_corner_and_size, note_odd_boxes
from penstock.packing.datasets.files import names_in, read_text
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.names import safe_name
from penstock.packing.datasets.splits import choose_split
from penstock.packing.items import BOX_LABELS, BOXES, Column, PackItem
from penstock.printable import printable

LISTS = "wider_face_split"
LIST_NAME = re.compile(r"wider_face_(\w+)_bbx_gt\.txt")
FACE_NUMBERS = 6  # after the box: blur, expression, illumination, invalid, occlusion, pose
FACE_COLUMN = Column("face", "ragged", "int64", (FACE_NUMBERS,))
CLASSES = ("face",)


class _Entry(NamedTuple):
    name: str
    first: int  # line of the first face
    faces: int


def widerface_splits(folder: str) -> list[str]:
    """Return the splits whose lists are in a folder."""
    lists = os.path.join(folder, LISTS)
    names = names_in(lists) if os.path.isdir(lists) else []
    return [match.group(1) for name in names if (match := LIST_NAME.fullmatch(name))]


def open_widerface(folder: str, split: str | None = None) -> LayoutSource:
    """Open a folder with `wider_face_split` and `WIDER_<split>/images`."""
    chosen = choose_split(folder, widerface_splits(folder), split)
    path = os.path.join(folder, LISTS, f"wider_face_{chosen}_bbx_gt.txt")
    title = printable(path)
    lines = read_text(path, "text_bytes").splitlines()
    entries = _entries(lines, title)
    if not entries:
        raise SourceError(f"{title}: no image is listed in it. Is this the right file?")
    images = os.path.join(folder, f"WIDER_{chosen}", "images")
    findings = Findings()

    def items(start: int) -> Iterator[PackItem]:
        for position in range(start, len(entries)):
            name, first, count = entries[position]
            where = f"{title}, line {first}"
            rows = [_face(lines[i], f"{title}, line {i + 1}") for i in range(first, first + count)]
            boxes = boxes_from_corner_and_size([row[:4] for row in rows], where)
            note_odd_boxes(boxes, None, findings, where)
            faces = np.array([row[4:] for row in rows], np.int64).reshape(-1, FACE_NUMBERS)
            columns = {"boxes": boxes, "box_labels": np.zeros(count, np.int64), "face": faces}
            yield PackItem(name, Path(images, name), columns)

    return LayoutSource(
        kind="widerface",
        title=f"{printable(folder)}, {chosen}",
        columns=(BOXES, BOX_LABELS, FACE_COLUMN),
        read=items,
        length=len(entries),
        box_classes=CLASSES,
        details=f"{sum(entry.faces for entry in entries):,} boxes",
        findings=findings,
    )


def _entries(lines: list[str], title: str) -> list[_Entry]:
    entries, position = [], 0
    while position < len(lines):
        name = lines[position].strip()
        if not name:
            position += 1
            continue
        where = f"{title}, line {position + 1}"
        count = lines[position + 1].strip() if position + 1 < len(lines) else ""
        if not re.fullmatch(r"[0-9]{1,9}", count) or position + 2 + int(count) > len(lines):
            raise SourceError(
                f"{where}: a count of faces and as many lines must follow {name[:60]!r}."
            )
        entries.append(_Entry(safe_name(name, where), position + 2, int(count)))
        # An image without faces has a line of zeros all the same.
        position += 2 + max(1, int(count))
    return entries


def _face(line: str, where: str) -> list[int]:
    words = line.split()
    if len(words) != 4 + FACE_NUMBERS or not all(re.fullmatch(r"-?\d{1,9}", w) for w in words):
        raise SourceError(
            f"{where}: {4 + FACE_NUMBERS} whole numbers are needed, got {line[:60]!r}."
        )
    return [int(word) for word in words]
