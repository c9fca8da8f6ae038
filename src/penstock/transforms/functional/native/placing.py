"""Pixels that only change places: flips, crops and borders.

A Pillow image is cut and turned upside down by Pillow's own memory, which has nothing to clear for
it; the rest is the core's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from penstock._core import PadMode, copy_anew, pad_anew
from penstock.transforms.functional.arguments import (
    Fill,
    Padding,
    centre_corner,
    corners_of_crops,
    read_borders,
    read_crop_size,
    read_five_crop_size,
    require_room,
)
from penstock.transforms.functional.native.geometry import packed_fill
from penstock.transforms.functional.native.memory import (
    CHANNELS,
    PLAIN,
    channels_of,
    image_of,
    instead_of,
    memory_of,
    size_of,
)
from penstock.transforms.functional.pillow import geometry as pillow

_WORTH_A_FLIP_PX = 1024  # smaller images are mirrored by Pillow before the core is called
_LEFT_TO_RIGHT, _TOP_TO_BOTTOM = 0, 1  # Pillow's numbers
_MODES = {
    "constant": PadMode.CONSTANT,
    "edge": PadMode.EDGE,
    "reflect": PadMode.REFLECT,
    "symmetric": PadMode.SYMMETRIC,
}
_WIDEST = 1 << 20  # of a border; wider ones are left to whoever has the memory


def _is_pillows(image: Any) -> bool:
    return type(image) is Image.Image and image.mode in CHANNELS


@instead_of(pillow.horizontal_flip)
def horizontal_flip(image: Any) -> Any:
    """Left to right."""
    height, width = size_of(image)
    if height * width < _WORTH_A_FLIP_PX and _is_pillows(image):
        return image_of(image.im.transpose(_LEFT_TO_RIGHT), image)
    return image_of(copy_anew(memory_of(image), 0, 0, height, width, True, False), image)


@instead_of(pillow.vertical_flip)
def vertical_flip(image: Any) -> Any:
    """Top to bottom."""
    if isinstance(image, np.ndarray):
        return image[::-1].copy()
    return image_of(image.im.transpose(_TOP_TO_BOTTOM), image) if _is_pillows(image) else None


@instead_of(pillow.crop)
def crop(image: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part that lies inside of the image."""
    full_height, full_width = size_of(image)
    right, bottom = left + width, top + height
    is_inside = 0 <= top < bottom <= full_height and 0 <= left < right <= full_width
    if not is_inside or type(right + bottom) is not int:
        return None
    return _part(image, top, left, bottom, right)


def _part(image: Any, top: int, left: int, bottom: int, right: int) -> Any:
    if isinstance(image, np.ndarray):
        return image[top:bottom, left:right].copy()
    if not _is_pillows(image):
        return None
    return image_of(image.im.crop((left, top, right, bottom)), image)


@instead_of(pillow.center_crop)
def center_crop(image: Any, output_size: Padding) -> Any:
    """The middle of an image that is large enough."""
    wanted = read_crop_size(output_size)
    return crop.attempt(image, *centre_corner(size_of(image), wanted), *wanted)


@instead_of(pillow.five_crop)
def five_crop(image: Any, size: Padding) -> Any:
    """The four corners and the middle."""
    canvas, wanted = size_of(image), read_five_crop_size(size)
    require_room(canvas, wanted, size)
    height, width = wanted
    if not (height > 0 and width > 0 and type(height + width) is int):
        return None
    places = *corners_of_crops(canvas, wanted), centre_corner(canvas, wanted)
    crops = [_part(image, top, left, top + height, left + width) for top, left in places]
    return None if crops[0] is None else tuple(crops)


@instead_of(pillow.ten_crop)
def ten_crop(image: Any, size: Padding, vertical_flip: bool = False) -> Any:
    """Five crops of the image, and five of the mirrored one."""
    flip = _flip_down if vertical_flip else horizontal_flip
    crops = five_crop.attempt(image, size)
    mirrored = None if crops is None else flip.attempt(image)
    return None if mirrored is None else crops + five_crop.attempt(mirrored, size)


_flip_down = vertical_flip


@instead_of(pillow.pad)
def pad(image: Any, padding: Padding, fill: Fill = None, padding_mode: str = "constant") -> Any:
    """Borders of one colour, or that repeat the image."""
    if not (_is_pillows(image) or isinstance(image, np.ndarray)):
        return None
    mode = _MODES.get(padding_mode)
    colour = packed_fill(fill, channels_of(image))
    is_known = type(padding) is int or (
        isinstance(padding, (list, tuple)) and len(padding) in {1, 2, 4}
    )
    if mode is None or colour is None or not is_known:
        return None
    borders = read_borders(padding)
    if not all(type(border) is int and 0 <= border <= _WIDEST for border in borders):
        return None
    # What Pillow knew of the image is gone then: it makes a new one.
    return image_of(pad_anew(memory_of(image), borders, mode, colour), PLAIN)
