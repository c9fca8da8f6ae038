"""Which of a resize's two passes Pillow does first, which decides the last bit of many pixels.

Both passes round to 8 bits, so their order shows.
Three rules are known, found by comparing `Image.resize` with its two passes done one by one:

- before 12.2: always horizontal first;
- 12.2 to 12.x: vertical first for images more than a hundred times as tall as wide;
- from 13.0: vertical first where the height shrinks, by more than twice what the width does.

`check_installed_pillow` asks the installed Pillow itself, so that a fourth rule cannot go
unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import PIL
from PIL import Image

from penstock.errors import LoaderError
from penstock.geometry import Bools, Ints, Size

Sides = Ints | int  # of a batch, or of one image
Rule = Callable[[Sides, Sides, Sides, Sides], Bools | bool]


def _never(in_height: Sides, in_width: Sides, out_height: Sides, out_width: Sides) -> Bools | bool:
    del in_height, in_width, out_height, out_width
    return False


def _tall_images(
    in_height: Sides, in_width: Sides, out_height: Sides, out_width: Sides
) -> Bools | bool:
    del out_width
    return (in_height > 100 * in_width) & (out_height < in_height)


def _more_rows_lost(
    in_height: Sides, in_width: Sides, out_height: Sides, out_width: Sides
) -> Bools | bool:
    rows_lost = in_height - out_height
    columns_lost = in_width - out_width
    return (rows_lost > 0) & (rows_lost > 2 * columns_lost)


@lru_cache
def _rule_of(version: str) -> Rule:
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) < (12, 2):
        return _never
    return _tall_images if major < 13 else _more_rows_lost


def vertical_first(in_height: Ints, in_width: Ints, out_height: Ints, out_width: Ints) -> Bools:
    """Whether the installed Pillow does the vertical pass first, for a batch of resizes.

    Holds for every filter but NEAREST, where the order cannot be seen.
    """
    sides = np.broadcast_arrays(in_height, in_width, out_height, out_width)
    answer = _rule_of(PIL.__version__)(*(side.astype(np.int64) for side in sides))
    return np.broadcast_to(answer, sides[0].shape)


def vertical_first_for(given: Size, wanted: Size) -> bool:
    """The same for one resize."""
    return vertical_first_in(given.height, given.width, wanted.height, wanted.width)


def vertical_first_in(in_height: int, in_width: int, out_height: int, out_width: int) -> bool:
    """The same by its numbers alone."""
    return bool(_rule_of(PIL.__version__)(in_height, in_width, out_height, out_width))


# One pair on each side of every known boundary: (input, output).
_PROBES = (
    (Size(40, 30), Size(20, 20)),
    (Size(41, 30), Size(20, 20)),
    (Size(30, 60), Size(20, 10)),
    (Size(30, 20), Size(60, 50)),
    (Size(20, 30), Size(40, 10)),
    (Size(500, 5), Size(480, 60)),
    (Size(501, 5), Size(480, 60)),
    (Size(501, 5), Size(520, 3)),
)


def check_installed_pillow() -> None:
    """Raise LoaderError unless the installed Pillow follows the rule known for its version.

    Takes a few milliseconds; a loader that promises Pillow's bits calls it once.
    """
    for given, wanted in _PROBES:
        seen = _order_seen(given, wanted)
        expected = vertical_first_for(given, wanted)
        if seen != expected:
            saw = "neither order" if seen is None else f"the {_name(seen)} one"
            raise LoaderError(
                f"Pillow {PIL.__version__} resizes {given} to {wanted} in a way this version of "
                f"penstock does not know (expected the {_name(expected)} pass first, saw {saw}), "
                "so bit-identical results cannot be promised. "
                "Upgrade penstock, or install Pillow 10 to 13.0."
            )


def _order_seen(given: Size, wanted: Size) -> bool | None:
    """True: vertical pass first; False: horizontal first; None: neither explains the result."""
    noise = np.random.default_rng(0).integers(0, 256, (given.height, given.width), dtype=np.uint8)
    image = Image.fromarray(noise)
    target = (wanted.width, wanted.height)

    def passes(between: tuple[int, int]) -> bytes:
        halfway = image.resize(between, Image.Resampling.BILINEAR)
        return halfway.resize(target, Image.Resampling.BILINEAR).tobytes()

    result = image.resize(target, Image.Resampling.BILINEAR).tobytes()
    if result == passes((given.width, wanted.height)):
        return True
    if result == passes((wanted.width, given.height)):
        return False
    return None


def _name(vertical: bool) -> str:
    return "vertical" if vertical else "horizontal"
