"""Tables of 256 levels: what becomes of each one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from penstock.geometry import Ints

Table = npt.NDArray[np.uint8]

_LEVELS = np.arange(256)
_SAME: Table = _LEVELS.astype(np.uint8)


def blend_table(start: int, factor: float) -> Table:
    """`start` at factor 0, the level itself at 1, beyond either for others; fractions cut off."""
    values: npt.NDArray[np.float32] = np.float32(start) + np.float32(factor) * (
        _LEVELS - start
    ).astype(np.float32)
    return values.clip(0, 255).astype(np.uint8)


def posterize_table(bits: int) -> Table:
    """Keep the upper bits."""
    return (_LEVELS & ~((1 << (8 - bits)) - 1)).astype(np.uint8)


def solarize_table(threshold: float) -> Table:
    """Invert from the threshold on."""
    return np.where(threshold > _LEVELS, _LEVELS, 255 - _LEVELS).astype(np.uint8)


def solarize_add_table(added: int, threshold: float) -> Table:
    """Add below the threshold."""
    raised = np.minimum(_LEVELS + added, 255)
    return np.where(threshold > _LEVELS, raised, _LEVELS).astype(np.uint8)


def stretch_table(low: int, high: int) -> Table:
    """Stretch the levels from `low` to `high` over all there are."""
    if low == high:
        return _SAME
    scale = 255.0 / (high - low)
    return (_LEVELS * scale - low * scale).clip(0, 255).astype(np.uint8)


def equalize_table(counts: Ints) -> Table:
    """Use all levels about equally often, given how often each occurs."""
    used = np.flatnonzero(counts)
    step = (int(counts.sum()) - int(counts[used[-1]])) // 255
    if step == 0:
        return _SAME
    below = np.cumsum(counts) - counts
    return ((step // 2 + below) // step).clip(0, 255).astype(np.uint8)
