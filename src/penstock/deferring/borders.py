"""Borders around images and tensors, as steps of a chain."""

from __future__ import annotations

from typing import Any

from penstock._core import PadMode
from penstock.deferring.chain import Chain
from penstock.errors import TransformError
from penstock.transforms.functional.arguments import read_borders

_MODES = {mode.name.lower(): mode for mode in PadMode}
_COLOURS = 3
_LEVELS = 255
_LONGEST_SIDE = 1 << 15


def bordered(
    chain: Chain, channels: int, padding: Any, fill: Any = None, padding_mode: Any = "constant"
) -> Chain | None:
    """The chain with a border, by the arguments of torchvision's `pad`; None for unusual ones."""
    mode = _MODES.get(padding_mode) if isinstance(padding_mode, str) else None
    colour = _colour_of(fill, channels)
    try:
        left, top, right, bottom = borders = read_borders(padding)
    except (TransformError, TypeError):
        return None
    are_counts = all(type(side) is int and 0 <= side < _LONGEST_SIDE for side in borders)
    if mode is None or colour is None or not are_counts:
        return None
    if mode != PadMode.CONSTANT:
        is_narrow = max(left, right) < chain.width and max(top, bottom) < chain.height
        if not is_narrow or len(set(colour)) > 1:
            return None
        colour = 0, 0, 0
    size = top + chain.height + bottom, left + chain.width + right
    return chain.pad(top, left, size, int(mode), colour) if max(size) < _LONGEST_SIDE else None


def _colour_of(fill: Any, channels: int) -> tuple[int, int, int] | None:
    """One colour; None for what is not made of a level for each channel."""
    levels = list(fill) if isinstance(fill, (list, tuple)) else [0 if fill is None else fill]
    are_levels = all(type(v) in (int, float) and 0 <= v <= _LEVELS and v == int(v) for v in levels)
    if not are_levels or len(levels) not in (1, channels):
        return None
    red, green, blue = map(int, levels * _COLOURS if len(levels) == 1 else levels)
    return red, green, blue
