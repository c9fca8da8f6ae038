"""Crop first: what stands before a crop works on the pixels that the crop keeps, and no others.

Each rule takes a move with a crop behind it and puts a crop before the move. A crop that has come
to the front is taken into the decoder, which then reads only the part of the file that it needs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from penstock._core import PadMode
from penstock.geometry import Bools, Ints, Sizes
from penstock.planner.access import Access, has_access, reach
from penstock.planner.draft import Moves
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, PadMove


def join_crops(moves: Moves, sizes: Sizes) -> Moves | None:
    """Two crops are one.

    Exact: the inner box, seen from the image before both.
    """
    match moves:
        case (CropMove() as outer, CropMove() as inner):
            top, left = outer.top + inner.top, outer.left + inner.left
            return unless_whole(CropMove(top, left, inner.height, inner.width), sizes)
    return None


def crop_before_flip(moves: Moves, sizes: Sizes) -> Moves | None:
    """Crop before mirroring.

    Exact: a flip moves pixels and changes none, so the box of the crop is mirrored instead.
    """
    match moves:
        case (FlipMove() as flip, CropMove() as crop):
            top = np.where(flip.vertical, sizes.height - crop.top - crop.height, crop.top)
            left = np.where(flip.horizontal, sizes.width - crop.left - crop.width, crop.left)
            return CropMove(top, left, crop.height, crop.width), flip
    return None


def crop_before_per_pixel(moves: Moves, sizes: Sizes) -> Moves | None:
    """Crop before effects that make each pixel from that pixel alone.

    Exact: such an effect asks neither where the pixel is nor what is around it. Effects that need
    a figure over the whole image (contrast, autocontrast, equalize) are not of this kind.
    """
    match moves:
        case (EffectMove() as effect, CropMove() as crop):
            rows = has_access(effect, Access.TABLE, Access.PIXEL) & cuts(crop, sizes)
            return crop_through(effect, crop, rows, crop, sizes)
    return None


def window_of_neighbourhood(moves: Moves, sizes: Sizes) -> Moves | None:
    """Blur and sharpen the crop and a border around it, not the whole image.

    Exact: a pixel of the result depends on the pixels within the filter's reach, and the crop put
    before the filter keeps those. Where that crop ends inside the image, the filter takes the cut
    for the image's edge; pixels that this changes lie within the filter's reach of the cut, and the
    crop behind the filter drops them.
    """
    match moves:
        case (EffectMove() as effect, CropMove() as crop):
            across, down = reach(effect)
            top, left = np.maximum(crop.top - down, 0), np.maximum(crop.left - across, 0)
            bottom = np.minimum(crop.top + crop.height + down, sizes.height)
            right = np.minimum(crop.left + crop.width + across, sizes.width)
            outer = CropMove(top, left, bottom - top, right - left)
            rows = has_access(effect, Access.NEIGHBOURHOOD) & cuts(outer, sizes)
            return crop_through(effect, crop, rows, outer, sizes)
    return None


def crop_before_padding(moves: Moves, sizes: Sizes) -> Moves | None:
    """Pad the part of the image that the crop keeps, and no farther than the crop reaches.

    Exact: a border of one colour, or of repeated edge pixels, does not depend on pixels farther in,
    and where a border is left the crop put before it keeps the edge. Reflected borders need pixels
    of the inside and are left alone.
    """
    match moves:
        case (PadMove(mode=PadMode.CONSTANT | PadMode.EDGE) as pad, CropMove() as crop):
            pass
        case _:
            return None
    top, height, above, below = _pad_less(crop.top, crop.height, pad.top, sizes.height)
    left, width, before, behind = _pad_less(crop.left, crop.width, pad.left, sizes.width)
    less = replace(pad, left=before, top=above, right=behind, bottom=below)
    kept = CropMove(top, left, height, width)
    if not (cuts(kept, sizes).any() or _is_less(less, pad)):
        return None
    rest = replace(
        crop, top=crop.top - pad.top - top + above, left=crop.left - pad.left - left + before
    )
    padded = less.out_sizes(Sizes(height, width))
    return *unless_whole(kept, sizes), less, *unless_whole(rest, padded)


def _pad_less(start: Ints, length: Ints, border: Ints, size: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Along one side: first and number of pixels to keep, and the borders before and behind them.

    At least one pixel is kept, even where the crop sees nothing but border.
    """
    first = np.clip(start - border, 0, size - 1)
    end = np.clip(start + length - border, first + 1, size)
    return (
        first,
        end - first,
        np.maximum(border - start, 0),
        np.maximum(start + length - border - size, 0),
    )


def _is_less(less: PadMove, pad: PadMove) -> bool:
    return any(
        bool(np.any(getattr(less, side) != getattr(pad, side)))
        for side in ("left", "top", "right", "bottom")
    )


def crop_through(
    effect: EffectMove, crop: CropMove, rows: Bools, outer: CropMove, sizes: Sizes
) -> Moves | None:
    """For the samples in `rows`, crop to `outer` before the effect, and to the rest behind it."""
    if not rows.any():
        return None
    if outer is crop and rows.all():
        return crop, replace(effect, height=crop.height, width=crop.width)
    early = CropMove(
        np.where(rows, outer.top, 0),
        np.where(rows, outer.left, 0),
        np.where(rows, outer.height, sizes.height),
        np.where(rows, outer.width, sizes.width),
    )
    late = replace(
        crop,
        top=np.where(rows, crop.top - outer.top, crop.top),
        left=np.where(rows, crop.left - outer.left, crop.left),
    )
    between = replace(
        effect,
        height=np.where(rows, outer.height, effect.height),
        width=np.where(rows, outer.width, effect.width),
    )
    return early, between, *unless_whole(late, Sizes(between.height, between.width))


def cuts(crop: CropMove, sizes: Sizes) -> Bools:
    """Which samples lose pixels by a crop."""
    return np.asarray((crop.height != sizes.height) | (crop.width != sizes.width))


def unless_whole(crop: CropMove, sizes: Sizes) -> tuple[CropMove, ...]:
    """The crop, if any sample loses pixels by it."""
    return (crop,) if cuts(crop, sizes).any() else ()


RULES = tuple(
    Rule(rewrite.__name__, Fidelity.EXACT, rewrite, free=True)
    for rewrite in (
        join_crops,
        crop_before_flip,
        crop_before_per_pixel,
        window_of_neighbourhood,
        crop_before_padding,
    )
)
