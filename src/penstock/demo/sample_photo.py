"""Make images with the statistics of photos, quickly and the same every time.

Photos have a 1/f amplitude spectrum: about as much contrast in every octave.
So noise is summed over octaves, once and large; a photo is a few windows of that field,
one of them weighting the fine octaves (grass here, sky there),
with shapes that have edges, and colour that varies more slowly than light.

Only the raw stream of NumPy's Philox, exact arithmetic and Pillow are used:
the pixels do not depend on the version of NumPy or the number of threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from penstock.geometry import Size

Field = npt.NDArray[np.float32]

FIELD_SIDE_PX = 2048
FINE_CELL_PX = 8  # octaves with cells up to this size make up the fine field
FINEST_AMPLITUDE = 0.35  # lenses and demosaicing leave little contrast at single pixels
BYTE_DEVIATION = 73.9  # of uniformly distributed bytes
# Of the summed octaves. Constants: how NumPy sums a large array differs between versions.
COARSE_DEVIATION, FINE_DEVIATION = 2.0, 1.42


class Dice:
    """Random numbers keyed by integers, from a bit stream that NumPy promises never to change."""

    def __init__(self, seed: int, stream: int) -> None:
        self._bits = np.random.Philox(key=[seed % 2**64, stream])

    def uniform(self, low: float, high: float) -> float:
        """Return a number from `low` up to, not including, `high`."""
        return low + (high - low) * (int(self._bits.random_raw()) >> 11) * 2.0**-53

    def below(self, limit: int) -> int:
        """Return an integer from 0 up to, not including, `limit`."""
        return int(self.uniform(0, limit))

    def white_noise(self, side: int) -> Field:
        """Return a square of independent values with mean 0 and deviation 1."""
        words = np.asarray(self._bits.random_raw(-(-side * side // 8)))
        noise = words.astype("<u8").view(np.uint8)[: side * side].astype(np.float32)
        scaled: Field = (noise - np.float32(127.5)) / np.float32(BYTE_DEVIATION)
        return scaled.reshape(side, side)


@dataclass(frozen=True, slots=True)
class Fields:
    """Two large pieces of 1/f noise, to be cut into photos."""

    coarse: Field
    fine: Field

    @classmethod
    def make(cls, seed: int) -> Fields:
        """Sum the octaves from the largest cells to single pixels."""
        dice = Dice(seed, stream=0)
        coarse = dice.white_noise(4)
        fine = np.zeros_like(coarse)
        while len(coarse) < FIELD_SIDE_PX:
            side = 2 * len(coarse)
            cell_px = FIELD_SIDE_PX // side
            coarse, fine = _enlarged(coarse, side), _enlarged(fine, side)
            if cell_px > FINE_CELL_PX:
                coarse += dice.white_noise(side)
            else:
                amplitude = FINEST_AMPLITUDE if cell_px == 1 else 1.0
                fine += np.float32(amplitude) * dice.white_noise(side)
        return cls(coarse / np.float32(COARSE_DEVIATION), fine / np.float32(FINE_DEVIATION))

    def window(self, field: Field, size: Size, dice: Dice) -> Field:
        """Return a window of `field` at a random place, perhaps mirrored."""
        top = dice.below(FIELD_SIDE_PX - size.height + 1)
        left = dice.below(FIELD_SIDE_PX - size.width + 1)
        cut = field[top : top + size.height, left : left + size.width]
        return cut[:, ::-1] if dice.below(2) else cut


def make_photo(fields: Fields, size: Size, dice: Dice, *, hue: float, detail: float) -> Image.Image:
    """Return an RGB image of `size`.

    `hue` (in turns) tints the whole; `detail` is the strength of the fine octaves, about 0 to 1.
    """
    height, width = size.height, size.width
    gain = np.clip(1 + fields.window(fields.coarse, size, dice), 0.1, 3) * np.float32(28 * detail)
    light = fields.window(fields.coarse, size, dice) * np.float32(dice.uniform(25, 45))
    light += np.float32(dice.uniform(90, 140))
    light += np.linspace(0, dice.uniform(-40, 40), height, dtype=np.float32)[:, None]
    light += np.linspace(0, dice.uniform(-40, 40), width, dtype=np.float32)
    blue = fields.window(fields.coarse, size, dice) * np.float32(dice.uniform(4, 12))
    red = fields.window(fields.coarse, size, dice) * np.float32(dice.uniform(4, 10))
    blue += np.float32(128 + 14 * math.cos(math.tau * hue))
    red += np.float32(128 + 14 * math.sin(math.tau * hue))

    for _ in range(2 + dice.below(4)):
        inside = _shape(size, dice)
        light[inside] += np.float32(dice.uniform(-60, 60))
        gain[inside] *= np.float32(dice.uniform(0.3, 1.6))
        blue[inside] += np.float32(dice.uniform(-18, 18))
        red[inside] += np.float32(dice.uniform(-18, 18))

    texture = fields.window(fields.fine, size, dice) * gain
    light += texture
    blue -= texture * np.float32(0.12)
    planes = [Image.fromarray(_levels(plane)) for plane in (light, blue, red)]
    return Image.merge("YCbCr", planes).convert("RGB")


def _enlarged(field: Field, side: int) -> Field:
    grown = Image.fromarray(field).resize((side, side), Image.Resampling.BICUBIC)
    return np.array(grown, np.float32)


def _shape(size: Size, dice: Dice) -> npt.NDArray[np.bool_]:
    """Return the inside of an ellipse, or of a polygon with three to six corners."""
    mask = Image.new("L", (size.width, size.height))
    draw = ImageDraw.Draw(mask)
    if dice.below(2):
        left, top = dice.uniform(-0.2, 0.8) * size.width, dice.uniform(-0.2, 0.8) * size.height
        across, down = dice.uniform(0.1, 0.7) * size.width, dice.uniform(0.1, 0.7) * size.height
        draw.ellipse((left, top, left + across, top + down), fill=255)
    else:
        corners = [
            (dice.uniform(-0.1, 1.1) * size.width, dice.uniform(-0.1, 1.1) * size.height)
            for _ in range(3 + dice.below(4))
        ]
        draw.polygon(corners, fill=255)
    return np.asarray(mask) > 0


def _levels(plane: Field) -> npt.NDArray[np.uint8]:
    return np.clip(plane, 0, 255).astype(np.uint8)
