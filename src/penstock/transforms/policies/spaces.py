"""The lists of ops that policies choose from, and what a level means for each op.

torchvision's levels are numbers of bins. It keeps the magnitudes of all bins in float32 tensors
made by torch.linspace; they are computed here as torch does on a CPU with fused multiplication and
addition, bit for bit. Its older transforms (generation 1) count Solarize's threshold from 255 to 0,
the newer ones (2) from 1 to 0 and then times 255, which matters to pixels that equal the threshold
at some levels.

The levels of timm, of the TPU models and of Population Based Augmentation run from 0 to 10. All
three descend from AutoAugment's first code, write arguments straight into Pillow's matrices, and
differ in ranges and in whether a higher level always means a stronger change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from penstock._core import Effect
from penstock.geometry import Floats, Ints, Sizes
from penstock.transforms.arguments import Generation
from penstock.transforms.policies.ops import (
    Act,
    LevelToArgument,
    PolicyOp,
    affine_shear,
    affine_translate,
    cutout,
    direct,
    enhance,
    in_matrix,
    plain,
    posterize,
    rotate_degrees,
    solarize_share,
)

Ops = tuple[PolicyOp, ...]
Most = Callable[[Sizes], Floats]  # the argument at the highest level, by image size

MOST_LEVEL = 10  # of all but torchvision's

_IDENTITY = PolicyOp("Identity", plain(Effect.NONE))
_AUTO_CONTRAST = PolicyOp("AutoContrast", plain(Effect.AUTOCONTRAST))
_EQUALIZE = PolicyOp("Equalize", plain(Effect.EQUALIZE))
_INVERT = PolicyOp("Invert", plain(Effect.INVERT))

_BRIGHTNESS = ("Brightness", Effect.BRIGHTNESS)
_COLOR = ("Color", Effect.SATURATION)
_CONTRAST = ("Contrast", Effect.CONTRAST)
_SHARPNESS = ("Sharpness", Effect.SHARPNESS)


# torchvision's, by the number of a bin


@lru_cache
def rand_augment_ops(bins: int, generation: Generation = 2) -> Ops:
    """RandAugment's fourteen, in torchvision's order."""
    return (
        _IDENTITY,
        *_binned_warps(0.3, _share_of_sides(150.0 / 331.0), 30.0, bins),
        *_binned_enhancements(0.9, bins),
        *_binned_tables(8, 4, bins, generation),
    )


@lru_cache
def auto_augment_ops(generation: Generation = 2) -> Ops:
    """AutoAugment's fourteen; its policies speak of ten bins."""
    return (*rand_augment_ops(10, generation)[1:], _INVERT)


@lru_cache
def trivial_augment_ops(bins: int, generation: Generation = 2) -> Ops:
    """TrivialAugment's fourteen, with its wide ranges."""
    pixels = _constant(32.0)
    return (
        _IDENTITY,
        *_binned_warps(0.99, (pixels, pixels), 135.0, bins),
        *_binned_enhancements(0.99, bins),
        *_binned_tables(8, 6, bins, generation),
    )


@lru_cache
def augmix_ops(*, with_enhancements: bool) -> Ops:
    """AugMix's nine ops of ten bins, or thirteen."""
    third = (lambda sizes: sizes.width / 3.0, lambda sizes: sizes.height / 3.0)
    partial = (*_binned_warps(0.3, third, 30.0, 10), *_binned_tables(4, 4, 10, 2))
    return (*partial, *_binned_enhancements(0.9, 10)) if with_enhancements else partial


