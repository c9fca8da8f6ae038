"""OpenCV: each step by the call that comes nearest to Pillow's."""

from __future__ import annotations

import io
from collections.abc import Iterable

import cv2
import numpy as np
import PIL.Image

from penstock.errors import DecodeError, TransformError
from penstock.geometry import Size
from penstock.reference.effects import ON_ARRAYS, Numbers
from penstock.reference.libraries.array_library import ArrayLibrary, Pixels
from penstock.reference.libraries.opencv_colour import COLOUR_EFFECTS
from penstock.reference.libraries.opencv_geometry import bend, pad, resize, warp
from penstock.reference.pillow_decode import check_pixels
from penstock.resources import raise_if_refused
from penstock.sources import Source
from penstock.transforms.effects import Effect
from penstock.transforms.moves import Move, PadMode

_WARPS = (Effect.AFFINE, Effect.PERSPECTIVE)


class OpenCvLibrary(ArrayLibrary):
    """RGB throughout. Noise, erasing and the order of channels are NumPy's, for lack of a call.

    OpenCV has threads of its own; `cv2.setNumThreads(0)` leaves them to the loader.
    """

    def open(self, source: Source, sample: int, pixel_limit: int) -> Pixels:
        """Decode by OpenCV; Pillow reads the header, before memory is asked for."""
        try:
            with source.open(sample) as file:
                content = file.read()
            with PIL.Image.open(io.BytesIO(content)) as header:
                check_pixels(header.height, header.width, pixel_limit)
            flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
            decoded = cv2.imdecode(np.frombuffer(content, dtype=np.uint8), flags)
        except DecodeError:
            raise
        # Readers of headers raise nearly anything on hostile files, and so does OpenCV.
        except Exception as error:
            raise_if_refused(error, source.name(sample))
            raise DecodeError(f"OpenCV cannot decode it ({type(error).__name__})") from error
        if decoded is None:
            raise DecodeError("OpenCV cannot decode it")
        return cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB)

    def run_moves(self, image: Pixels, moves: Iterable[Move], row: int) -> Pixels:
        """Do what the moves say for the sample in `row`."""
        try:
            return super().run_moves(image, moves, row)
        except cv2.error as error:
            raise TransformError(
                f"backend='opencv': OpenCV refuses an image of {self.size_of(image)} "
                f"({' '.join(str(error).split())}). Use another backend for such images."
            ) from error

    def pad(
        self,
        image: Pixels,
        borders: tuple[int, int, int, int],
        mode: PadMode,
        fill: tuple[int, int, int],
    ) -> Pixels:
        """Add borders: left, top, right, bottom."""
        return pad(image, borders, mode, fill)

    def resize(self, image: Pixels, size: Size, filter: int) -> Pixels:
        """Resize by what is nearest to Pillow's filter."""
        return resize(image, size, filter)

    def apply_effect(self, image: Pixels, effect: Effect, numbers: Numbers, size: Size) -> Pixels:
        """One effect, not one that mixes; the image has `size` afterwards."""
        contiguous = np.ascontiguousarray(image)  # OpenCV refuses some views
        if effect in _WARPS:
            return warp(contiguous, effect, numbers, size)
        if effect == Effect.ELASTIC:
            return bend(contiguous, numbers)
        if effect in COLOUR_EFFECTS:
            return COLOUR_EFFECTS[effect](contiguous, numbers)
        return ON_ARRAYS[effect](contiguous, numbers)
