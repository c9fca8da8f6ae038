"""Albumentations' transforms that only move bytes, each as ours with the same effect.

Everything else it computes with OpenCV, whose rounding is not Pillow's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import transforms as T
from penstock.transforms.arguments import PaddingMode
from penstock.transforms.moves import PadMode
from penstock.translation.transforms.albumentations_moves import (
    FixedCrop,
    MiddleCrop,
    PadToSize,
    Position,
)

# OpenCV's numbers of borders. Those that reflect take turns where a border is wider than the
# image, which ours refuse, so they stay OpenCV's.
_BORDERS = {0: PadMode.CONSTANT, 1: PadMode.EDGE}
_BORDER_NAMES: dict[int, PaddingMode] = {0: "constant", 1: "edge"}


def read_moves(transform: Any) -> list[Any] | None:
    """Return ours for a transform of Albumentations' own, regardless of `p`; None if it has none.

    HorizontalFlip, VerticalFlip and InvertImg are the ones that ours give `p` to.
    """
    read = _READ.get(type(transform).__name__)
    return None if read is None else read(transform)


def takes_probability(ours: list[Any]) -> bool:
    """Whether `p` was given on, so that it need not be honoured around it."""
    return len(ours) == 1 and isinstance(
        ours[0], (T.RandomHorizontalFlip, T.RandomVerticalFlip, T.RandomInvert)
    )


def adds_pixels(ours: list[Any]) -> bool:
    """Whether there may be a border, or values change, so that it cannot be done before others."""
    return any(isinstance(op, (PadToSize, T.Pad, T.RandomInvert)) for op in ours)


def _crop_behind_border(transform: Any, crop: Any) -> list[Any] | None:
    if not transform.pad_if_needed:
        return [crop]
    border = _border(transform, transform.height, transform.width, transform.pad_position)
    return None if border is None else [border, crop]


def _middle_crop(transform: Any) -> list[Any] | None:
    return _crop_behind_border(transform, MiddleCrop(transform.height, transform.width))


def _random_crop(transform: Any) -> list[Any] | None:
    return _crop_behind_border(transform, T.RandomCrop((transform.height, transform.width)))


def _fixed_crop(transform: Any) -> list[Any] | None:
    if transform.pad_if_needed:
        return None
    return [FixedCrop(transform.y_min, transform.x_min, transform.y_max, transform.x_max)]


def _pad(transform: Any) -> list[Any] | None:
    fill, padding = _fill(transform), transform.padding
    if fill is None or transform.border_mode not in _BORDERS:
        return None
    sides = padding if isinstance(padding, int) else tuple(padding)
    return [T.Pad(sides, fill, _BORDER_NAMES[transform.border_mode])]


def _pad_if_needed(transform: Any) -> list[Any] | None:
    if transform.min_height is None or transform.min_width is None:  # to a multiple of something
        return None
    border = _border(transform, transform.min_height, transform.min_width, transform.position)
    return None if border is None else [border]


def _border(transform: Any, height: int, width: int, position: Any) -> PadToSize | None:
    fill = _fill(transform)
    if fill is None or transform.border_mode not in _BORDERS or position == "random":
        return None
    place: Position = position
    return PadToSize(height, width, place, _BORDERS[transform.border_mode], fill)


def _fill(transform: Any) -> tuple[int, int, int] | None:
    """The border's colour; None for what OpenCV would round, or give to the first channel only."""
    fill = transform.fill
    colour = (fill,) * 3 if isinstance(fill, float) or fill == 0 else fill
    if not isinstance(colour, (tuple, list)) or len(colour) != 3:
        return None
    if any(float(level) not in range(256) for level in colour):
        return None
    red, green, blue = map(int, colour)
    return red, green, blue


_READ: dict[str, Callable[[Any], list[Any] | None]] = {
    "CenterCrop": _middle_crop,
    "Crop": _fixed_crop,
    "HorizontalFlip": lambda transform: [T.RandomHorizontalFlip(transform.p)],
    "InvertImg": lambda transform: [T.RandomInvert(transform.p)],
    "NoOp": lambda _: [],
    "Pad": _pad,
    "PadIfNeeded": _pad_if_needed,
    "RandomCrop": _random_crop,
    "VerticalFlip": lambda transform: [T.RandomVerticalFlip(transform.p)],
}
