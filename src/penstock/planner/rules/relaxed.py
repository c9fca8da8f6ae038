"""Relaxed rules: results differ in ways that a model will hardly notice, but they are not the same.

They are offered and never applied unasked: `Loader(allow=("contrast_on_crop",))`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from penstock._core import Effect
from penstock.geometry import Sizes
from penstock.planner.access import Access, has_access
from penstock.planner.draft import Moves
from penstock.planner.rules.crop_first import crop_through, cuts
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove

_WITH_FILL = (Effect.AFFINE, Effect.PERSPECTIVE)


def contrast_on_crop(moves: Moves, sizes: Sizes) -> Moves | None:
    """Change contrast around the mean of the crop, not of the whole image.

    The crop's mean differs from the image's as the crop does from the image: results are darker or
    brighter by a constant, at most the share of the difference that the factor says.
    """
    return _on_crop(moves, sizes, Effect.CONTRAST)


def autocontrast_on_crop(moves: Moves, sizes: Sizes) -> Moves | None:
    """Stretch levels between the extremes of the crop, not of the whole image.

    A crop without the darkest or brightest places of its image is stretched farther.
    """
    return _on_crop(moves, sizes, Effect.AUTOCONTRAST)


def equalize_on_crop(moves: Moves, sizes: Sizes) -> Moves | None:
    """Equalize the levels of the crop, not of the whole image.

    The counts of levels are the crop's own, so the same pixel gets another level.
    """
    return _on_crop(moves, sizes, Effect.EQUALIZE)


def jitter_before_fill(moves: Moves, sizes: Sizes) -> Moves | None:
    """Change colours before a rotation or another warp, not after it.

    The colour that a warp brings in from outside the image is then left as it is, instead of being
    changed with the image, and does not count in the image's mean or extremes; inside, values
    differ by rounding.
    """
    match moves:
        case (EffectMove() as warp, EffectMove() as jitter):
            colours = has_access(jitter, Access.TABLE, Access.PIXEL, Access.STATISTIC)
            rows = np.isin(warp.effect, _WITH_FILL) & colours & jitter.acts
            if not rows.any():
                return None
            first = replace(
                jitter,
                effect=np.where(rows, jitter.effect, warp.effect),
                numbers=np.where(rows[:, None], jitter.numbers, warp.numbers),
                height=np.where(rows, sizes.height, warp.height),
                width=np.where(rows, sizes.width, warp.width),
            )
            second = replace(
                warp,
                effect=np.where(rows, warp.effect, jitter.effect),
                numbers=np.where(rows[:, None], warp.numbers, jitter.numbers),
                height=jitter.height,
                width=jitter.width,
                measured_on=jitter.measured_on,
            )
            return first, second
    return None


def _on_crop(moves: Moves, sizes: Sizes, effect: Effect) -> Moves | None:
    match moves:
        case (EffectMove() as move, CropMove() as crop):
            rows = (move.effect == effect) & has_access(move, Access.STATISTIC)
            return crop_through(move, crop, rows & cuts(crop, sizes), crop, sizes)
    return None


RULES = tuple(
    Rule(rewrite.__name__, Fidelity.RELAXED, rewrite)
    for rewrite in (contrast_on_crop, autocontrast_on_crop, equalize_on_crop, jitter_before_fill)
)
