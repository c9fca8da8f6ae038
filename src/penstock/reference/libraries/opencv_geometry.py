"""Where pixels lie, by OpenCV: borders, sizes and warps."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from penstock.geometry import Floats, Size
from penstock.reference.effects import unpack_colour
from penstock.reference.filters import elastic_displacements
from penstock.transforms.effects import Effect
from penstock.transforms.moves import PadMode

Pixels = npt.NDArray[np.uint8]

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


def pad(
    image: Pixels,
    borders: tuple[int, int, int, int],
    mode: PadMode,
    fill: tuple[int, int, int],
) -> Pixels:
    """Add borders: left, top, right, bottom."""
    left, top, right, bottom = borders
    return cv2.copyMakeBorder(image, top, bottom, left, right, _BORDERS[mode], value=fill)


def resize(image: Pixels, size: Size, filter: int) -> Pixels:
    """Reduce by area, the only way OpenCV has that takes all pixels into account; then enlarge."""
    contiguous = np.ascontiguousarray(image)
    if filter == _NEAREST:
        return _resize(contiguous, size, cv2.INTER_NEAREST_EXACT)
    height, width = image.shape[:2]
    reduced = Size(min(height, size.height), min(width, size.width))
    return _resize(_resize(contiguous, reduced, cv2.INTER_AREA), size, _ENLARGE[filter])


def _resize(image: Pixels, size: Size, interpolation: int) -> Pixels:
    if image.shape[:2] == (size.height, size.width):
        return image
    return cv2.resize(image, (size.width, size.height), interpolation=interpolation)


def warp(image: Pixels, effect: Effect, numbers: list[float], size: Size) -> Pixels:
    """AFFINE or PERSPECTIVE; edges fade into the colour of the outside, where Pillow cuts."""
    count = 6 if effect == Effect.AFFINE else 8
    matrix = np.array([*numbers[:count], *[0.0, 0.0, 1.0][count - 6 :]]).reshape(3, 3)
    matrix = _TO_MIDDLE @ matrix @ _TO_CORNER
    filter, colour = int(numbers[count]), unpack_colour(numbers[count + 1])
    flags = _WARP[filter] | cv2.WARP_INVERSE_MAP
    target = (size.width, size.height)
    if effect == Effect.AFFINE:
        return cv2.warpAffine(image, matrix[:2], target, flags=flags, borderValue=colour)
    return cv2.warpPerspective(image, matrix, target, flags=flags, borderValue=colour)


def bend(image: Pixels, numbers: list[float]) -> Pixels:
    """ELASTIC: the reference's displacements, OpenCV's sampling."""
    height, width = image.shape[:2]
    alpha, sigma = (numbers[0], numbers[1]), (numbers[2], numbers[3])
    across, down = elastic_displacements((height, width), alpha, sigma, (numbers[6], numbers[7]))
    x: Floats = np.arange(width) + across
    y: Floats = np.arange(height)[:, None] + down
    return cv2.remap(
        image,
        x.astype(np.float32),
        y.astype(np.float32),
        _WARP[int(numbers[4])],
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=unpack_colour(numbers[5]),
    )
