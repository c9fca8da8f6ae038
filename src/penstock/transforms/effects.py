"""What was drawn for pixels in place: the effects of a batch, one a sample, as arrays.

Unlike the moves beside it, a record of effects may ask something else of every sample: that is
what policies such as RandAugment need. Each effect reads some of the sample's `numbers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.rng import Words

# How many numbers every effect of a sample has room for; what an effect does not use is 0.
NUMBERS = 32


class Effect(IntEnum):
    """What is done to an image; the core uses the same numbers. Beside each: what it reads.

    Colours are red | green << 8 | blue << 16. A key is two 32-bit words. Filters are Pillow's
    numbers: 0 nearest, 2 bilinear, 3 bicubic.
    """

    NONE = 0
    BRIGHTNESS = 1  # factor
    CONTRAST = 2  # factor
    SATURATION = 3  # factor
    HUE = 4  # share of the colour circle to turn by, -0.5 .. 0.5
    SHARPNESS = 5  # factor
    POSTERIZE = 6  # bits to keep
    SOLARIZE = 7  # threshold
    SOLARIZE_ADD = 8  # what is added below the threshold, threshold
    INVERT = 9
    AUTOCONTRAST = 10
    EQUALIZE = 11
    GRAYSCALE = 12
    PERMUTE_CHANNELS = 13  # which channel becomes red, green, blue
    AFFINE = 14  # a b c d e f as Pillow's Image.transform takes them, filter, colour of the outside
    PERSPECTIVE = 15  # a .. h as Pillow's Image.transform takes them, filter, colour of the outside
    GAUSSIAN_BLUR = 16  # kernel width and height, sigma across and down, weights if not by sigma
    GAUSSIAN_NOISE = 17  # mean, sigma (of values 0 .. 1), whether to clip, key
    ERASE = 18  # top, left, height, width, red, green, blue, whether by noise instead, key
    ELASTIC = 19  # alpha across, alpha down, sigma across, sigma down, filter, colour, key
    MIX_BEGIN = 20  # weight: remember the image, and start a sum with weight * image
    MIX_ADD = 21  # weight: add weight * image to the sum, and go back to the remembered image
    MIX_END = 22  # the image is the sum


@dataclass(frozen=True, slots=True)
class EffectMove:
    """One effect for each sample."""

    effect: Ints  # of Effect; NONE where nothing happens
    numbers: Floats  # (samples, NUMBERS)
    height: Ints  # after the effect; only AFFINE and PERSPECTIVE may change sizes
    width: Ints

    def out_sizes(self, sizes: Sizes) -> Sizes:
        """The sizes after the move."""
        del sizes
        return Sizes(self.height, self.width)


def same_effect(effect: Effect, sizes: Sizes, *numbers: Floats | Ints | float) -> EffectMove:
    """One effect for all samples; each of `numbers` is one for all of them, or one for each."""
    table = np.zeros((len(sizes), NUMBERS))
    for column, values in enumerate(numbers):
        table[:, column] = values
    return EffectMove(np.full(len(sizes), effect), table, sizes.height, sizes.width)


def only_where(chosen: Bools, move: EffectMove) -> EffectMove:
    """The effects of the chosen samples, nothing for the others. Requires that sizes stay."""
    kinds = np.where(chosen, move.effect, Effect.NONE)
    return EffectMove(kinds, move.numbers * chosen[:, None], move.height, move.width)


def effect_where(
    chosen: Bools, effect: Effect, sizes: Sizes, *numbers: Floats | Ints | float
) -> EffectMove:
    """One effect for the chosen samples, nothing for the others."""
    return only_where(chosen, same_effect(effect, sizes, *numbers))


def pack_colour(red: int, green: int, blue: int) -> int:
    """A colour as effects carry it."""
    return red | green << 8 | blue << 16


def split_key(words: Words) -> tuple[Floats, Floats]:
    """A key of two 32-bit words from each 64 random bits: (low, high)."""
    return (words & np.uint64(0xFFFFFFFF)).astype(np.float64), (words >> np.uint64(32)).astype(
        np.float64
    )
