"""How far two images are apart, and where."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.certifying.images import FLOATS, INTEGERS, Pixels, channel_axis

Distances = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Place:
    """The value that is furthest apart."""

    row: int
    column: int
    channel: int
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Figures of two images of one shape and type whose bytes differ."""

    largest: float  # of all |a - b| where both are finite
    mean: float  # of the same
    squares: float  # the mean of their squares
    share: float  # of the values that differ
    box: tuple[int, int, int, int] | None  # around these: left, top, right, bottom (exclusive)
    worst: Place | None  # None if only bits differ, as of -0.0 and 0.0
    not_finite: int  # values that differ and are NaN or infinite on either side or on both
    low: float  # the smallest and the largest finite value of both
    high: float


def compare(a: Pixels, b: Pixels) -> tuple[Difference, Distances]:
    """Return the figures, and all |a - b|, infinite where only one of both is finite or a number.

    Both must have the same shape and type.
    """
    one, other = a.values.astype(np.float64), b.values.astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    finite = np.isfinite(one) & np.isfinite(other)
    with np.errstate(invalid="ignore", over="ignore"):
        distances = np.where(same, 0.0, np.abs(one - other))
    distances[~finite & ~same] = np.inf
    counted = distances[finite]
    seen = np.concatenate([one[np.isfinite(one)], other[np.isfinite(other)]])
    difference = Difference(
        largest=float(counted.max()) if counted.size else 0.0,
        mean=float(counted.mean()) if counted.size else 0.0,
        squares=float(np.square(counted).mean()) if counted.size else 0.0,
        share=int((~same).sum()) / same.size,
        box=_box(~same),
        worst=_worst(one, other, distances),
        not_finite=int((~finite & ~same).sum()),
        low=float(seen.min()) if seen.size else 0.0,
        high=float(seen.max()) if seen.size else 0.0,
    )
    return difference, distances


def psnr_db(squares: float, peak: float) -> float | None:
    """Return the peak signal-to-noise ratio; None where there is no noise, or no signal."""
    if squares <= 0 or peak <= 0 or not math.isfinite(squares):
        return None
    return 20 * math.log10(peak) - 10 * math.log10(squares)


def peak_of(dtype: str) -> float | None:
    """Return the largest value of a type: what PSNR is relative to. Floats have none."""
    if dtype in FLOATS:
        return None
    return float(np.iinfo(dtype).max) if dtype in INTEGERS else 1.0


def _box(differ: npt.NDArray[np.bool_]) -> tuple[int, int, int, int] | None:
    axis = channel_axis(differ.shape)
    pixels = differ if axis is None else np.asarray(differ.any(axis=axis))
    rows, columns = np.flatnonzero(pixels.any(axis=1)), np.flatnonzero(pixels.any(axis=0))
    if not rows.size:
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _worst(one: Distances, other: Distances, distances: Distances) -> Place | None:
    if not distances.max() > 0:
        return None
    at = np.unravel_index(int(distances.argmax()), distances.shape)
    axis = channel_axis(distances.shape)
    place = [int(index) for index in at]
    channel = 0 if axis is None else place.pop(axis)
    return Place(place[0], place[1], channel, float(one[at]), float(other[at]))
