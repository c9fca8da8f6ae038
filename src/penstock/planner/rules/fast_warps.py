"""Warps that are not done as written: on a reduced image, or two in one.

Fast rules: each pixel is interpolated from other neighbours, at very nearly the same place. Bounds
hold for photographs; noise from pixel to pixel can be further off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import is_
from typing import TypeVar

import numpy as np

from penstock._core import Effect
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.planner.access import Access, has_access
from penstock.planner.draft import Moves
from penstock.planner.rules.rule import Bound, Fidelity, Rule
from penstock.planner.rules.smaller_first import SCALES, SMOOTH, is_even
from penstock.planner.rules.warp_views import (
    REACH,
    Part,
    View,
    ends_of,
    is_ordinary,
    look_through,
    normal,
    part_of_side,
    scaling,
    stays_inside,
    where_warped,
)
from penstock.planner.rules.warps import (
    Warps,
    matrices,
    needed_source,
    read_warps,
    with_frames,
    with_matrices,
)
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.effects import EffectMove, place_of
from penstock.transforms.moves import CropMove, FlipMove, Move, ResizeMove, repeat

_NEAREST = InterpolationMode.NEAREST.pillow_filter
_BILINEAR = InterpolationMode.BILINEAR.pillow_filter

# Reduces images that are no JPEGs: of the quick filters the one that keeps most detail.
_REDUCING = InterpolationMode.HAMMING.pillow_filter

# A warp that shrinks by more skips pixels of its source, which a reduced source has in it; and what
# a first warp has lost by shrinking, or blurred by enlarging, one warp for two would not.
_MOST_STRETCH = 1.5

# How many times fewer pixels a warp must have for it to be worth being done otherwise than written.
_WORTH_A_STRIDE = 1.3

# How far the resize must still reduce the warped image. Photos of some megapixels lose nothing to
# speak of by this (42 dB); those that are sharp to the pixel and become thumbnails lose most
# (31 dB). With 2 that would be 39 dB, at four times the pixels.
_SPARE = 1.25

# The same where fill is seen: its edge then is off by an eighth of a pixel at most.
_SPARE_WITH_FILL = 4

# The least part of an image that is worth reducing, in reduced pixels.
_LEAST = 4


def warp_then_shrink(moves: Moves, sizes: Sizes) -> Moves | None:
    """Warp a reduced photo where the result is shrunk anyway.

    The photo is decoded at 1/2, 1/4 or 1/8 of its size, the warp's matrix leads from a result that
    is as much smaller to places in the reduced photo, and the resize goes on from there. Where it
    still reduces by a quarter, it would have smoothed away most of what is missing. Between whole
    scales the warp goes on by a little more than a reduced pixel at a time. Only the part of the
    photo that the warp needs is decoded. Where fill is seen, that part ends where the image ends,
    so the fill begins at the same place, with an edge as sharp as the reduced pixels are small. A
    mirroring before the warp becomes part of its matrix.
    """
    start = _read_start(moves, sizes)
    if start is None or start.between:
        return None
    resize = start.resize
    warped = _Warped.of(start, sizes)
    rows, window, view = warped.rows, warped.window, warped.view
    spare = np.where(stays_inside(view, warped.ends, room=0), _SPARE, _SPARE_WITH_FILL)
    scales = _choose_scales(resize, window, view, spare)
    strides = _choose_strides(resize, window, view, spare * scales)
    rows &= (scales > 1) | (strides[0] * strides[1] >= _WORTH_A_STRIDE)
    rows &= view.most <= _MOST_STRETCH
    across, down = warped.parts(sizes, scales)
    rows &= (down.pixels >= _LEAST) & (across.pixels >= _LEAST)
    if not rows.any():
        return None

    height = np.rint(window.height / (scales * strides[0]))
    width = np.rint(window.width / (scales * strides[1]))
    crop = start.crop
    reduced = ResizeMove(
        np.where(rows, down.pixels, crop.height),
        np.where(rows, across.pixels, crop.width),
        _REDUCING,
        np.where(rows, scales, repeat(1, sizes)),
    )
    early, *later = _warp_parts(start, warped, (across, down), height, width)
    return early, reduced, *later, resize, *start.rest


def resize_in_warp(moves: Moves, sizes: Sizes) -> Moves | None:
    """Warp straight to the size of the result where a resize would enlarge it.

    The matrix leads from a pixel of the enlarged result to its place in the image, so pixels are
    interpolated once instead of twice, and the result is a little sharper. Only where no fill is
    seen, and both interpolate bilinearly. Effects on single pixels between the two are then done on
    the enlarged image: they change neighbouring levels alike. A mirroring before the warp becomes
    part of its matrix.
    """
    start = _read_start(moves, sizes)
    if start is None or start.resize.filter != _BILINEAR:
        return None
    resize = start.resize
    warped = _Warped.of(start, sizes)
    rows, window = warped.rows, warped.window
    rows &= (resize.height >= window.height) & (resize.width >= window.width)
    rows &= (resize.height > window.height) | (resize.width > window.width)
    rows &= warped.warps.filter == _BILINEAR
    rows &= warped.view.most <= _MOST_STRETCH
    rows &= stays_inside(warped.view, warped.ends, room=REACH)
    for effect in start.between:
        rows &= is_even(effect) | ~effect.acts
    if not rows.any():
        return None

    def resized(move: EffectMove) -> EffectMove:
        height = np.where(rows, resize.height, move.height)
        return replace(move, height=height, width=np.where(rows, resize.width, move.width))

    parts = warped.parts(sizes, repeat(1, sizes))
    return (
        *_warp_parts(start, warped, parts, resize.height, resize.width),
        *map(resized, start.between),
        *([] if rows.all() else [resize]),
        *start.rest,
    )


def compose_warps(moves: Moves, sizes: Sizes) -> Moves | None:
    """Do two warps in a row as one.

    Their matrices are multiplied, and pixels are interpolated once instead of twice, so the result
    is a little sharper. Only where no fill is seen: the first warp's would be interpolated by the
    second, and the second's depends on the size of the image between them. Both have the same
    filter, which interpolates, and neither enlarges or shrinks much.
    """
    match moves:
        case (EffectMove() as first, EffectMove() as second):
            pass
        case _:
            return None
    rows = has_access(first, Access.GATHER) & has_access(second, Access.GATHER)
    if not rows.any():
        return None
    inner, outer = read_warps(first, sizes), read_warps(second, first.out_sizes(sizes))
    rows &= (inner.filter == outer.filter) & (inner.filter != _NEAREST)
    rows &= is_ordinary(inner) & is_ordinary(outer)
    window = CropMove(outer.window_top, outer.window_left, second.height, second.width)
    ones = np.ones(len(sizes))
    between = scaling(
        *(ones, inner.window_left - outer.part_left),
        *(ones, inner.window_top - outer.part_top),
    )
    inner_matrix, outer_matrix = (
        where_warped(rows, matrices(inner)),
        where_warped(rows, matrices(outer)),
    )
    there = look_through(outer_matrix, window)
    matrix = normal(inner_matrix @ between @ outer_matrix)
    view = look_through(matrix, window)
    room = REACH * _MOST_STRETCH
    for seen, source in ((there, outer.source), (view, inner.source)):
        rows &= stays_inside(seen, ends_of(scaling(ones, 0 * ones, ones, 0 * ones), source), room)
    for stretch in (there, view):
        rows &= (stretch.least >= 1 / _MOST_STRETCH) & (stretch.most <= _MOST_STRETCH)
    joined = replace(
        inner,
        matrix=matrix.reshape(-1, 9)[:, :8],
        window_top=outer.window_top,
        window_left=outer.window_left,
        whole=outer.whole,
    )
    needed = needed_source(joined, rows, second.height, second.width)
    top, left = needed.top - inner.part_top, needed.left - inner.part_left
    rows &= (top >= 0) & (left >= 0)
    rows &= (top + needed.height <= sizes.height) & (left + needed.width <= sizes.width)
    if not rows.any():
        return None
    one = with_frames(with_matrices(second, rows, matrix, joined), rows, joined)
    others = replace(
        first,
        effect=np.where(rows, Effect.NONE, first.effect),
        numbers=np.where(rows[:, None], 0, first.numbers),
        height=np.where(rows, sizes.height, first.height),
        width=np.where(rows, sizes.width, first.width),
    )
    return (one,) if (~others.acts).all() else (others, one)


def warp_in_fixed_point(moves: Moves, sizes: Sizes) -> Moves | None:
    """Rotate, shear and scale with places and weights in fixed point.

    Pixels come from places that are off by a hundredth of a pixel at most, with neighbours weighted
    in steps of 1/128, and so are off by two levels at most. Parts of rows that touch the fill are
    done as they always are, so fill is where it was.
    """
    del sizes
    planned = list(moves)
    for position, move in enumerate(moves):
        if not isinstance(move, EffectMove):
            continue
        rows = move.does(Effect.AFFINE)
        rows &= move.values(Effect.AFFINE, "filter") == _BILINEAR
        rows &= move.values(Effect.AFFINE, "rounded") == 0
        if rows.any():
            numbers = move.numbers.copy()
            numbers[rows, place_of(Effect.AFFINE, "rounded")] = 1
            planned[position] = replace(move, numbers=numbers)
    return None if all(map(is_, planned, moves)) else tuple(planned)


@dataclass(frozen=True, slots=True)
class _Start:
    """What a batch may begin with: a crop, a mirroring, warps, and a resize of their result."""

    crop: CropMove
    flip: FlipMove
    effect: EffectMove
    late: CropMove  # behind effects that are no warps
    between: tuple[EffectMove, ...]
    resize: ResizeMove
    rest: Moves


MoveT = TypeVar("MoveT", bound=Move)


def _read_start(moves: Moves, sizes: Sizes) -> _Start | None:
    rest = list(moves)

    def take(kind: type[MoveT]) -> MoveT | None:
        found = rest[0] if rest else None
        if not isinstance(found, kind):
            return None
        del rest[0]
        return found

    nothing = repeat(0, sizes)
    crop = take(CropMove) or CropMove(nothing, nothing, sizes.height, sizes.width)
    flip = take(FlipMove) or FlipMove(nothing != 0, nothing != 0)
    effect = take(EffectMove)
    if effect is None:
        return None
    late = take(CropMove) or CropMove(nothing, nothing, effect.height, effect.width)
    between: list[EffectMove] = []
    while (other := take(EffectMove)) is not None:
        between.append(other)
    resize = take(ResizeMove)
    if resize is None or resize.scales is not None or resize.filter not in SMOOTH:
        return None
    return _Start(crop, flip, effect, late, tuple(between), resize, tuple(rest))


def _to_image(start: _Start, warps: Warps) -> Floats:
    """From places in the whole source of the warps to places in the image, before the crop."""
    crop, flip = start.crop, start.flip
    return scaling(
        np.where(flip.horizontal, -1.0, 1.0),
        crop.left + np.where(flip.horizontal, crop.width + warps.part_left, -warps.part_left),
        np.where(flip.vertical, -1.0, 1.0),
        crop.top + np.where(flip.vertical, crop.height + warps.part_top, -warps.part_top),
    )


def _choose_scales(resize: ResizeMove, window: CropMove, view: View, spare: Ints) -> Ints:
    reduction = np.minimum(window.height / resize.height, window.width / resize.width)
    reduction *= np.minimum(view.least, 1)
    scales = np.ones(len(reduction), dtype=np.int64)
    for scale in SCALES:
        scales[reduction >= scale * spare] = scale
    return scales


def _choose_strides(
    resize: ResizeMove, window: CropMove, view: View, spare: Ints
) -> tuple[Floats, Floats]:
    """How many reduced pixels the warp may go on for each of its own, down and across."""
    most = np.maximum(_MOST_STRETCH / np.maximum(view.most, 1), 1)
    least = np.minimum(view.least, 1) / spare
    down, across = window.height / resize.height, window.width / resize.width
    return np.clip(down * least, 1, most), np.clip(across * least, 1, most)


@dataclass(frozen=True, slots=True)
class _Warped:
    """How the warps of a start look at the image."""

    warps: Warps
    rows: Bools  # which samples have a warp that can be done otherwise
    window: CropMove  # of the warp's whole result
    matrix: Floats  # from places in that to places in the image
    view: View
    ends: Ints  # of the source of the warps, in the image

    @classmethod
    def of(cls, start: _Start, sizes: Sizes) -> _Warped:
        effect = start.effect
        warps = read_warps(effect, start.crop.out_sizes(sizes))
        window = CropMove(warps.window_top, warps.window_left, effect.height, effect.width)
        rows = has_access(effect, Access.GATHER) & is_ordinary(warps)
        rows &= (start.late.height == effect.height) & (start.late.width == effect.width)
        to_image = _to_image(start, warps)
        matrix = to_image @ where_warped(rows, matrices(warps))
        view = look_through(matrix, window)
        return cls(warps, rows, window, matrix, view, ends_of(to_image, warps.source))

    def parts(self, sizes: Sizes, scales: Ints) -> tuple[Part, Part]:
        """What is needed of the image, across and down, if it is reduced by these scales."""
        across, down = (
            part_of_side(self.view.places[:, axis], self.ends[:, axis], size, scales)
            for axis, size in enumerate((sizes.width, sizes.height))
        )
        return across, down


def _warp_parts(
    start: _Start,
    warped: _Warped,
    parts: tuple[Part, Part],
    height: Ints | Floats,
    width: Ints | Floats,
) -> Moves:
    """The start with warps that give this size, from those parts of the image; others stay.

    The first of these moves is the crop of the image.
    """
    rows, window, (across, down) = warped.rows, warped.window, parts
    from_result = scaling(window.width / width, window.left, window.height / height, window.top)
    to_part = scaling(
        *(1 / across.step, -across.begin / across.step),
        *(1 / down.step, -down.begin / down.step),
    )
    filters = warped.warps.filter
    smooth = replace(warped.warps, filter=np.where(filters == _NEAREST, _BILINEAR, filters))
    matrix = normal(to_part @ warped.matrix @ from_result)
    effect = with_matrices(start.effect, rows, matrix, smooth)

    def either(own: Ints | Floats, others: Ints) -> Ints:
        return np.where(rows, own, others).astype(np.int64)

    crop, flip, late = start.crop, start.flip, start.late
    early = CropMove(
        either(down.begin, crop.top),
        either(across.begin, crop.left),
        either(down.end - down.begin, crop.height),
        either(across.end - across.begin, crop.width),
    )
    resized = replace(
        effect, height=either(height, effect.height), width=either(width, effect.width)
    )
    if rows.all():
        return early, resized
    return (
        early,
        FlipMove(flip.horizontal & ~rows, flip.vertical & ~rows),
        resized,
        replace(late, height=either(height, late.height), width=either(width, late.width)),
    )


RULES = (
    Rule(
        "compose_warps",
        Fidelity.FAST,
        compose_warps,
        bound=Bound(mean=10.0, most=160, psnr_db=25),
    ),
    Rule(
        "warp_then_shrink",
        Fidelity.FAST,
        warp_then_shrink,
        span=None,
        bound=Bound(mean=5.5, most=64, psnr_db=30),
    ),
    Rule(
        "resize_in_warp",
        Fidelity.FAST,
        resize_in_warp,
        span=None,
        bound=Bound(mean=1.5, most=80, psnr_db=38),
    ),
    Rule(
        "warp_in_fixed_point",
        Fidelity.FAST,
        warp_in_fixed_point,
        span=None,
        bound=Bound(mean=0.1, most=2, psnr_db=60),
        free=True,
        last=True,
    ),
)
