"""Contact sheets: small pictures side by side, with boxes and words drawn in."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

TEXT_PX = 14
GAP_PX = 6
GROUND = (24, 24, 24)
_INK = (220, 220, 220)
_GOLDEN = 0.61803398875  # steps of this around the colour wheel keep neighbours apart


@dataclass(frozen=True, slots=True)
class Boxes:
    """What is drawn into a picture: corners in its pixels, and what they are boxes of."""

    corners: npt.NDArray[np.floating]  # (boxes, 4): left, top, right, bottom
    labels: Sequence[int]  # may be shorter; the rest count as 0
    names: Sequence[str] | None = None  # of labels


NO_BOXES = Boxes(np.zeros((0, 4)), ())


def draw_cell(
    image: Image.Image, caption: str, boxes: Boxes = NO_BOXES, *, side_px: int
) -> Image.Image:
    """A square with the whole image in it, and words below."""
    cell = Image.new("RGB", (side_px, side_px + TEXT_PX), GROUND)
    cell.paste(draw_picture(image, boxes, side_px=side_px), (0, 0))
    ImageDraw.Draw(cell).text((2, side_px + 1), to_ascii(caption), fill=_INK)
    return cell


def draw_picture(image: Image.Image, boxes: Boxes = NO_BOXES, *, side_px: int) -> Image.Image:
    """A square with the whole image in it, and its boxes."""
    square = Image.new("RGB", (side_px, side_px), GROUND)
    scale = side_px / max(image.height, image.width)
    width, height = (max(1, round(side * scale)) for side in (image.width, image.height))
    small = image.resize((width, height))
    _draw_boxes(small, boxes, scale)
    square.paste(small, ((side_px - width) // 2, (side_px - height) // 2))
    return square


def join_cells(cells: Iterable[Image.Image], columns: int, footer: str = "") -> Image.Image:
    """Cells of one size in rows, at least one of them; perhaps with a line of words below all."""
    listed = list(cells)
    columns = min(columns, len(listed))
    rows = -(-len(listed) // columns)
    across, down = listed[0].width + GAP_PX, listed[0].height + GAP_PX
    height = rows * down - GAP_PX + (GAP_PX + TEXT_PX if footer else 0)
    sheet = Image.new("RGB", (columns * across - GAP_PX, height), GROUND)
    for number, cell in enumerate(listed):
        row, column = divmod(number, columns)
        sheet.paste(cell, (column * across, row * down))
    if footer:
        ImageDraw.Draw(sheet).text((2, height - TEXT_PX + 1), to_ascii(footer), fill=_INK)
    return sheet


def to_ascii(text: str) -> str:
    """Replace letters that the font which comes with every Pillow does not have."""
    return text.encode("ascii", "replace").decode()


def _draw_boxes(image: Image.Image, boxes: Boxes, scale: float) -> None:
    draw = ImageDraw.Draw(image)
    corners = np.nan_to_num(boxes.corners.astype(np.float64) * scale)
    limits = [image.width - 1, image.height - 1] * 2
    for number, corner in enumerate(np.clip(corners, 0, limits).tolist()):
        label = boxes.labels[number] if number < len(boxes.labels) else 0
        left, right = sorted(corner[0::2])
        top, bottom = sorted(corner[1::2])
        colour = _colour(label)
        draw.rectangle((left, top, right, bottom), outline=colour, width=2)
        if boxes.names is not None and 0 <= label < len(boxes.names):
            _draw_tag(draw, (left, top), to_ascii(boxes.names[label]), colour)


def _draw_tag(
    draw: ImageDraw.ImageDraw, corner: tuple[float, float], text: str, colour: tuple[int, int, int]
) -> None:
    place = (corner[0] + 2, corner[1] + 1)
    draw.rectangle(draw.textbbox(place, text), fill=colour)
    draw.text(place, text, fill=GROUND)


def _colour(label: int) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(label * _GOLDEN % 1, 0.9, 1.0)
    return round(red * 255), round(green * 255), round(blue * 255)
