"""OpenCV: each step by the call that comes nearest to Pillow's."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import cv2
import numpy as np
import PIL.Image

from penstock._core import Effect, PadMode
from penstock.errors import DecodeError, TransformError
from penstock.geometry import Floats, Size
from penstock.reference.effects import Parameters, elastic_field, unpack_colour
from penstock.reference.libraries.library import (
    LEVEL_TABLES,
    ArrayLibrary,
    Pixels,
    blend_table,
    equalize_table,
    stretch_table,
)
from penstock.reference.libraries.pillow import check_pixels
from penstock.resources import raise_if_refused
from penstock.sources import Source
from penstock.transforms.arguments import Borders, Colour
from penstock.transforms.moves import Move

_BORDERS = {
    PadMode.CONSTANT: cv2.BORDER_CONSTANT,
    PadMode.EDGE: cv2.BORDER_REPLICATE,
    PadMode.REFLECT: cv2.BORDER_REFLECT_101,
    PadMode.SYMMETRIC: cv2.BORDER_REFLECT,
}

# By Pillow's number. Lanczos has four lobes here and three there.
_NEAREST = 0
_ENLARGE = {
    1: cv2.INTER_LANCZOS4,
    2: cv2.INTER_LINEAR,
    3: cv2.INTER_CUBIC,
    4: cv2.INTER_NEAREST_EXACT,
    5: cv2.INTER_AREA,
}
_WARP = {0: cv2.INTER_NEAREST, 2: cv2.INTER_LINEAR, 3: cv2.INTER_CUBIC}

# From the middle of a pixel, where Pillow counts from its corner.
_TO_CORNER = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
_TO_MIDDLE = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]])

_SMOOTH = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], dtype=np.float32) / 13


class OpenCvLibrary(ArrayLibrary):
    """RGB throughout. Noise, erasing and swapped channels are NumPy's: OpenCV has no call for them.

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

    def pad(self, image: Pixels, borders: Borders, mode: PadMode, fill: Colour) -> Pixels:
        """Add borders: left, top, right, bottom."""
        left, top, right, bottom = borders
        return cv2.copyMakeBorder(image, top, bottom, left, right, _BORDERS[mode], value=fill)

    def resize(self, image: Pixels, size: Size, filter: int) -> Pixels:
        """Reduce by area, OpenCV's only way that takes all pixels into account; then enlarge."""
        contiguous = np.ascontiguousarray(image)
        if filter == _NEAREST:
            return _resize(contiguous, size, cv2.INTER_NEAREST_EXACT)
        height, width = image.shape[:2]
        reduced = Size(min(height, size.height), min(width, size.width))
        return _resize(_resize(contiguous, reduced, cv2.INTER_AREA), size, _ENLARGE[filter])

    def apply_effect(
        self, image: Pixels, effect: Effect, parameters: Parameters, size: Size
    ) -> Pixels:
        """One effect, not one that mixes; the image has `size` afterwards."""
        contiguous = np.ascontiguousarray(image)  # OpenCV refuses some views
        if effect in (Effect.AFFINE, Effect.PERSPECTIVE):
            return _warp(contiguous, size, **parameters)
        if effect in LEVEL_TABLES:
            return cv2.LUT(contiguous, LEVEL_TABLES[effect](**parameters))
        if effect in _OWN_EFFECTS:
            return _OWN_EFFECTS[effect](contiguous, **parameters)
        return super().apply_effect(contiguous, effect, parameters, size)


def _resize(image: Pixels, size: Size, interpolation: int) -> Pixels:
    if image.shape[:2] == (size.height, size.width):
        return image
    return cv2.resize(image, (size.width, size.height), interpolation=interpolation)


