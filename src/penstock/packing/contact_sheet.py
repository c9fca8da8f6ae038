"""Small pictures of a packed data set side by side, with boxes and labels drawn in."""

from __future__ import annotations

import colorsys
import os

import numpy as np
import PIL.Image
import PIL.ImageDraw

from penstock.errors import PackError
from penstock.packing.original import read_image
from penstock.packing.read import PackFile
from penstock.packing.shards import open_packed

CELL_PX = 192
TEXT_PX = 14
GAP_PX = 6
COLUMNS = 8
MOST_IMAGES = 64
_GOLDEN = 0.61803398875  # steps of this around the colour wheel keep neighbours apart


def make_contact_sheet(
    packed: str | os.PathLike[str], target: str | os.PathLike[str], *, images: int = MOST_IMAGES
) -> int:
    """Write a PNG of up to `images` samples, evenly chosen; return how many there are."""
    data = open_packed(packed)
    count = min(images, len(data))
    if not count:
        raise PackError(f"{data.path}: has no samples to show.")
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    across, down = CELL_PX + GAP_PX, CELL_PX + TEXT_PX + GAP_PX
    size = (columns * across - GAP_PX, rows * down - GAP_PX)
    sheet = PIL.Image.new("RGB", size, (24, 24, 24))
    for number in range(count):
        file, index = data.locate(number * len(data) // count)
        cell = _cell(file, index, data.table("classes"), data.table("box_classes"))
        row, column = divmod(number, columns)
        sheet.paste(cell, (column * across, row * down))
    try:
        sheet.save(target, "PNG")
    except OSError as error:
        raise PackError(f"{os.fspath(target)}: cannot be written ({error}).") from error
    return count


def _cell(
    file: PackFile,
    index: int,
    classes: tuple[str, ...] | None,
    box_classes: tuple[str, ...] | None,
) -> PIL.Image.Image:
    cell = PIL.Image.new("RGB", (CELL_PX, CELL_PX + TEXT_PX), (24, 24, 24))
    draw = PIL.ImageDraw.Draw(cell)
    image = read_image(file, index)
    scale = CELL_PX / max(image.height, image.width)
    width, height = (max(1, round(side * scale)) for side in (image.width, image.height))
    left, top = (CELL_PX - width) // 2, (CELL_PX - height) // 2
    cell.paste(image.resize((width, height)), (left, top))
    for box, label in _boxes(file, index):
        colour = _colour(label)
        x0, x1 = (float(np.clip(side * scale, 0, width)) + left for side in sorted(box[0::2]))
        y0, y1 = (float(np.clip(side * scale, 0, height)) + top for side in sorted(box[1::2]))
        draw.rectangle((x0, y0, x1, y1), outline=colour, width=2)
        if box_classes is not None and 0 <= label < len(box_classes):
            draw.text((x0 + 3, y0 + 1), _ascii(box_classes[label]), fill=colour)
    draw.text((2, CELL_PX + 1), _caption(file, index, classes), fill=(220, 220, 220))
    return cell


def _boxes(file: PackFile, index: int) -> list[tuple[list[float], int]]:
    reader = file.columns.get("boxes")
    if reader is None or reader.column.kind != "ragged" or reader.column.shape != (4,):
        return []
    boxes = np.nan_to_num(np.asarray(reader[index], np.float64)).tolist()
    labels = file.columns.get("box_labels")
    numbers = np.ravel(labels[index]).tolist() if labels is not None else []
    return [(box, int(numbers[n]) if n < len(numbers) else 0) for n, box in enumerate(boxes)]


def _caption(file: PackFile, index: int, classes: tuple[str, ...] | None) -> str:
    label = file.columns.get("label")
    if label is None or label.column.shape:
        return _ascii(file.name(index))[-30:]
    value = label[index]
    if classes is not None and 0 <= int(value) < len(classes):
        return _ascii(classes[int(value)])[:30]
    return str(value)[:30]


def _ascii(text: str) -> str:
    # The font that comes with every Pillow has no other letters.
    return text.encode("ascii", "replace").decode()


def _colour(label: int) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(label * _GOLDEN % 1, 0.9, 1.0)
    return round(red * 255), round(green * 255), round(blue * 255)
