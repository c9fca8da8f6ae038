"""The ops of policies whose levels run from 0 to 10: timm's, the TPU models' and PBA's.

All three descend from AutoAugment's first code, write arguments straight into Pillow's matrices,
and differ in ranges and in whether a higher level always means a stronger change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from penstock.geometry import Floats, Ints, Sizes
from penstock.transforms.arguments import Generation
from penstock.transforms.effects import Effect
from penstock.transforms.policies.ops import (
    LevelToArgument,
    PolicyOp,
    affine_shear,
    affine_translate,
    cutout,
    direct,
    enhance,
    matrix_shear,
    matrix_translate,
    plain,
    posterize,
    rotate_degrees,
    solarize_share,
)

Ops = tuple[PolicyOp, ...]

MOST_LEVEL = 10

_SOLARIZE_ADD_BELOW = 128
_ENHANCEMENTS = {
    "Color": Effect.SATURATION,
    "Contrast": Effect.CONTRAST,
    "Brightness": Effect.BRIGHTNESS,
    "Sharpness": Effect.SHARPNESS,
}


@lru_cache
def timm_ops(*, increasing: bool, translate_pct: float) -> Ops:
    """timm's fifteen, in its order; with `increasing`, higher levels always change more."""
    posterization, solarization = (
        (_down_from(4, 4), _down_from(256, 256)) if increasing else (_whole(4), _whole(256))
    )
    add = _at_most(128, _whole(110))
    return (
        *_tables(),
        _rotation(_times(30.0)),
        PolicyOp("Posterize", posterize, posterization),
        PolicyOp("Solarize", direct(Effect.SOLARIZE), solarization),
        PolicyOp("SolarizeAdd", direct(Effect.SOLARIZE_ADD, _SOLARIZE_ADD_BELOW), add),
        *(_increasing_enhancements() if increasing else _enhancements()),
        *_shears(),
        *_translations(
            lambda level, sizes: level / MOST_LEVEL * translate_pct * sizes.width,
            lambda level, sizes: level / MOST_LEVEL * translate_pct * sizes.height,
        ),
    )


@lru_cache
def tpu_ops() -> Ops:
    """The sixteen of the TPU models' RandAugment, in their order."""
    posterization = PolicyOp("Posterize", posterize, _whole(4))
    solarization = PolicyOp("Solarize", direct(Effect.SOLARIZE), _whole(256))
    return (
        *_tables(),
        _rotation(_times(30.0)),
        posterization,
        solarization,
        *_enhancements(),
        *_shears(),
        *_translations(_times(100.0), _times(100.0)),
        PolicyOp("Cutout", cutout, _whole(40)),
        PolicyOp("SolarizeAdd", direct(Effect.SOLARIZE_ADD, _SOLARIZE_ADD_BELOW), _whole(110)),
    )


