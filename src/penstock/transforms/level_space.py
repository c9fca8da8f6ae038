"""The ops of policies whose levels run from 0 to 10: timm's, the TPU models' and PBA's.

All three descend from AutoAugment's first code, write arguments straight into Pillow's matrices,
and differ in ranges and in whether a higher level always means a stronger change.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from penstock.geometry import Floats, Sizes
from penstock.transforms.effects import Effect
from penstock.transforms.policy_ops import (
    LevelToArgument,
    PolicyOp,
    cutout,
    direct,
    enhance,
    matrix_shear,
    matrix_translate,
    plain,
    posterize,
    rotate_degrees,
)

Ops = tuple[PolicyOp, ...]

MOST_LEVEL = 10

_SOLARIZE_ADD_BELOW = 128
_PBA_CUTOUT = (125, 122, 113)  # the mean colour of CIFAR-10
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
        PolicyOp("Cutout", cutout(), _whole(40)),
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
        PolicyOp("Cutout", cutout(_PBA_CUTOUT), lambda level, sizes: _whole(20)(level, sizes) // 2),
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
