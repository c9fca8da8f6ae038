"""The work on one image with OpenCV, for the peers that use it.

Not the reference's pixels: cv2.resize does not smooth before it shrinks, so it also does less work.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from benchmarks.case import CENTRE, FLOAT32, RANDOM, Case, refuse_unless

TRIES = 10
AREA_RANGE = (0.08, 1.0)
LOG_RATIO_RANGE = (math.log(3 / 4), math.log(4 / 3))
DECODE_FLAGS = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
Pixels = npt.NDArray[np.uint8]


def decode_file(path: str) -> Pixels:
    """Return the pixels of an image file."""
    image = cv2.imdecode(np.fromfile(path, dtype=np.uint8), DECODE_FLAGS)
    if image is None:
        raise OSError(f"{path}: OpenCV cannot decode it. Leave it out of --data.")
    return image  # type: ignore[no-any-return]


def steps_of(case: Case, decode: Callable[[str], Pixels]) -> Callable[[Any], npt.NDArray[Any]]:
    """Return what makes an array, channels first, of a path (or of pixels, for tiny images)."""
    refuse_unless(not case.augment_layers, "OpenCV", "RandAugment")
    levels = np.arange(256, dtype=np.float32)[:, None] / 255
    normalised = (levels - np.asarray(case.mean, np.float32)) / np.asarray(case.std, np.float32)
    table = normalised.reshape(256, 1, 3)
    crop = {RANDOM: _random_crop, CENTRE: _centre_crop}.get(case.crop, _padded_crop)

    def prepare(source: Any) -> npt.NDArray[Any]:
        image = crop(source if case.arrays else decode(source), case)
        if case.flips and random.random() < 0.5:
            image = cv2.flip(image, 1)
        if case.output == FLOAT32:
            image = cv2.LUT(image, table)
        return np.ascontiguousarray(image.transpose(2, 0, 1))

    return prepare


def _random_crop(image: Pixels, case: Case) -> Any:
    top, left, height, width = draw_crop(*image.shape[:2])
    image = image[top : top + height, left : left + width]
    return cv2.resize(image, (case.crop_px, case.crop_px), interpolation=cv2.INTER_LINEAR)


def _centre_crop(image: Pixels, case: Case) -> Any:
    height, width = image.shape[:2]
    short = min(height, width)
    height, width = case.resize_px * height // short, case.resize_px * width // short
    image = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR)
    top, left = round((height - case.crop_px) / 2), round((width - case.crop_px) / 2)
    return image[top : top + case.crop_px, left : left + case.crop_px]


def _padded_crop(image: Pixels, case: Case) -> Any:
    pad = case.pad_px
    image = cv2.copyMakeBorder(image, pad, pad, pad, pad, cv2.BORDER_CONSTANT)
    top, left = random.randint(0, 2 * pad), random.randint(0, 2 * pad)
    return image[top : top + case.crop_px, left : left + case.crop_px]


def draw_crop(height: int, width: int) -> tuple[int, int, int, int]:
    """Draw top, left, height and width as torchvision's RandomResizedCrop does."""
    for _ in range(TRIES):
        area = height * width * random.uniform(*AREA_RANGE)
        ratio = math.exp(random.uniform(*LOG_RATIO_RANGE))
        crop_width = round(math.sqrt(area * ratio))
        crop_height = round(math.sqrt(area / ratio))
        if 0 < crop_width <= width and 0 < crop_height <= height:
            top = random.randint(0, height - crop_height)
            left = random.randint(0, width - crop_width)
            return top, left, crop_height, crop_width
    side = min(height, width)
    return (height - side) // 2, (width - side) // 2, side, side
