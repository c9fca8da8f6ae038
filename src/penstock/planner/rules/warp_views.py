"""How a warp looks at the image it is made from: where its window lies, and what it needs there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.planner.rules.warps import Warps
from penstock.transforms.moves import CropMove

# Pixels that a filter of a warp takes on each side of a place.
REACH = 2

# More than any place in an image.
_LARGEST = 1e8

# Where a perspective's depth changes by more within a window, the window's corners do not tell what
# it does between them.
_LEAST_DEPTH = 0.25


@dataclass(frozen=True, slots=True)
class View:
    """What a matrix does to a window."""

    places: Floats  # (samples, 2, 4): across and down, of the window's corners
    least: Floats  # by how much it stretches, at its corners: along one direction,
    most: Floats  # and along another; infinite where that cannot be told


def look_through(matrix: Floats, window: CropMove) -> View:
    """What these matrices do to the windows of their samples."""
    right, bottom = window.left + window.width, window.top + window.height
    ones = np.ones(len(matrix))
    corners = np.stack(
        [(x, y, ones) for x in (window.left, right) for y in (window.top, bottom)], axis=2
    )  # (3, samples, 4)
    across, down, depth = np.einsum("nij,jnc->inc", matrix, corners)
    is_clear = (depth >= _LEAST_DEPTH).all(axis=1) & (depth <= 1 / _LEAST_DEPTH).all(axis=1)
    depth = np.where(is_clear[:, None], depth, 1)
    x, y = across / depth, down / depth
    # The derivatives of a place by x and y, and from them the lengths of the axes of the ellipse
    # that a small circle becomes.
    linear, to_depth = matrix[:, :2, :2, None], matrix[:, 2, :2]
    places = np.stack([x, y], axis=1)
    slopes = (linear - places[:, :, None] * to_depth[:, None, :, None]) / depth[:, None, None]
    (a, b), (c, d) = slopes.transpose(1, 2, 0, 3)
    total, area = a * a + b * b + c * c + d * d, a * d - b * c
    root = np.sqrt(np.maximum(total * total - 4 * area * area, 0))
    least = np.sqrt(np.maximum((total - root) / 2, 0)).min(axis=1)
    most = np.sqrt((total + root) / 2).max(axis=1)
    return View(places, np.where(is_clear, least, 0), np.where(is_clear, most, np.inf))


@dataclass(frozen=True, slots=True)
class Part:
    """The part of one side of an image that is reduced."""

    begin: Ints
    end: Ints
    pixels: Ints  # after reducing

    @property
    def step(self) -> Floats:
        """Pixels that become one."""
        return np.asarray(np.maximum(self.end - self.begin, 1) / np.maximum(self.pixels, 1))


def ends_of(to_image: Floats, source: Sizes) -> Ints:
    """Where the source begins and ends in the image: (samples, 2, 2), across and down."""
    first = to_image[:, :2, 2]
    last = first + to_image[:, [0, 1], [0, 1]] * np.stack([source.width, source.height], axis=1)
    return np.rint(np.sort(np.stack([first, last], axis=2), axis=2)).astype(np.int64)


def part_of_side(places: Floats, ends: Ints, size: Ints, scales: Ints) -> Part:
    """What a warp needs of a side of an image of `size`, in which its source has these ends.

    It ends where the source does if places lie beyond it: there the fill begins. Otherwise it has
    room for filters, and whole reduced pixels as the decoder makes them, unless the image itself
    ends within one.
    """
    first, last = ends.T
    least, most = places.min(axis=1), places.max(axis=1)
    room = REACH * scales
    begin = np.floor(np.clip(least - room, first, last)).astype(np.int64) // scales * scales
    end = -(np.floor(-np.clip(most + room, first, last)).astype(np.int64) // scales * scales)
    fitting = size // scales * scales
    end = np.where(end <= size, end, np.where(most <= fitting, fitting, size))
    begin, end = np.where(least < first, first, begin), np.where(most > last, last, end)
    return Part(begin, end, (end - begin) // scales)


def stays_inside(view: View, ends: Ints, room: float) -> Bools:
    """Whether all places lie within these ends, and that far from them."""
    first, last = ends[:, :, :1] + room, ends[:, :, 1:] - room
    return np.asarray(((view.places >= first) & (view.places <= last)).all(axis=(1, 2)))


def is_ordinary(warps: Warps) -> Bools:
    """Whether matrices have numbers that can be reckoned with: not NaN, and none too large."""
    return np.asarray((np.abs(warps.matrix) < _LARGEST).all(axis=1))


def where_warped(rows: Bools, matrix: Floats) -> Floats:
    """Matrices that change nothing for the other samples, whose own may be no numbers."""
    return np.where(rows[:, None, None], matrix, np.eye(3))


def normal(matrix: Floats) -> Floats:
    """The same with 1 at the end, where that can be."""
    end = matrix[:, 2:, 2:]
    return matrix / np.where(np.abs(end) > 1e-6, end, 1)


def scaling(across: Floats, left: Floats | Ints, down: Floats, top: Floats | Ints) -> Floats:
    """Matrices (samples, 3, 3) that scale along both axes, and then move."""
    matrix = np.zeros((len(across), 3, 3))
    matrix[:, 0, 0], matrix[:, 0, 2] = across, left
    matrix[:, 1, 1], matrix[:, 1, 2] = down, top
    matrix[:, 2, 2] = 1
    return matrix