def linspace_at(level: Ints, start: float, end: Floats | float, bins: int) -> Floats:
    """Value number `level` of torch.linspace(start, end, bins), a float32."""
    first, last = np.float32(start), np.asarray(end, dtype=np.float32)
    step = ((last - first) / np.float32(bins - 1)).astype(np.float64)
    upwards = np.float64(first) + step * level
    downwards = last.astype(np.float64) - step * (bins - 1 - level)
    values: Floats = np.where(level < bins // 2, upwards, downwards)
    return values.astype(np.float32).astype(np.float64)


def _binned_warps(shear: float, translation: tuple[Most, Most], degrees: float, bins: int) -> Ops:
    share = _up_to(_constant(shear), bins)
    across, down = (_up_to(most, bins) for most in translation)
    return (
        *_both_ways("Shear", affine_shear(0), affine_shear(1), share, share),
        *_both_ways("Translate", affine_translate(0), affine_translate(1), across, down),
        PolicyOp("Rotate", rotate_degrees, _up_to(_constant(degrees), bins), signed=True),
    )


def _binned_enhancements(most: float, bins: int) -> Ops:
    change = _up_to(_constant(most), bins)
    named = (_BRIGHTNESS, _COLOR, _CONTRAST, _SHARPNESS)
    return tuple(PolicyOp(name, enhance(effect), change, signed=True) for name, effect in named)


def _binned_tables(most_bits: int, bits_lost: int, bins: int, generation: Generation) -> Ops:
    """Ops that look each value up; Posterize goes from `most_bits` down by `bits_lost`."""
    per_bit = np.float32((bins - 1) / bits_lost)
    most_threshold = 255.0 if generation == 1 else 1.0

    def bits(level: Floats, _: Sizes) -> Floats:
        """Computed in float32 and rounded, as torch does it."""
        kept: npt.NDArray[np.float32] = np.float32(most_bits) - level.astype(np.float32) / per_bit
        return np.rint(kept).astype(np.float64)

    def threshold(level: Floats, _: Sizes) -> Floats:
        return linspace_at(level.astype(np.int64), most_threshold, 0.0, bins)

    solarize = direct(Effect.SOLARIZE) if generation == 1 else solarize_share
    return (
        PolicyOp("Posterize", posterize, bits),
        PolicyOp("Solarize", solarize, threshold),
        _AUTO_CONTRAST,
        _EQUALIZE,
    )


def _up_to(most: Most, bins: int) -> LevelToArgument:
    return lambda level, sizes: linspace_at(level.astype(np.int64), 0.0, most(sizes), bins)


def _constant(most: float) -> Most:
    return lambda sizes: np.full(len(sizes), most)


def _share_of_sides(share: float) -> tuple[Most, Most]:
    return (
        lambda sizes: share * sizes.width.astype(np.float64),
        lambda sizes: share * sizes.height.astype(np.float64),
    )


# timm's, the TPU models' and PBA's, by levels from 0 to 10


@lru_cache
def timm_ops(*, increasing: bool, translate_pct: float) -> Ops:
    """timm's fifteen, in its order; with `increasing`, higher levels always change more."""
    ops = _level_ops(
        degrees=_times(30.0),
        bits=_down_from(4) if increasing else _whole(4),
        threshold=_down_from(256) if increasing else _whole(256),
        change=(lambda kind: enhance(kind, least=0.1)) if increasing else direct,
        factor=_times(0.9) if increasing else _around_one,
        across=lambda level, sizes: level / MOST_LEVEL * translate_pct * sizes.width,
        down=lambda level, sizes: level / MOST_LEVEL * translate_pct * sizes.height,
        signed=increasing,
    )
    return (*ops[:6], _solarize_add(most=128), *ops[6:])


@lru_cache
def tpu_ops() -> Ops:
    """The sixteen of the TPU models' RandAugment, in their order."""
    ops = _level_ops(
        degrees=_times(30.0),
        bits=_whole(4),
        threshold=_whole(256),
        across=_times(100.0),
        down=_times(100.0),
    )
    return (*ops, PolicyOp("Cutout", cutout, _whole(40)), _solarize_add(most=np.inf))


@lru_cache
def population_ops() -> Ops:
    """The fifteen of Population Based Augmentation."""
    ops = _level_ops(
        degrees=_whole(30),
        bits=_down_from(4),
        threshold=_down_from(256),
        across=_whole(10),
        down=_whole(10),
    )
    half_side = _whole(20)
    return (*ops, PolicyOp("Cutout", cutout, lambda level, sizes: half_side(level, sizes) // 2))


def _around_one(level: Floats, _: Sizes) -> Floats:
    """Factors from 0.1 to 1.9: level 5 is nearest to no change."""
    return level / MOST_LEVEL * 1.8 + 0.1


def _level_ops(
    *,
    degrees: LevelToArgument,
    bits: LevelToArgument,
    threshold: LevelToArgument,
    across: LevelToArgument,
    down: LevelToArgument,
    change: Callable[[Effect], Act] = direct,
    factor: LevelToArgument = _around_one,
    signed: bool = False,
) -> Ops:
    """The ops that timm, the TPU models and PBA share, in the order that they share too."""
    named = (_COLOR, _CONTRAST, _BRIGHTNESS, _SHARPNESS)
    return (
        _AUTO_CONTRAST,
        _EQUALIZE,
        _INVERT,
        PolicyOp("Rotate", rotate_degrees, degrees, signed=True),
        PolicyOp("Posterize", posterize, bits),
        PolicyOp("Solarize", direct(Effect.SOLARIZE), threshold),
        *(PolicyOp(name, change(effect), factor, signed=signed) for name, effect in named),
        *_both_ways("Shear", in_matrix(1), in_matrix(3), _times(0.3), _times(0.3)),
        *_both_ways("Translate", in_matrix(2), in_matrix(5), across, down),
    )


def _solarize_add(most: float) -> PolicyOp:
    added = _whole(110)
    below = 128
    return PolicyOp(
        "SolarizeAdd",
        direct(Effect.SOLARIZE_ADD, threshold=below),
        lambda level, sizes: np.minimum(added(level, sizes), most),
    )


def _both_ways(name: str, act_x: Act, act_y: Act, x: LevelToArgument, y: LevelToArgument) -> Ops:
    return PolicyOp(f"{name}X", act_x, x, signed=True), PolicyOp(f"{name}Y", act_y, y, signed=True)


def _times(most: float) -> LevelToArgument:
    return lambda level, _: level / MOST_LEVEL * most


def _whole(most: int) -> LevelToArgument:
    return lambda level, _: np.trunc(level / MOST_LEVEL * most)


def _down_from(most: int) -> LevelToArgument:
    return lambda level, _: np.maximum(most - np.trunc(level / MOST_LEVEL * most), 0)
