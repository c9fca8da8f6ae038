"""Pillow's own blurs, as numbers of the core's effect.

`ImageFilter.GaussianBlur` is a box blur of three passes, whose radius Pillow computes in single
precision. How a compiler rounds that shows in a pixel now and then, so some blurs are tried in both
ways before the core's are trusted.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from penstock._core import Effect
from penstock.transforms.functional.native.memory import run_effect

Numbers = tuple[float, float, float]  # radius across, radius down, passes

_PASSES: dict[type, int] = {ImageFilter.BoxBlur: 1, ImageFilter.GaussianBlur: 3}
_NUMBERS = (int, float)  # Pillow has doubts about a single number of NumPy's
_LARGEST = 64  # sigmas and radii below it are the core's
_PROBED = (0.1, 0.6, 1.1, 1.45, 1.9, 3.3, 7.7, 29.0)
_PROBED_SIDE = 64


def blur_numbers(filter: Any) -> Numbers | None:
    """What a filter of Pillow's is to the core; None for all that Pillow must do."""
    passes = _PASSES.get(type(filter))
    if passes is None:
        return None
    radius = filter.radius
    pair = (radius, radius) if type(radius) in _NUMBERS else radius
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(map(_is_known, pair))):
        return None
    if not _are_pillows():
        return None
    across, down = pair
    if passes > 1:
        across, down = box_radius(across), box_radius(down)
    return float(across), float(down), float(passes)


def _is_known(radius: Any) -> bool:
    return isinstance(radius, _NUMBERS) and 0 <= radius < _LARGEST


def box_radius(sigma: float) -> float:
    """The radius of a box that makes, in three passes, about a Gaussian of this sigma.

    After Gwosdek et al., "Theoretical foundations of Gaussian convolution by extended box
    filtering" (2011), formulas 7, 11 and 14, in the precision of each of Pillow's operations.
    """
    one = np.float32
    variance = one(sigma) * one(sigma) / one(_PASSES[ImageFilter.GaussianBlur])
    length = one(math.sqrt(12.0 * float(variance) + 1.0))
    whole = one(math.floor((float(length) - 1.0) / 2.0))
    above = whole + one(1)
    rest = (one(2) * whole + one(1)) * (whole * above - one(3) * variance)
    return float(whole + rest / (one(6) * (variance - above * above)))


@cache
def _are_pillows() -> bool:
    """Whether the installed Pillow blurs noise as the core does."""
    shape = _PROBED_SIDE, _PROBED_SIDE, 3
    noise = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    image = Image.frombytes("RGB", shape[:2], noise.tobytes())  # never a deferred one
    for sigma in _PROBED:
        across, down = box_radius(sigma), box_radius(sigma / 2)
        blurred = image.filter(ImageFilter.GaussianBlur((sigma, sigma / 2)))
        ours = run_effect(noise, Effect.BOX_BLUR, across, down, 3)
        if not np.array_equal(ours, np.asarray(blurred)):
            return False
    return True
