"""Images of one colour, and what is pasted into them: a border, and nothing is computed for it.

Pillow's own `ImageOps.pad` and `ImageOps.expand` do it like that, and so does whoever fits photos
into a square by hand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from PIL import Image

from penstock._core import PadMode
from penstock.deferring.chain import Chain

Colour = tuple[int, int, int]

LONGEST_SIDE = 1 << 15
LARGEST_PX = 1 << 26
BLACK: Colour = (0, 0, 0)

_ENDS = (2, 4)


class Canvas(NamedTuple):
    """An image of one colour, as Pillow has made it."""

    image: Image.Image
    colour: Colour


def corner_in(size: tuple[int, int], box: Any) -> tuple[int, int] | None:
    """Where `paste` puts an image of this size (width, height): left and top; None if unusual."""
    sides = (0, 0) if box is None else box
    is_known = isinstance(sides, (tuple, list)) and len(sides) in _ENDS
    if not is_known or any(type(side) is not int for side in sides):
        return None
    left, top, *end = sides
    return (left, top) if end in ([], [left + size[0], top + size[1]]) else None


def seen_in(
    chain: Chain, top: int, left: int, size: tuple[int, int], colour: Colour
) -> Chain | None:
    """What a window of this size shows of a chain that lies at `top` and `left` of it.

    The rest of the window has one colour. None if it shows nothing of the chain.
    """
    height, width = size
    first_row, first_column = max(0, -top), max(0, -left)
    rows = min(chain.height, height - top) - first_row
    columns = min(chain.width, width - left) - first_column
    if rows < 1 or columns < 1 or max(size) >= LONGEST_SIDE:
        return None
    if (rows, columns) != (chain.height, chain.width):
        chain = chain.crop(first_row, first_column, rows, columns)
    if (rows, columns) == size:
        return chain
    return chain.pad(max(0, top), max(0, left), size, int(PadMode.CONSTANT), colour)
