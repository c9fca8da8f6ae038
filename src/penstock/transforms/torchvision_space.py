"""The ops of torchvision's policies: a level is the number of a bin.

torchvision keeps the magnitudes of all bins in float32 tensors made by torch.linspace; they are
computed here as torch does on a CPU with fused multiplication and addition, bit for bit.

Its older transforms (generation 1) count Solarize's threshold from 255 to 0, the newer ones (2)
from 1 to 0 and then times 255, which matters to pixels that equal the threshold at some levels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from penstock.errors import TransformError
from penstock.geometry import Floats, Ints, Sizes
from penstock.transforms.effects import Effect
from penstock.transforms.policy_ops import (
    LevelToArgument,
    PolicyOp,
    affine_shear,
    affine_translate,
    direct,
    enhance,
    plain,
    posterize,
    rotate_degrees,
    solarize_share,
)

Ops = tuple[PolicyOp, ...]
Generation = Literal[1, 2]
TorchvisionFlavor = Literal["torchvision", "torchvision_v1"]
Singles = npt.NDArray[np.float32]

_ENHANCEMENTS = {
    "Brightness": Effect.BRIGHTNESS,
    "Color": Effect.SATURATION,
    "Contrast": Effect.CONTRAST,
    "Sharpness": Effect.SHARPNESS,
}


def read_generation(where: str, flavor: object) -> Generation:
    """Return the generation that a flavor names."""
    if flavor not in ("torchvision", "torchvision_v1"):
        raise TransformError(
            f'{where}: flavor must be "torchvision" or "torchvision_v1", got {flavor!r}.'
        )
    return 1 if flavor == "torchvision_v1" else 2


@lru_cache
def rand_augment_ops(bins: int, generation: Generation = 2) -> Ops:
    """RandAugment's fourteen, in torchvision's order."""
    return (PolicyOp("Identity", plain(Effect.NONE)), *_original_ops(bins, generation)[:-1])


@lru_cache
def auto_augment_ops(generation: Generation = 2) -> Ops:
    """AutoAugment's fourteen; its policies speak of ten bins."""
    return _original_ops(10, generation)


@lru_cache
def trivial_augment_ops(bins: int, generation: Generation = 2) -> Ops:
    """TrivialAugment's fourteen, with its wide ranges."""
    return (
        PolicyOp("Identity", plain(Effect.NONE)),
        *_shears(0.99, bins),
        *_translations(_constant(32.0), _constant(32.0), bins),
        _rotation(135.0, bins),
        *_enhancements(0.99, bins),
        _posterization(8, 6, bins),
        *_tables(bins, generation),
    )


@lru_cache
def augmix_ops(*, with_enhancements: bool) -> Ops:
    """AugMix's nine ops of ten bins, or thirteen."""
    partial = (
        *_shears(0.3, 10),
        *_translations(lambda sizes: sizes.width / 3.0, lambda sizes: sizes.height / 3.0, 10),
        _rotation(30.0, 10),
        _posterization(4, 4, 10),
        *_tables(10, 2),
    )
    return (*partial, *_enhancements(0.9, 10)) if with_enhancements else partial


def linspace_at(level: Ints, start: float, end: Floats | float, bins: int) -> Floats:
    """Value number `level` of torch.linspace(start, end, bins), a float32."""
    first, last = np.float32(start), np.asarray(end, dtype=np.float32)
    step = ((last - first) / np.float32(bins - 1)).astype(np.float64)
    upwards = np.float64(first) + step * level
    downwards = last.astype(np.float64) - step * (bins - 1 - level)
    values: Floats = np.where(level < bins // 2, upwards, downwards)
    return values.astype(np.float32).astype(np.float64)


def _original_ops(bins: int, generation: Generation) -> Ops:
    return (
        *_shears(0.3, bins),
        *_translations(
            lambda sizes: 150.0 / 331.0 * sizes.width.astype(np.float64),
            lambda sizes: 150.0 / 331.0 * sizes.height.astype(np.float64),
            bins,
        ),
        _rotation(30.0, bins),
        *_enhancements(0.9, bins),
        _posterization(8, 4, bins),
        *_tables(bins, generation),
        PolicyOp("Invert", plain(Effect.INVERT)),
    )


def _shears(most: float, bins: int) -> Ops:
    share = _up_to(_constant(most), bins)
    return (
        PolicyOp("ShearX", affine_shear(0), share, signed=True),
        PolicyOp("ShearY", affine_shear(1), share, signed=True),
    )


def _translations(
    most_x: Callable[[Sizes], Floats], most_y: Callable[[Sizes], Floats], bins: int
) -> Ops:
    return (
        PolicyOp("TranslateX", affine_translate(0), _up_to(most_x, bins), signed=True),
        PolicyOp("TranslateY", affine_translate(1), _up_to(most_y, bins), signed=True),
    )


def _rotation(most: float, bins: int) -> PolicyOp:
    return PolicyOp("Rotate", rotate_degrees, _up_to(_constant(most), bins), signed=True)


def _enhancements(most: float, bins: int) -> Ops:
    change = _up_to(_constant(most), bins)
    return tuple(
        PolicyOp(name, enhance(effect), change, signed=True)
        for name, effect in _ENHANCEMENTS.items()
    )


def _posterization(most_bits: int, bits_lost: int, bins: int) -> PolicyOp:
    """From `most_bits` down by `bits_lost`, in float32 and rounded as torch does it."""
    per_bit = np.float32((bins - 1) / bits_lost)

    def bits(level: Floats, _: Sizes) -> Floats:
        kept: Singles = np.float32(most_bits) - level.astype(np.float32) / per_bit
        return np.rint(kept).astype(np.float64)

    return PolicyOp("Posterize", posterize, bits)


def _tables(bins: int, generation: Generation) -> Ops:
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
