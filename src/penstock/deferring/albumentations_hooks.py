"""What Albumentations asks of arrays that are not computed yet.

Its crops, flips and resizes are calls of NumPy's and OpenCV's, which such arrays remember. Its
Normalize looks levels up in a table; so an image of all levels tells what becomes of each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from albucore import functions

from penstock.deferring.array import DeferredArray
from penstock.deferring.opencv_changes import is_levels_of
from penstock.deferring.values import Guess, Values, levels_as

Function = Callable[..., Any]

_COLOURS = 3
_LEVELS = 256
_AXES = "hwc"


def wrap_albumentations() -> dict[Function, Function]:
    """Wrappers for functions of albucore, which computes for it."""
    original = getattr(functions, "normalize_lut", None)
    if original is None or not _looks_up(original):
        return {}
    return {original: _wrap_normalize(original)}


def _looks_up(original: Function) -> bool:
    """Whether each value depends on its own level alone."""
    image = np.random.default_rng(0).integers(0, _LEVELS, (19, 23, _COLOURS), np.uint8)
    numbers = np.array([120.0, 110.0, 90.0], np.float32), np.array([0.017, 0.018, 0.02], np.float32)
    try:
        table = _table_of(original, *numbers)
        expected = original(image, *numbers)
    except Exception:  # noqa: BLE001 (another version, with other arguments)
        return False
    found = Values(table, Guess()).look_up(image, interleaved=True)
    return found.dtype == expected.dtype and np.array_equal(found, expected)


def _table_of(original: Function, mean: Any, denominator: Any) -> Any:
    levels = np.arange(_LEVELS, dtype=np.uint8)[:, None, None]
    image = np.ascontiguousarray(np.broadcast_to(levels, (_LEVELS, 1, _COLOURS)))
    return np.ascontiguousarray(original(image, mean, denominator)[:, 0].T)


def _wrap_normalize(original: Function) -> Function:
    @wraps(original)
    def normalize_lut(img: Any, mean: Any, denominator: Any) -> Any:
        is_known = type(img) is DeferredArray and img.is_open and img.axes == _AXES
        if is_known and is_levels_of(img):
            values = _normalised(original, mean, denominator)
            if values is not None:
                return img.with_values(values)
        return original(img, mean, denominator)

    return normalize_lut


def _normalised(original: Function, mean: Any, denominator: Any) -> Values | None:
    """The values of each level; None of other than one or three numbers."""
    numbers = [np.asarray(one) for one in (mean, denominator)]
    if any(one.dtype.kind != "f" or one.size not in (1, _COLOURS) for one in numbers):
        return None
    mean_of, factor = (
        tuple(np.broadcast_to(one.astype(np.float32).ravel(), _COLOURS).tolist()) for one in numbers
    )
    if 0.0 in factor:
        return None
    guess = Guess(mean=mean_of, std=tuple(1 / one for one in factor))
    key = ("albucore", *(part for one in numbers for part in (one.dtype.str, one.tobytes())))
    return levels_as(_COLOURS).after(key, lambda _: _table_of(original, mean, denominator), guess)
