"""Where a warp sends points: the other way round from how it samples an image.

A warp of pixels says for each place of the output where to look in the input, in coordinates whose
pixel centres are at halves. Both are written as 3x3 matrices here, and inverted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.transforms.effects import Effect, EffectMove

Points = npt.NDArray[np.floating[Any]]
ToNew = Callable[[Points, Ints], Floats]  # points (n, k, 2) and whose they are (n,), to new points


def warps(effects: Ints) -> Bools:
    """Which of the effects are warps by a matrix."""
    return np.isin(effects, (Effect.AFFINE, Effect.PERSPECTIVE))


def warp_back(move: EffectMove, rows: Bools, sizes: Sizes) -> ToNew:
    """How points of the samples in `rows`, all of them warps, move."""
    matrices = _adjugates(_matrices(move))
    origins = np.zeros((len(sizes), 2))
    grown = rows & ((move.height != sizes.height) | (move.width != sizes.width))
    if grown.any():
        origins[grown] = _frame_origins(matrices[grown], sizes.height[grown], sizes.width[grown])

    def to_new(points: Points, owners: Ints) -> Floats:
        with np.errstate(invalid="ignore"):
            return _apply(matrices[owners], points) - origins[owners, None]

    return to_new


def _matrices(move: EffectMove) -> Floats:
    """From output to input, (samples, 3, 3)."""
    flat = np.zeros((len(move.effect), 9))
    flat[:, 8] = 1
    flat[:, :6] = move.numbers[:, :6]
    perspective = move.effect == Effect.PERSPECTIVE
    flat[perspective, 6:8] = move.numbers[perspective, 6:8]
    return flat.reshape(-1, 3, 3)


def _adjugates(matrices: Floats) -> Floats:
    """Inverses up to a factor, which points do not feel: no division, nothing to fail."""
    first, second, third = matrices.transpose(1, 0, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        columns = np.cross(second, third), np.cross(third, first), np.cross(first, second)
    return np.stack(columns, axis=2)


def _apply(matrices: Floats, points: Points) -> Floats:
    """Points (n, k, 2) under one matrix each; without a place under theirs they are not finite."""
    with np.errstate(all="ignore"):
        placed = points @ matrices[:, :, :2].transpose(0, 2, 1) + matrices[:, None, :, 2]
        result: Floats = placed[..., :2] / placed[..., 2:]
    return result


def _frame_origins(matrices: Floats, height: Ints, width: Ints) -> Floats:
    """The upper left of the old frame in the new image, for rotations that grow the image.

    torchvision counts from there, Pillow centres the frame in whole pixels, less than one further.
    """
    zeros = np.zeros_like(height)
    frame = np.stack([[zeros, zeros], [zeros, height], [width, height], [width, zeros]])
    corners = _apply(matrices, frame.transpose(2, 0, 1).astype(np.float64))
    origins: Floats = corners.min(axis=1)
    return origins
