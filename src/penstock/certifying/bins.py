"""The distribution of differences: how many values, and how many images, are how far apart."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

LEVELS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
PARTS = (0.0, *(10.0**power for power in range(-7, 3)))  # of values that are no whole numbers


@dataclass(frozen=True, slots=True)
class Bin:
    """Differences up to an upper end, above the one before it."""

    title: str
    images: int  # whose largest difference is in here
    values: int


@dataclass(slots=True)
class Distribution:
    """Counts of the differences between images that could be compared."""

    images: dict[bool, list[int]] = field(default_factory=dict)  # by whether values are whole
    values: dict[bool, list[int]] = field(default_factory=dict)

    def add_equal(self, values: int, *, whole: bool) -> None:
        """Count a pair of images that are equal."""
        self._count(self.images, whole)[0] += 1
        self._count(self.values, whole)[0] += values

    def add(self, distances: npt.NDArray[Any], largest: float, *, whole: bool) -> None:
        """Count a pair of images by the distances of their values; all of them are finite."""
        ends = _ends(whole)
        place = np.searchsorted(ends, distances.ravel(), side="left")
        counts = self._count(self.values, whole)
        for number, count in enumerate(np.bincount(place, minlength=len(ends) + 1).tolist()):
            counts[number] += count
        self._count(self.images, whole)[bisect_left(ends, largest)] += 1

    def bins(self, *, whole: bool) -> list[Bin]:
        """Return the bins from no difference to the largest one; none if nothing was counted."""
        images, values = self.images.get(whole, []), self.values.get(whole, [])
        used = [number for number, count in enumerate(values) if count or images[number]]
        if not used:
            return []
        first = min((number for number in used if number), default=1)
        numbers = [0, *range(first, max(used) + 1)]
        return [Bin(_title(number, whole), images[number], values[number]) for number in numbers]

    @staticmethod
    def _count(counts: dict[bool, list[int]], whole: bool) -> list[int]:
        return counts.setdefault(whole, [0] * (len(_ends(whole)) + 1))


def _ends(whole: bool) -> tuple[float, ...]:
    return LEVELS if whole else PARTS


def _title(number: int, whole: bool) -> str:
    ends = _ends(whole)
    if number == 0:
        return "none"
    if number == len(ends):
        return f"more than {ends[-1]:g}"
    if not whole:
        return f"up to {ends[number]:g}"
    low, high = int(ends[number - 1]) + 1, int(ends[number])
    return f"{low}" if low == high else f"{low} to {high}"
