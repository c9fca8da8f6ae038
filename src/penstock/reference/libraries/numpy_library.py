"""NumPy alone, but for decoding: every step spelled out on whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.geometry import Size
from penstock.reference.effects import ON_ARRAYS, Numbers, unpack_colour
from penstock.reference.libraries.array_library import ArrayLibrary, Pixels
from penstock.reference.libraries.numpy_colour import COLOUR_EFFECTS
from penstock.reference.libraries.numpy_resize import resize
from penstock.reference.libraries.numpy_warp import warp_affine, warp_perspective
from penstock.reference.pillow_decode import decode_rgb
from penstock.sources import Source
from penstock.transforms.effects import Effect
from penstock.transforms.moves import PadMode


class NumpyLibrary(ArrayLibrary):
    """Blur, noise, elastic bending and erasing are the reference's, which is NumPy as well."""

    def open(self, source: Source, sample: int, pixel_limit: int) -> Pixels:
        """Decode by Pillow: NumPy cannot."""
        return decode_rgb(source, sample, pixel_limit)

    def pad(
        self,
        image: Pixels,
        borders: tuple[int, int, int, int],
        mode: PadMode,
        fill: tuple[int, int, int],
    ) -> Pixels:
        """Add borders: left, top, right, bottom."""
        left, top, right, bottom = borders
        if mode != PadMode.CONSTANT:
            numpy_mode: Any = mode.name.lower()
            return np.pad(image, ((top, bottom), (left, right), (0, 0)), numpy_mode)
        height, width = image.shape[:2]
        padded = np.empty((top + height + bottom, left + width + right, 3), dtype=np.uint8)
        padded[:] = fill
        padded[top : top + height, left : left + width] = image
        return padded

    def resize(self, image: Pixels, size: Size, filter: int) -> Pixels:
        """Resize with Pillow's filters in float32."""
        return resize(image, size, filter)

    def apply_effect(self, image: Pixels, effect: Effect, numbers: Numbers, size: Size) -> Pixels:
        """One effect, not one that mixes; the image has `size` afterwards."""
        if effect == Effect.AFFINE:
            return warp_affine(image, numbers[:6], size, int(numbers[6]), unpack_colour(numbers[7]))
        if effect == Effect.PERSPECTIVE:
            colour = unpack_colour(numbers[9])
            return warp_perspective(image, numbers[:8], size, int(numbers[8]), colour)
        if effect in ON_ARRAYS:
            return ON_ARRAYS[effect](image, numbers)
        return COLOUR_EFFECTS[effect](image, numbers)
