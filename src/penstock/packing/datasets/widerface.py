"""WIDER FACE: one text file per split, with a name, a count and that many lines of faces.

All boxes are of one class; what the authors say of each face is kept as numbers.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from penstock.errors import SourceError
from penstock.packing.datasets.annotations import boxes_from_corner_and_size, note_odd_boxes
from penstock.packing.datasets.files import has_folder, names_in, read_text, safe_name
from penstock.packing.datasets.layout_source import Asked, Findings, Layout, LayoutSource
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
    names = names_in(os.path.join(folder, LISTS)) if has_folder(folder, LISTS) else []
    return [match.group(1) for name in names if (match := LIST_NAME.fullmatch(name))]


def open_widerface(folder: str, asked: Asked) -> LayoutSource:
    """Open a folder with `wider_face_split` and `WIDER_<split>/images`."""
    chosen = asked.choose_split(folder, widerface_splits(folder))
    path = os.path.join(folder, LISTS, f"wider_face_{chosen}_bbx_gt.txt")
    title = printable(path)
    lines = read_text(path, "text_bytes").splitlines()
    entries = _entries(lines, title)
    if not entries:
        raise SourceError(f"{title}: no image is listed in it. Is this the right file?")
    findings = Findings()

    def read(index: int) -> PackItem:
        name, first, count = entries[index]
        where = f"{title}, line {first}"
        rows = [_face(lines[i], f"{title}, line {i + 1}") for i in range(first, first + count)]
        boxes = boxes_from_corner_and_size([row[:4] for row in rows], where)
        note_odd_boxes(boxes, None, findings, where)
        faces = np.array([row[4:] for row in rows], np.int64).reshape(-1, FACE_NUMBERS)
        values = {"boxes": boxes, "box_labels": np.zeros(count, np.int64), "face": faces}
        return PackItem(name, Path(folder, f"WIDER_{chosen}", "images", name), values)

    return LayoutSource(
        kind="widerface",
        title=f"{printable(folder)}, {chosen}",
        columns=(BOXES, BOX_LABELS, FACE_COLUMN),
        read=read,
        length=len(entries),
        box_classes=CLASSES,
        details=f"{sum(entry.faces for entry in entries):,} boxes",
        findings=findings,
    )


WIDERFACE = Layout(
    "widerface",
    lambda path: LISTS if os.path.isdir(path) and widerface_splits(path) else None,
    open_widerface,
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
