"""Boxes and keypoints after the moves of their images, as torchvision v2's kernels move them.

Where those clamp boxes to the image (borders, crops, warps) so do we; resizing and mirroring do
not. Keypoints are never clamped. A mirrored keypoint goes from x to width - 1 - x, a box's side to
width - x: that is torchvision's rule too. A move that leaves an image alone leaves its targets
alone. Boxes of whole numbers lose their fractions after every move: torchvision keeps int64.

A warp of pixels says for each place of the output where to look in the input; points move the other
way round. Affine and perspective warps are 3x3 matrices here, and inverted. An elastic warp is
inverted approximately, as in torchvision: a point moves backwards by the displacement of the pixel
that it lies in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock import _core
from penstock._core import Effect
from penstock.geometry import Bools, Floats, Ints, Size, Sizes
from penstock.transforms.arguments import MAX_SIDE_PX
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove
from penstock.transforms.targets import Places, Targets

_CORNERS = np.array([[0, 1], [2, 1], [2, 3], [0, 3]])  # columns of a box that make its four corners

Points = npt.NDArray[np.floating[Any]]
ToNew = Callable[[Points, Ints], Floats]  # points (n, k, 2) and whose they are (n,), to new points

_ZEROS: Places = np.zeros((1, 4), dtype=np.float32)


def move_targets(moves: Iterable[Move], targets: Targets, sizes: Sizes) -> Targets:
    """Where the objects are after `moves`, for images that had `sizes` before them.

    Between MIX_BEGIN and MIX_END targets stay: they belong to the image that is remembered.
    """
    mover = _Mover(targets)
    mixing = np.zeros(len(sizes), dtype=np.bool_)
    for move in moves:
        after = move.out_sizes(sizes)
        match move:
            case PadMove():
                mover.pad(move, after)
            case CropMove():
                mover.crop(move, sizes, after)
            case ResizeMove():
                mover.resize(sizes, after)
            case FlipMove():
                mover.flip(move, sizes)
            case EffectMove():
                mixing |= move.does(Effect.MIX_BEGIN)
                by_matrix = np.isin(move.effect, (Effect.AFFINE, Effect.PERSPECTIVE))
                mover.warp(move, ~mixing & by_matrix, sizes, after)
                mover.displace(move, ~mixing & move.does(Effect.ELASTIC), sizes)
                mixing &= ~move.does(Effect.MIX_END)
        mover.cut_off()
        sizes = after
    return mover.finish()


def clamp_boxes(boxes: Places, sizes: Sizes, owners: Ints) -> Places:
    """Boxes cut at the border of the image that each belongs to."""
    limits = np.stack([sizes.width, sizes.height] * 2, axis=1)[owners]
    clamped: Places = np.clip(boxes, 0, limits).astype(np.float32)
    return clamped


class _Mover:
    """The boxes and points of a batch while they move; zeros or none where there are none."""

    def __init__(self, targets: Targets) -> None:
        count = int(targets.offsets[-1])
        self._targets = targets
        self._owners = targets.owners
        self._boxes = _ZEROS.repeat(count, axis=0) if targets.boxes is None else targets.boxes
        if targets.keypoints is None:
            self._points: Places = np.zeros((count, 0, 2), dtype=np.float32)
        else:
            self._points = targets.keypoints[..., :2]

    def finish(self) -> Targets:
        boxes, keypoints = self._targets.boxes, self._targets.keypoints
        if keypoints is not None:
            keypoints = np.concatenate([self._points, keypoints[..., 2:]], axis=2)
        return self._targets.moved(None if boxes is None else self._boxes, keypoints)

    def pad(self, move: PadMove, after: Sizes) -> None:
        self._shift(move.left, move.top)
        self._clamp((move.left | move.top | move.right | move.bottom) != 0, after)

    def crop(self, move: CropMove, before: Sizes, after: Sizes) -> None:
        self._shift(-move.left, -move.top)
        self._clamp((move.height != before.height) | (move.width != before.width), after)

    def resize(self, before: Sizes, after: Sizes) -> None:
        # In float32, as torchvision: else a whole number could come out just below, and be cut off.
        exact = np.stack([after.width / before.width, after.height / before.height], axis=1)
        ratios = exact.astype(np.float32)
        self._boxes = _as_pixels(self._boxes * np.tile(ratios, 2)[self._owners])
        self._points = _as_pixels(self._points * ratios[self._owners, None])

    def flip(self, move: FlipMove, sizes: Sizes) -> None:
        self._mirror(0, move.horizontal[self._owners], sizes.width[self._owners])
        self._mirror(1, move.vertical[self._owners], sizes.height[self._owners])

    def warp(self, move: EffectMove, rows: Bools, before: Sizes, after: Sizes) -> None:
        if not rows.any():
            return
        warped = rows[self._owners]
        to_new, owners = _warp_back(move, rows, before), self._owners[warped]
        corners = to_new(self._boxes[warped][:, _CORNERS], owners)
        self._boxes = _replaced(self._boxes, warped, _boxes_around(corners))
        self._points = _replaced(self._points, warped, to_new(self._points[warped], owners))
        self._clamp(rows, after)

    def displace(self, move: EffectMove, rows: Bools, sizes: Sizes) -> None:
        for row in np.flatnonzero(rows & (self._targets.counts > 0)).tolist():
            objects = self._owners == row
            shift = _shift_elastic(move.parameters(row), sizes[row])
            corners = shift(np.ceil(self._boxes[objects][:, _CORNERS]))
            self._boxes = _replaced(self._boxes, objects, _boxes_around(corners))
            points = shift(np.trunc(self._points[objects]))
            self._points = _replaced(self._points, objects, points)
        self._clamp(rows, sizes)

    def cut_off(self) -> None:
        """Cut off the fractions of boxes that are to stay whole numbers."""
        whole = self._targets.whole
        if whole is not None and whole.any():
            cut = np.trunc(self._boxes)
            self._boxes = np.where(whole[self._owners, None], cut, self._boxes)

    def _shift(self, across: Ints, down: Ints) -> None:
        by = np.stack([across, down], axis=1)
        self._boxes = _as_pixels(self._boxes + np.tile(by, 2)[self._owners])
        self._points = _as_pixels(self._points + by[self._owners, None])

    def _mirror(self, axis: int, mirrored: Bools, side: Ints) -> None:
        """Mirror objects along the x (0) or y (1) axis of images with these sides."""
        if not mirrored.any():
            return
        boxes, points = self._boxes.copy(), self._points.copy()
        near_and_far = boxes[mirrored, axis::2]
        boxes[mirrored, axis::2] = (side[mirrored, None] - near_and_far)[:, ::-1]
        points[mirrored, :, axis] = side[mirrored, None] - 1 - points[mirrored, :, axis]
        self._boxes, self._points = boxes, points

    def _clamp(self, rows: Bools, sizes: Sizes) -> None:
        if rows.any():
            clamped = clamp_boxes(self._boxes, sizes, self._owners)
            self._boxes = np.where(rows[self._owners, None], clamped, self._boxes)


def _boxes_around(corners: Floats) -> Floats:
    """The upright boxes that hold corners (n, 4, 2)."""
    return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)


def _replaced(places: Places, objects: Bools, new: Floats) -> Places:
    changed: Places = places.copy()
    changed[objects] = _as_pixels(new)
    return changed


def _as_pixels(places: npt.NDArray[np.floating[Any]]) -> Places:
    """Places as float32; one that a warp sends to infinity becomes a large number."""
    limited: Places = np.clip(np.nan_to_num(places), -MAX_SIDE_PX, MAX_SIDE_PX).astype(np.float32)
    return limited


def _warp_back(move: EffectMove, rows: Bools, sizes: Sizes) -> ToNew:
    """How points move in the samples of `rows`, all of which are warped by a matrix."""
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
    flat[:, :6] = move.values(Effect.AFFINE, "matrix")
    perspective = move.does(Effect.PERSPECTIVE)
    flat[perspective, :8] = move.values(Effect.PERSPECTIVE, "matrix")[perspective]
    return flat.reshape(-1, 3, 3)


def _adjugates(matrices: Floats) -> Floats:
    """Inverses up to a factor, which makes no difference to points; no division that could fail."""
    first, second, third = matrices.transpose(1, 0, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        columns = np.cross(second, third), np.cross(third, first), np.cross(first, second)
    return np.stack(columns, axis=2)


def _apply(matrices: Floats, points: Points) -> Floats:
    """Points (n, k, 2), each under its matrix; one that goes to no place is not finite."""
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


def _shift_elastic(parameters: dict[str, Any], size: Size) -> Callable[[Points], Floats]:
    """How points move under an ELASTIC effect with these parameters, on an image of this size."""
    across, down = elastic_field(size, **parameters)

    def shift(points: Points) -> Floats:
        """Move points (..., 2) at whole places; those outside go to the border first."""
        x = np.clip(points[..., 0], 0, size.width - 1).astype(np.int64)
        y = np.clip(points[..., 1], 0, size.height - 1).astype(np.int64)
        return np.stack([x - across[y, x], y - down[y, x]], axis=-1)

    return shift


def elastic_field(
    size: Size,
    *,
    alpha_across: float,
    alpha_down: float,
    sigma_across: float,
    sigma_down: float,
    key: Sequence[float],
    **_: object,
) -> npt.NDArray[np.float32]:
    """Displacements of every pixel in pixels, as the core displaces it: (across and down, y, x).

    Takes the parameters of an ELASTIC effect; those that do not matter here are left alone.
    """
    alpha, sigma = (alpha_across, alpha_down), (sigma_across, sigma_down)
    return _core.elastic_field(size.height, size.width, alpha, sigma, [int(word) for word in key])