@lru_cache
def population_ops() -> Ops:
    """The fifteen of Population Based Augmentation."""
    return (
        *_tables(),
        _rotation(_whole(30)),
        PolicyOp("Posterize", posterize, _down_from(4, 4)),
        PolicyOp("Solarize", direct(Effect.SOLARIZE), _down_from(256, 256)),
        *_enhancements(),
        *_shears(),
        *_translations(_whole(10), _whole(10)),
        PolicyOp("Cutout", cutout, lambda level, sizes: _whole(20)(level, sizes) // 2),
    )


def _tables() -> Ops:
    return (
        PolicyOp("AutoContrast", plain(Effect.AUTOCONTRAST)),
        PolicyOp("Equalize", plain(Effect.EQUALIZE)),
        PolicyOp("Invert", plain(Effect.INVERT)),
    )


def _rotation(degrees: LevelToArgument) -> PolicyOp:
    return PolicyOp("Rotate", rotate_degrees, degrees, signed=True)


def _enhancements() -> Ops:
    """Factors from 0.1 to 1.9: level 5 is nearest to no change."""

    def factor(level: Floats, _: Sizes) -> Floats:
        return level / MOST_LEVEL * 1.8 + 0.1

    return tuple(PolicyOp(name, direct(kind), factor) for name, kind in _ENHANCEMENTS.items())


def _increasing_enhancements() -> Ops:
    """Factors away from 1 by up to 0.9, to either side."""
    change = _times(0.9)
    return tuple(
        PolicyOp(name, enhance(kind, least=0.1), change, signed=True)
        for name, kind in _ENHANCEMENTS.items()
    )


def _shears() -> Ops:
    return (
        PolicyOp("ShearX", matrix_shear(0), _times(0.3), signed=True),
        PolicyOp("ShearY", matrix_shear(1), _times(0.3), signed=True),
    )


def _translations(across: LevelToArgument, down: LevelToArgument) -> Ops:
    return (
        PolicyOp("TranslateX", matrix_translate(0), across, signed=True),
        PolicyOp("TranslateY", matrix_translate(1), down, signed=True),
    )


def _times(most: float) -> LevelToArgument:
    return lambda level, _: level / MOST_LEVEL * most


def _whole(most: int) -> LevelToArgument:
    return lambda level, _: np.trunc(level / MOST_LEVEL * most)


def _at_most(limit: int, argument: LevelToArgument) -> LevelToArgument:
    return lambda level, sizes: np.minimum(argument(level, sizes), limit)


def _down_from(start: int, most: int) -> LevelToArgument:
    return lambda level, sizes: np.maximum(start - _whole(most)(level, sizes), 0)


Singles = npt.NDArray[np.float32]

_TORCHVISION_ENHANCEMENTS = {
    "Brightness": Effect.BRIGHTNESS,
    "Color": Effect.SATURATION,
    "Contrast": Effect.CONTRAST,
    "Sharpness": Effect.SHARPNESS,
}


@lru_cache
def rand_augment_ops(bins: int, generation: Generation = 2) -> Ops:
    """RandAugment's fourteen, in torchvision's order."""
    return (PolicyOp("Identity", plain(Effect.NONE)), *_auto_augment_ops(bins, generation)[:-1])


@lru_cache
def auto_augment_ops(generation: Generation = 2) -> Ops:
    """AutoAugment's fourteen; its policies speak of ten bins."""
    return _auto_augment_ops(10, generation)


@lru_cache
def trivial_augment_ops(bins: int, generation: Generation = 2) -> Ops:
    """TrivialAugment's fourteen, with its wide ranges."""
    return (
        PolicyOp("Identity", plain(Effect.NONE)),
        *_binned_shears(0.99, bins),
        *_binned_translations(_constant(32.0), _constant(32.0), bins),
        _binned_rotation(135.0, bins),
        *_binned_enhancements(0.99, bins),
        _binned_posterization(8, 6, bins),
        *_binned_tables(bins, generation),
    )


@lru_cache
def augmix_ops(*, with_enhancements: bool) -> Ops:
    """AugMix's nine ops of ten bins, or thirteen."""
    partial = (
        *_binned_shears(0.3, 10),
        *_binned_translations(
            lambda sizes: sizes.width / 3.0, lambda sizes: sizes.height / 3.0, 10
        ),
        _binned_rotation(30.0, 10),
        _binned_posterization(4, 4, 10),
        *_binned_tables(10, 2),
    )
    return (*partial, *_binned_enhancements(0.9, 10)) if with_enhancements else partial


def linspace_at(level: Ints, start: float, end: Floats | float, bins: int) -> Floats:
    """Value number `level` of torch.linspace(start, end, bins), a float32."""
    first, last = np.float32(start), np.asarray(end, dtype=np.float32)
    step = ((last - first) / np.float32(bins - 1)).astype(np.float64)
    upwards = np.float64(first) + step * level
    downwards = last.astype(np.float64) - step * (bins - 1 - level)
    values: Floats = np.where(level < bins // 2, upwards, downwards)
    return values.astype(np.float32).astype(np.float64)


def _auto_augment_ops(bins: int, generation: Generation) -> Ops:
    return (
        *_binned_shears(0.3, bins),
        *_binned_translations(
            lambda sizes: 150.0 / 331.0 * sizes.width.astype(np.float64),
            lambda sizes: 150.0 / 331.0 * sizes.height.astype(np.float64),
            bins,
        ),
        _binned_rotation(30.0, bins),
        *_binned_enhancements(0.9, bins),
        _binned_posterization(8, 4, bins),
        *_binned_tables(bins, generation),
        PolicyOp("Invert", plain(Effect.INVERT)),
    )


def _binned_shears(most: float, bins: int) -> Ops:
    share = _up_to(_constant(most), bins)
    return (
        PolicyOp("ShearX", affine_shear(0), share, signed=True),
        PolicyOp("ShearY", affine_shear(1), share, signed=True),
    )


def _binned_translations(
    most_x: Callable[[Sizes], Floats], most_y: Callable[[Sizes], Floats], bins: int
) -> Ops:
    return (
        PolicyOp("TranslateX", affine_translate(0), _up_to(most_x, bins), signed=True),
        PolicyOp("TranslateY", affine_translate(1), _up_to(most_y, bins), signed=True),
    )


def _binned_rotation(most: float, bins: int) -> PolicyOp:
    return PolicyOp("Rotate", rotate_degrees, _up_to(_constant(most), bins), signed=True)


def _binned_enhancements(most: float, bins: int) -> Ops:
    change = _up_to(_constant(most), bins)
    return tuple(
        PolicyOp(name, enhance(effect), change, signed=True)
        for name, effect in _TORCHVISION_ENHANCEMENTS.items()
    )


def _binned_posterization(most_bits: int, bits_lost: int, bins: int) -> PolicyOp:
    """From `most_bits` down by `bits_lost`, in float32 and rounded as torch does it."""
    per_bit = np.float32((bins - 1) / bits_lost)

    def bits(level: Floats, _: Sizes) -> Floats:
        kept: Singles = np.float32(most_bits) - level.astype(np.float32) / per_bit
        return np.rint(kept).astype(np.float64)

    return PolicyOp("Posterize", posterize, bits)


def _binned_tables(bins: int, generation: Generation) -> Ops:
    most = 255.0 if generation == 1 else 1.0

    def threshold(level: Floats, _: Sizes) -> Floats:
        return linspace_at(level.astype(np.int64), most, 0.0, bins)

    solarize = direct(Effect.SOLARIZE) if generation == 1 else solarize_share
    return (
        PolicyOp("Solarize", solarize, threshold),
        PolicyOp("AutoContrast", plain(Effect.AUTOCONTRAST)),
        PolicyOp("Equalize", plain(Effect.EQUALIZE)),
    )


def _up_to(most: Callable[[Sizes], Floats], bins: int) -> LevelToArgument:
    return lambda level, sizes: linspace_at(level.astype(np.int64), 0.0, most(sizes), bins)


def _constant(most: float) -> Callable[[Sizes], Floats]:
    return lambda sizes: np.full(len(sizes), most)
