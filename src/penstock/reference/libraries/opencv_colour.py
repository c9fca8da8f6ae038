"""What colours pixels have, by OpenCV: tables, weighted sums, filters, the colour circle."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from penstock.reference.libraries.level_tables import (
    blend_table,
    equalize_table,
    posterize_table,
    solarize_add_table,
    solarize_table,
    stretch_table,
)
from penstock.transforms.effects import Effect

Numbers = list[float]
Pixels = npt.NDArray[np.uint8]

_SMOOTH = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], dtype=np.float32) / 13


def _gray(image: Pixels) -> Pixels:
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)


def _blend(start: Pixels, end: Pixels, factor: float) -> Pixels:
    """`start` at factor 0, `end` at 1; rounded, where Pillow cuts off."""
    return cv2.addWeighted(end, factor, start, 1 - factor, 0)


def _contrast(image: Pixels, numbers: Numbers) -> Pixels:
    mean = round(cv2.mean(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))[0])
    return cv2.LUT(image, blend_table(mean, numbers[0]))


def _hue(image: Pixels, numbers: Numbers) -> Pixels:
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV_FULL)
    hsv[:, :, 0] += np.uint8(int(numbers[0] * 255) & 255)  # around the circle
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)


def _sharpness(image: Pixels, numbers: Numbers) -> Pixels:
    """The outermost pixels stay as they are."""
    smooth = image.copy()
    if min(image.shape[:2]) > 2:
        smooth[1:-1, 1:-1] = cv2.filter2D(image, -1, _SMOOTH)[1:-1, 1:-1]
    return _blend(smooth, image, numbers[0])


def _autocontrast(image: Pixels, numbers: Numbers) -> Pixels:
    del numbers
    stretched = [
        cv2.LUT(channel, stretch_table(*map(int, cv2.minMaxLoc(channel)[:2])))
        for channel in cv2.split(image)
    ]
    return cv2.merge(stretched)


def _equalize(image: Pixels, numbers: Numbers) -> Pixels:
    """By a table like Pillow's: cv2.equalizeHist spreads levels in another way."""
    del numbers
    channels = cv2.split(image)
    counts = [
        cv2.calcHist([c], [0], None, [256], [0, 256]).ravel().astype(np.int64) for c in channels
    ]
    tables = [equalize_table(each) for each in counts]
    return cv2.merge([cv2.LUT(*pair) for pair in zip(channels, tables, strict=True)])


def _blur(image: Pixels, numbers: Numbers) -> Pixels:
    kernel = (int(numbers[0]), int(numbers[1]))
    return cv2.GaussianBlur(
        image, kernel, sigmaX=numbers[2], sigmaY=numbers[3], borderType=cv2.BORDER_REFLECT_101
    )


COLOUR_EFFECTS: dict[Effect, Callable[[Pixels, Numbers], Pixels]] = {
    Effect.BRIGHTNESS: lambda image, numbers: cv2.LUT(image, blend_table(0, numbers[0])),
    Effect.CONTRAST: _contrast,
    Effect.SATURATION: lambda image, numbers: _blend(_gray(image), image, numbers[0]),
    Effect.HUE: _hue,
    Effect.SHARPNESS: _sharpness,
    Effect.POSTERIZE: lambda image, numbers: cv2.LUT(image, posterize_table(int(numbers[0]))),
    Effect.SOLARIZE: lambda image, numbers: cv2.LUT(image, solarize_table(numbers[0])),
    Effect.SOLARIZE_ADD: lambda image, numbers: cv2.LUT(
        image, solarize_add_table(int(numbers[0]), numbers[1])
    ),
    Effect.INVERT: lambda image, _: cv2.bitwise_not(image),
    Effect.AUTOCONTRAST: _autocontrast,
    Effect.EQUALIZE: _equalize,
    Effect.GRAYSCALE: lambda image, _: _gray(image),
    Effect.GAUSSIAN_BLUR: _blur,
}