def _warp(
    image: Pixels, size: Size, matrix: list[float], filter: float, fill: float, **planned: object
) -> Pixels:
    """AFFINE or PERSPECTIVE; edges fade into the colour of the outside, where Pillow cuts."""
    del planned  # what only plans have
    is_affine = len(matrix) == 6
    square = np.array([*matrix, *([0.0, 0.0] if is_affine else []), 1.0]).reshape(3, 3)
    centred = _TO_MIDDLE @ square @ _TO_CORNER
    flags = _WARP[int(filter)] | cv2.WARP_INVERSE_MAP
    target, colour = (size.width, size.height), unpack_colour(fill)
    if is_affine:
        return cv2.warpAffine(image, centred[:2], target, flags=flags, borderValue=colour)
    return cv2.warpPerspective(image, centred, target, flags=flags, borderValue=colour)


def _bend(image: Pixels, filter: float, fill: float, **rest: Any) -> Pixels:
    """ELASTIC: the reference's displacements, OpenCV's sampling."""
    height, width = image.shape[:2]
    across, down = elastic_field((height, width), **rest)
    x: Floats = np.arange(width) + across
    y: Floats = np.arange(height)[:, None] + down
    return cv2.remap(
        image,
        x.astype(np.float32),
        y.astype(np.float32),
        _WARP[int(filter)],
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=unpack_colour(fill),
    )


def _gray(image: Pixels) -> Pixels:
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)


def _blend(start: Pixels, end: Pixels, factor: float) -> Pixels:
    """From `start` at factor 0 to `end` at 1; rounded, where Pillow cuts off."""
    return cv2.addWeighted(end, factor, start, 1 - factor, 0)


def _contrast(image: Pixels, factor: float, has_mean: float, mean: float) -> Pixels:
    if not has_mean:
        mean = cv2.mean(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))[0]
    return cv2.LUT(image, blend_table(round(mean), factor))


def _hue(image: Pixels, factor: float) -> Pixels:
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV_FULL)
    hsv[:, :, 0] += np.uint8(int(factor * 255) & 255)  # around the circle
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)


def _sharpness(image: Pixels, factor: float) -> Pixels:
    """The outermost pixels stay as they are."""
    smooth = image.copy()
    if min(image.shape[:2]) > 2:
        smooth[1:-1, 1:-1] = cv2.filter2D(image, -1, _SMOOTH)[1:-1, 1:-1]
    return _blend(smooth, image, factor)


def _autocontrast(image: Pixels) -> Pixels:
    stretched = [
        cv2.LUT(channel, stretch_table(*map(int, cv2.minMaxLoc(channel)[:2])))
        for channel in cv2.split(image)
    ]
    return cv2.merge(stretched)


def _equalize(image: Pixels) -> Pixels:
    """By a table like Pillow's: cv2.equalizeHist spreads levels in another way."""
    channels = cv2.split(image)
    counts = [
        cv2.calcHist([c], [0], None, [256], [0, 256]).ravel().astype(np.int64) for c in channels
    ]
    tables = [equalize_table(each) for each in counts]
    return cv2.merge([cv2.LUT(*pair) for pair in zip(channels, tables, strict=True)])


def _blur(
    image: Pixels,
    kernel_width: float,
    kernel_height: float,
    sigma_across: float,
    sigma_down: float,
    weights: list[float],
) -> Pixels:
    del weights  # OpenCV has its own
    kernel = (int(kernel_width), int(kernel_height))
    return cv2.GaussianBlur(
        image, kernel, sigmaX=sigma_across, sigmaY=sigma_down, borderType=cv2.BORDER_REFLECT_101
    )


_OWN_EFFECTS: dict[Effect, Callable[..., Pixels]] = {
    Effect.CONTRAST: _contrast,
    Effect.SATURATION: lambda image, factor: _blend(_gray(image), image, factor),
    Effect.HUE: _hue,
    Effect.SHARPNESS: _sharpness,
    Effect.INVERT: cv2.bitwise_not,
    Effect.AUTOCONTRAST: _autocontrast,
    Effect.EQUALIZE: _equalize,
    Effect.GRAYSCALE: _gray,
    Effect.GAUSSIAN_BLUR: _blur,
    Effect.ELASTIC: _bend,
}
