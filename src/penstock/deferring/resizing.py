"""What calls of Pillow's `resize` and `thumbnail` ask for."""

from __future__ import annotations

from math import isfinite
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from penstock.transforms.arguments import InterpolationMode

Box = tuple[float, float, float, float]  # left, top, right, bottom

_FILTERS = frozenset(mode.pillow_filter for mode in InterpolationMode)  # Pillow may have more
_LARGEST_SIDE = 1 << 15
_SIDES = 4
_WHOLE = (int, np.integer)
_NUMBERS = (*_WHOLE, float, np.floating)


class Wanted(NamedTuple):
    """A resize that the core does."""

    height: int
    width: int
    filter: int
    box: Box | None  # a part of the image; None for all of it


def read_resize(
    given: tuple[int, int], size: Any, resample: Any, box: Any, reducing_gap: Any
) -> Wanted | None:
    """What a resize of an image of `given` size (width, height) is; None if that is Pillow's."""
    width, height = size if isinstance(size, (tuple, list)) and len(size) == 2 else (0, 0)
    is_size = all(isinstance(s, _WHOLE) and 0 < s < _LARGEST_SIDE for s in (width, height))
    number = Image.Resampling.BICUBIC if resample is None else resample
    if not is_size or not (isinstance(number, int) and number in _FILTERS):
        return None
    whole = (0.0, 0.0, float(given[0]), float(given[1]))
    if box is None:
        part: Box = whole
    elif is_box(box):
        left, top, right, bottom = np.array(box, dtype=np.float32).tolist()  # as Pillow takes it
        part = (left, top, right, bottom)
    else:
        return None
    is_nearest = number == Image.Resampling.NEAREST
    if not _lies_within(part, whole) or (is_nearest and part != whole):
        return None
    sides = whole if box is None else box
    if not (is_nearest or _is_one_step((width, height), sides, reducing_gap)):
        return None
    return Wanted(int(height), int(width), int(number), None if part == whole else part)


def _lies_within(part: Box, whole: Box) -> bool:
    left, top, right, bottom = part
    return 0 <= left < right <= whole[2] and 0 <= top < bottom <= whole[3]


def _is_one_step(size: tuple[int, int], box: Any, gap: Any) -> bool:
    """Whether nothing is left out by taking means of whole pixels first."""
    if gap is None:
        return True
    if not (isinstance(gap, (int, float)) and gap >= 1 and isfinite(gap)):
        return False
    factors = ((box[2] - box[0]) / size[0] / gap, (box[3] - box[1]) / size[1] / gap)
    return max(map(int, factors)) <= 1


def is_box(box: Any) -> bool:
    """Whether these are four numbers."""
    is_four = isinstance(box, (tuple, list)) and len(box) == _SIDES
    return is_four and all(isinstance(side, _NUMBERS) and isfinite(side) for side in box)


class Thumbnail:
    """Stands for an image in Pillow's `thumbnail`, to learn what that makes of it."""

    def __init__(self, image: Image.Image) -> None:
        self._image = image
        self.made: Image.Image | None = None  # the smaller image, if it has to be smaller
        self.im: Any = SimpleNamespace(mode="")  # Pillow moves the pixels over

    @property
    def size(self) -> tuple[int, int]:
        """Of the image, which a draft may change."""
        return self._image.size

    @property
    def width(self) -> int:
        """The same."""
        return self._image.width

    @property
    def height(self) -> int:
        """The same."""
        return self._image.height

    def draft(self, mode: Any, size: Any) -> Any:
        """Have a file decoded smaller."""
        return self._image.draft(mode, size)

    def resize(self, *args: Any, **kwargs: Any) -> Thumbnail:
        """Keep the smaller image."""
        self.made = self._image.resize(*args, **kwargs)
        return self


def thumbnail_of(image: Image.Image, *args: Any, **kwargs: Any) -> Image.Image | None:
    """The image that Pillow's `thumbnail` would put in the place of this one; None for the same."""
    stand_in: Any = Thumbnail(image)
    Image.Image.thumbnail(stand_in, *args, **kwargs)
    made: Image.Image | None = stand_in.made
    return made
