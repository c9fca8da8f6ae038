"""Pictures with paragraphs below them, side by side in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from penstock.drawing import GAP_PX, GROUND, Boxes, draw_picture, to_ascii

Colour = tuple[int, int, int]

BRIGHT: Colour = (240, 240, 240)
DIM: Colour = (185, 185, 185)
LABEL: Colour = (250, 200, 90)
NAME: Colour = (120, 190, 250)
_TEXT_PX = 12
_LINE_PX = 15
_INDENT_PX = 8  # of all lines of a paragraph but its first
_MOST_COLUMNS = 24
_SHAPE = 1.5  # width / height that a sheet should have
_ELLIPSIS = "..."


def _open_font() -> Any:
    """The font that comes with Pillow; an old one, or one without FreeType, has a small one."""
    try:
        return ImageFont.load_default(_TEXT_PX)
    except (TypeError, ImportError):
        return ImageFont.load_default()


_FONT = _open_font()


@dataclass(frozen=True, slots=True)
class Words:
    """Some words of one colour."""

    text: str
    colour: Colour


Line = list[tuple[float, Words]]  # each with its place from the left, in pixels


def fit_end(text: str, width_px: float) -> str:
    """The end of a text, where the text itself has no room on one line."""
    text = to_ascii(text)
    if _FONT.getlength(text) <= width_px:
        return text
    while text and _FONT.getlength(_ELLIPSIS + text) > width_px:
        text = text[1:]
    return _ELLIPSIS + text


def wrap(paragraph: Sequence[Words], width_px: float) -> list[Line]:
    """The lines of a paragraph; a word that is longer than a line is cut in pieces."""
    lines: list[Line] = [[]]
    space = _FONT.getlength(" ")
    place = 0.0
    for word in _split(paragraph, width_px - _INDENT_PX):
        length = _FONT.getlength(word.text)
        if lines[-1] and place + length > width_px:
            lines.append([])
            place = _INDENT_PX
        lines[-1].append((place, word))
        place += length + space
    return lines


def _split(paragraph: Sequence[Words], most_px: float) -> Iterator[Words]:
    for words in paragraph:
        for word in to_ascii(words.text).split():
            rest = word
            while _FONT.getlength(rest) > most_px:
                count = len(rest) - 1
                while count > 1 and _FONT.getlength(rest[:count]) > most_px:
                    count -= 1
                yield Words(rest[:count], words.colour)
                rest = rest[count:]
            yield Words(rest, words.colour)


@dataclass(frozen=True, slots=True)
class Cell:
    """A picture, and the lines below it."""

    picture: Image.Image
    lines: list[Line]

    @property
    def height(self) -> int:
        """In pixels."""
        return self.picture.height + _LINE_PX * len(self.lines) + GAP_PX


def make_cell(
    image: Image.Image, paragraphs: Sequence[Sequence[Words]], boxes: Boxes, *, side_px: int
) -> Cell:
    """A square with the whole image in it, and paragraphs below."""
    lines = [line for paragraph in paragraphs for line in wrap(paragraph, side_px - 4)]
    return Cell(draw_picture(image, boxes, side_px=side_px), lines)


def join_in_rows(cells: Sequence[Cell], header: str, together: int = 1) -> Image.Image:
    """All cells in rows, each as high as its highest cell, below one line of words.

    So many of them as are said to belong `together` are in one row, where there is room.
    """
    columns = _columns_for(cells, together)
    rows = [cells[first : first + columns] for first in range(0, len(cells), columns)]
    heights = [max(cell.height for cell in row) for row in rows]
    side = cells[0].picture.width if cells else 0
    header = to_ascii(header)
    width = max(columns * (side + GAP_PX) - GAP_PX, round(_FONT.getlength(header)) + 2 * GAP_PX)
    height = _LINE_PX + GAP_PX + sum(heights) + GAP_PX * len(rows)
    sheet = Image.new("RGB", (width, height), GROUND)
    draw = ImageDraw.Draw(sheet)
    draw.text((2, 1), header, fill=BRIGHT, font=_FONT)
    top = _LINE_PX + GAP_PX
    for row, row_height in zip(rows, heights, strict=True):
        for number, cell in enumerate(row):
            left = number * (side + GAP_PX)
            sheet.paste(cell.picture, (left, top))
            for line, words in enumerate(cell.lines):
                down = top + side + 1 + line * _LINE_PX
                for across, word in words:
                    draw.text((left + 2 + across, down), word.text, fill=word.colour, font=_FONT)
        top += row_height + GAP_PX
    return sheet


def _columns_for(cells: Sequence[Cell], together: int) -> int:
    """How many columns give a sheet about the right shape."""
    if not cells:
        return 1
    side = cells[0].picture.width + GAP_PX
    mean = sum(cell.height + GAP_PX for cell in cells) / len(cells)

    def off(columns: int) -> float:
        rows = -(-len(cells) // columns)
        ratio = columns * side / (rows * mean)
        used = len(cells) / (rows * columns)  # the rest of the last row stays empty
        return max(ratio / _SHAPE, _SHAPE / ratio) / used**2

    step = together if together <= _MOST_COLUMNS else 1
    return min(range(step, min(len(cells), _MOST_COLUMNS) + 1, step), key=off)
