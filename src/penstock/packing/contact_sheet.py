"""Small pictures of a packed data set side by side, with boxes and labels drawn in."""

from __future__ import annotations

import os

import numpy as np

from penstock.drawing import NO_BOXES, Boxes, draw_cell, join_cells
from penstock.errors import PackError
from penstock.limits import Limits, obeying_limits
from penstock.packing.original import read_image
from penstock.packing.read import PackFile
from penstock.packing.shards import open_packed

CELL_PX = 192
COLUMNS = 8
MOST_IMAGES = 64
_CAPTION_LETTERS = 30


@obeying_limits
def make_contact_sheet(
    packed: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    images: int = MOST_IMAGES,
    limits: Limits | None = None,  # noqa: ARG001 (obeying_limits reads it)
) -> int:
    """Write a PNG of up to `images` samples, evenly chosen; return how many there are."""
    data = open_packed(packed)
    count = min(images, len(data))
    if not count:
        raise PackError(f"{data.path}: has no samples to show.")
    with data.watched():
        classes, box_classes = data.table("classes"), data.table("box_classes")
        places = [data.locate(number * len(data) // count) for number in range(count)]
        cells = [
            draw_cell(
                read_image(file, index),
                _caption(file, index, classes),
                _boxes(file, index, box_classes),
                side_px=CELL_PX,
            )
            for file, index in places
        ]
    sheet = join_cells(cells, COLUMNS)
    try:
        sheet.save(target, "PNG")
    except OSError as error:
        raise PackError(f"{os.fspath(target)}: cannot be written ({error}).") from error
    return count


def _boxes(file: PackFile, index: int, names: tuple[str, ...] | None) -> Boxes:
    reader = file.columns.get("boxes")
    if reader is None or reader.column.kind != "ragged" or reader.column.shape != (4,):
        return NO_BOXES
    labels, numbers = file.columns.get("box_labels"), []
    if labels is not None and "int" in labels.column.dtype:
        numbers = np.ravel(labels[index]).astype(np.int64).tolist()
    return Boxes(np.asarray(reader[index], np.float64), numbers, names)


def _caption(file: PackFile, index: int, classes: tuple[str, ...] | None) -> str:
    label = file.columns.get("label")
    if label is None or label.column.kind != "fixed" or label.column.shape:
        return file.name(index)[-_CAPTION_LETTERS:]
    value = label[index]
    if classes is not None and value.dtype.kind in "biu" and 0 <= int(value) < len(classes):
        return classes[int(value)][:_CAPTION_LETTERS]
    return str(value)[:_CAPTION_LETTERS]
