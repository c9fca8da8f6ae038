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

# Pixels that a filter of a warp takes on each side of a place.
_REACH = 2

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

# More than any place in an image.
_LARGEST = 1e8

# The least part of an image that is worth reducing, in reduced pixels.
_LEAST = 4

# Where a perspective's depth changes by more within a window, the window's corners do not tell what
# it does between them.
_LEAST_DEPTH = 0.25


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
    spare = np.where(_stays_inside(view, warped.ends, room=0), _SPARE, _SPARE_WITH_FILL)
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
    rows &= _stays_inside(warped.view, warped.ends, room=_REACH)
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
    rows &= _is_ordinary(inner) & _is_ordinary(outer)
    window = CropMove(outer.window_top, outer.window_left, second.height, second.width)
    ones = np.ones(len(sizes))
    between = _scaling(
        *(ones, inner.window_left - outer.part_left),
        *(ones, inner.window_top - outer.part_top),
    )
    inner_matrix, outer_matrix = _where(rows, matrices(inner)), _where(rows, matrices(outer))
    there = _look_through(outer_matrix, window)
    matrix = _normal(inner_matrix @ between @ outer_matrix)
    view = _look_through(matrix, window)
    room = _REACH * _MOST_STRETCH
    for seen, source in ((there, outer.source), (view, inner.source)):
        rows &= _stays_inside(seen, _ends(_scaling(ones, 0 * ones, ones, 0 * ones), source), room)
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
    return _scaling(
        np.where(flip.horizontal, -1.0, 1.0),
        crop.left + np.where(flip.horizontal, crop.width + warps.part_left, -warps.part_left),
        np.where(flip.vertical, -1.0, 1.0),
        crop.top + np.where(flip.vertical, crop.height + warps.part_top, -warps.part_top),
    )


@dataclass(frozen=True, slots=True)
class _View:
    """What a matrix does to a window."""

    places: Floats  # (samples, 2, 4): across and down, of the window's corners
    least: Floats  # by how much it stretches, at its corners: along one direction,
    most: Floats  # and along another; infinite where that cannot be told


def _look_through(matrix: Floats, window: CropMove) -> _View:
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
    return _View(places, np.where(is_clear, least, 0), np.where(is_clear, most, np.inf))


def _choose_scales(resize: ResizeMove, window: CropMove, view: _View, spare: Ints) -> Ints:
    reduction = np.minimum(window.height / resize.height, window.width / resize.width)
    reduction *= np.minimum(view.least, 1)
    scales = np.ones(len(reduction), dtype=np.int64)
    for scale in SCALES:
        scales[reduction >= scale * spare] = scale
    return scales


def _choose_strides(
    resize: ResizeMove, window: CropMove, view: _View, spare: Ints
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
    view: _View
    ends: Ints  # of the source of the warps, in the image

    @classmethod
    def of(cls, start: _Start, sizes: Sizes) -> _Warped:
        effect = start.effect
        warps = read_warps(effect, start.crop.out_sizes(sizes))
        window = CropMove(warps.window_top, warps.window_left, effect.height, effect.width)
        rows = has_access(effect, Access.GATHER) & _is_ordinary(warps)
        rows &= (start.late.height == effect.height) & (start.late.width == effect.width)
        to_image = _to_image(start, warps)
        matrix = to_image @ _where(rows, matrices(warps))
        view = _look_through(matrix, window)
        return cls(warps, rows, window, matrix, view, _ends(to_image, warps.source))

    def parts(self, sizes: Sizes, scales: Ints) -> tuple[_Part, _Part]:
        """What is needed of the image, across and down, if it is reduced by these scales."""
        across, down = (
            _part_of_side(self.view.places[:, axis], self.ends[:, axis], size, scales)
            for axis, size in enumerate((sizes.width, sizes.height))
        )
        return across, down


def _warp_parts(
    start: _Start,
    warped: _Warped,
    parts: tuple[_Part, _Part],
    height: Ints | Floats,
    width: Ints | Floats,
) -> Moves:
    """The start with warps that give this size, from those parts of the image; others stay.

    The first of these moves is the crop of the image.
    """
    rows, window, (across, down) = warped.rows, warped.window, parts
    from_result = _scaling(window.width / width, window.left, window.height / height, window.top)
    to_part = _scaling(
        *(1 / across.step, -across.begin / across.step),
        *(1 / down.step, -down.begin / down.step),
    )
    filters = warped.warps.filter
    smooth = replace(warped.warps, filter=np.where(filters == _NEAREST, _BILINEAR, filters))
    matrix = _normal(to_part @ warped.matrix @ from_result)
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


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of one side of an image that is reduced."""

    begin: Ints
    end: Ints
    pixels: Ints  # after reducing

    @property
    def step(self) -> Floats:
        """Pixels that become one."""
        return np.asarray(np.maximum(self.end - self.begin, 1) / np.maximum(self.pixels, 1))


def _ends(to_image: Floats, source: Sizes) -> Ints:
    """Where the source begins and ends in the image: (samples, 2, 2), across and down."""
    first = to_image[:, :2, 2]
    last = first + to_image[:, [0, 1], [0, 1]] * np.stack([source.width, source.height], axis=1)
    return np.rint(np.sort(np.stack([first, last], axis=2), axis=2)).astype(np.int64)


def _part_of_side(places: Floats, ends: Ints, size: Ints, scales: Ints) -> _Part:
    """What a warp needs of a side of an image of `size`, in which its source has these ends.

    It ends where the source does if places lie beyond it: there the fill begins. Otherwise it has
    room for filters, and whole reduced pixels as the decoder makes them, unless the image itself
    ends within one.
    """
    first, last = ends.T
    least, most = places.min(axis=1), places.max(axis=1)
    room = _REACH * scales
    begin = np.floor(np.clip(least - room, first, last)).astype(np.int64) // scales * scales
    end = -(np.floor(-np.clip(most + room, first, last)).astype(np.int64) // scales * scales)
    fitting = size // scales * scales
    end = np.where(end <= size, end, np.where(most <= fitting, fitting, size))
    begin, end = np.where(least < first, first, begin), np.where(most > last, last, end)
    return _Part(begin, end, (end - begin) // scales)


def _stays_inside(view: _View, ends: Ints, room: float) -> Bools:
    """Whether all places lie within these ends, and that far from them."""
    first, last = ends[:, :, :1] + room, ends[:, :, 1:] - room
    return np.asarray(((view.places >= first) & (view.places <= last)).all(axis=(1, 2)))


def _is_ordinary(warps: Warps) -> Bools:
    """Whether matrices have numbers that can be reckoned with: not NaN, and none too large."""
    return np.asarray((np.abs(warps.matrix) < _LARGEST).all(axis=1))


def _where(rows: Bools, matrix: Floats) -> Floats:
    """Matrices that change nothing for the other samples, whose own may be no numbers."""
    return np.where(rows[:, None, None], matrix, np.eye(3))


def _normal(matrix: Floats) -> Floats:
    """The same with 1 at the end, where that can be."""
    end = matrix[:, 2:, 2:]
    return matrix / np.where(np.abs(end) > 1e-6, end, 1)


def _scaling(across: Floats, left: Floats | Ints, down: Floats, top: Floats | Ints) -> Floats:
    """Matrices (samples, 3, 3) that scale along both axes, and then move."""
    matrix = np.zeros((len(across), 3, 3))
    matrix[:, 0, 0], matrix[:, 0, 2] = across, left
    matrix[:, 1, 1], matrix[:, 1, 2] = down, top
    matrix[:, 2, 2] = 1
    return matrix


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
