"""The part of an image that CutMix takes from another."""

from __future__ import annotations

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Floats, Ints, Size
from penstock.rng import Draws
from penstock.transforms.batch_op import Shares

NO_BOX = np.zeros((1, 4), dtype=np.int64)


def torchvision_box(share: Shares, centre_y: Ints, centre_x: Ints, size: Size) -> Ints:
    """A box of the image's shape around a pixel, leaving `share` of the image: (boxes, 4).

    What sticks out is cut off. Sides are even: half of them is what is rounded down.
    """
    reach = 0.5 * np.sqrt(1 - share)
    half_height = (reach * size.height).astype(np.int64)
    half_width = (reach * size.width).astype(np.int64)
    return _clipped(
        (centre_y - half_height, centre_y + half_height),
        (centre_x - half_width, centre_x + half_width),
        size,
    )


def timm_box(share: Shares, centre_y: Ints, centre_x: Ints, size: Size) -> Ints:
    """The same, but it is the sides that are rounded down."""
    ratio = np.sqrt(1 - share)
    height = (size.height * ratio).astype(np.int64)
    width = (size.width * ratio).astype(np.int64)
    return _clipped(
        (centre_y - height // 2, centre_y + (height + 1) // 2),
        (centre_x - width // 2, centre_x + (width + 1) // 2),
        size,
    )


def draw_box_between(draws: Draws, least: float, most: float, size: Size) -> Ints:
    """A box inside the image, each side drawn between two shares of the image's: (boxes, 4).

    The longest is one pixel short of `most`, as in timm.
    """
    height = _draw_side(draws, least, most, size.height, size)
    width = _draw_side(draws, least, most, size.width, size)
    top = draws.integers(size.height - height + 1)
    left = draws.integers(size.width - width + 1)
    return np.stack([top, left, height, width], axis=1)


def share_left(box: Ints, size: Size) -> Floats:
    """How much of the image lies outside each box."""
    left: Floats = 1.0 - box[:, 2] * box[:, 3] / (size.height * size.width)
    return left


def _draw_side(draws: Draws, least: float, most: float, side: int, size: Size) -> Ints:
    shortest, limit = int(side * least), int(side * most)
    if shortest >= limit:
        raise TransformError(
            f"MixUp.timm: cutmix_minmax=({least}, {most}) leaves no length to choose from in an "
            f"image of {size}. Set the two wider apart."
        )
    return shortest + draws.integers(limit - shortest)


def _clipped(rows: tuple[Ints, Ints], columns: tuple[Ints, Ints], size: Size) -> Ints:
    top, bottom = (np.clip(edge, 0, size.height) for edge in rows)
    left, right = (np.clip(edge, 0, size.width) for edge in columns)
    return np.stack([top, left, bottom - top, right - left], axis=1)
