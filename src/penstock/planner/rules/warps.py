"""Warps: affine and perspective effects render the part of their result that is wanted.

A warp may carry a frame: which window of its result it renders, and which part of its source is
there (cpp/kernels/warp/warp.h). A window has the very pixels that it has in the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from penstock._core import Effect, warp_sources
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.planner.access import Access, has_access
from penstock.planner.draft import Moves
from penstock.planner.rules.crop_first import cuts, unless_whole
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove, place_of, room_for
from penstock.transforms.moves import CropMove

KINDS = (Effect.AFFINE, Effect.PERSPECTIVE)


@dataclass(frozen=True, slots=True)
class Warps:
    """The warps of a batch; meaningless for samples with another effect."""

    matrix: Floats  # (samples, 8), those of affine warps with two zeros at the end
    filter: Ints
    fill: Ints
    window_top: Ints  # of what is rendered, in the whole result
    window_left: Ints
    whole: Sizes  # of the result
    part_top: Ints  # of what is there, in the whole source
    part_left: Ints
    source: Sizes  # the whole of it


def read_warps(move: EffectMove, sizes: Sizes) -> Warps:
    """The warps of `move` on images of `sizes`; those without a frame get one, of all."""
    matrix, frame = np.zeros((2, len(move.effect), 8))
    filter, fill = np.zeros((2, len(move.effect)), dtype=np.int64)
    for kind in KINDS:
        rows = move.effect == kind
        matrix[rows, : room_for(kind, "matrix")] = move.values(kind, "matrix")[rows]
        frame[rows] = move.values(kind, "frame")[rows]
        filter[rows] = move.values(kind, "filter")[rows]
        fill[rows] = move.values(kind, "fill")[rows]
    top, left, height, width, part_top, part_left, source_height, source_width = frame.astype(
        np.int64
    ).T
    bare = height == 0
    whole = Sizes(np.where(bare, move.height, height), np.where(bare, move.width, width))
    source = Sizes(
        np.where(bare, sizes.height, source_height), np.where(bare, sizes.width, source_width)
    )
    return Warps(matrix, filter, fill, top, left, whole, part_top, part_left, source)


def matrices(warps: Warps) -> Floats:
    """(samples, 3, 3), from places in the whole result to places in the whole source."""
    ends = np.ones((len(warps.matrix), 1))
    return np.concatenate([warps.matrix, ends], axis=1).reshape(-1, 3, 3)


def with_matrices(move: EffectMove, rows: Bools, matrix: Floats, warps: Warps) -> EffectMove:
    """The move with other warps for the samples in `rows`: these matrices, and no frames.

    `warps` have their filters and fills. Requires matrices that end in 1.
    """
    effect, numbers = move.effect.copy(), move.numbers.copy()
    is_affine = (matrix[:, 2, :2] == 0).all(axis=1)
    effect[rows] = np.where(is_affine, *KINDS)[rows]
    numbers[rows] = 0
    for kind in KINDS:
        own = rows & (effect == kind)
        numbers[own, place_of(kind, "matrix")] = matrix.reshape(-1, 9)[
            own, : room_for(kind, "matrix")
        ]
        numbers[own, place_of(kind, "filter")] = warps.filter[own]
        numbers[own, place_of(kind, "fill")] = warps.fill[own]
    return replace(move, effect=effect, numbers=numbers)


def with_frames(move: EffectMove, rows: Bools, warps: Warps) -> EffectMove:
    """The move with the frames of `warps` for the samples in `rows`."""
    frame = np.stack(
        [
            *(warps.window_top, warps.window_left, warps.whole.height, warps.whole.width),
            *(warps.part_top, warps.part_left, warps.source.height, warps.source.width),
        ],
        axis=1,
    )
    numbers = move.numbers.copy()
    for kind in KINDS:
        own = rows & (move.effect == kind)
        numbers[own, place_of(kind, "frame")] = frame[own]
    return replace(move, numbers=numbers)


def needed_source(warps: Warps, rows: Bools, height: Ints, width: Ints) -> CropMove:
    """The part of the source that windows of this size need; all of it outside `rows`."""
    boxes = np.stack(
        [np.zeros_like(height), np.zeros_like(width), warps.source.height, warps.source.width],
        axis=1,
    )
    windows = np.stack([warps.window_top, warps.window_left, height, width], axis=1)
    boxes[rows] = warp_sources(warps.matrix[rows], windows[rows], boxes[rows, 2:])
    return CropMove(*boxes.T)


def window_of_warp(moves: Moves, sizes: Sizes) -> Moves | None:
    """Rotate, shear, or warp only the window that a crop keeps, from the pixels it needs.

    Exact: each pixel of a warp is made from the pixels around one place of the source, and neither
    the place nor what is made of it depends on other pixels. The frame keeps what else the place
    depends on: where the window lies, and the sizes of the whole result and the whole source, which
    decide what is fill and how Pillow rounds.
    """
    match moves:
        case (EffectMove() as effect, CropMove() as crop):
            pass
        case _:
            return None
    rows = has_access(effect, Access.GATHER) & cuts(crop, effect.out_sizes(sizes))
    if not rows.any():
        return None
    warps = read_warps(effect, sizes)
    window = replace(
        warps, window_top=warps.window_top + crop.top, window_left=warps.window_left + crop.left
    )
    needed = needed_source(window, rows, crop.height, crop.width)
    top, left = needed.top - warps.part_top, needed.left - warps.part_left
    # A perspective's quotients are rounded: a part of a window may seem to need a pixel more.
    rows &= (top >= 0) & (left >= 0)
    rows &= (top + needed.height <= sizes.height) & (left + needed.width <= sizes.width)
    if not rows.any():
        return None
    early = CropMove(
        np.where(rows, top, 0),
        np.where(rows, left, 0),
        np.where(rows, needed.height, sizes.height),
        np.where(rows, needed.width, sizes.width),
    )
    window = replace(window, part_top=needed.top, part_left=needed.left)
    rendered = replace(
        with_frames(effect, rows, window),
        height=np.where(rows, crop.height, effect.height),
        width=np.where(rows, crop.width, effect.width),
    )
    late = replace(crop, top=np.where(rows, 0, crop.top), left=np.where(rows, 0, crop.left))
    return (
        *unless_whole(early, sizes),
        rendered,
        *unless_whole(late, rendered.out_sizes(sizes)),
    )


RULES = (Rule(window_of_warp.__name__, Fidelity.EXACT, window_of_warp, free=True, python_us=8),)
