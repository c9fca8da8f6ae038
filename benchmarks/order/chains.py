"""Flip, rotate, jitter, crop and resize, as a user of each library writes them.

All libraries get the same parameters. The pixels of penstock, torchvision and Pillow are the same;
OpenCV rounds otherwise, and reduces without looking at all pixels.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import PIL.Image
from PIL import ImageEnhance

from penstock import transforms as T
from penstock.geometry import Size

cv: Any = cv2  # its own type hints refuse numbers where it takes them

DEGREES = 30.0
JITTER = 0.4  # factors of brightness and contrast: 1 - JITTER .. 1 + JITTER
FLIP_FIRST = ("flip", "rotate", "jitter", "crop", "resize")
CROP_FIRST = ("crop", "resize", "flip", "rotate", "jitter")
ORDERS = {"flip first": FLIP_FIRST, "crop first": CROP_FIRST}

FileToArray = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Task:
    """Photos of a size, to be made into squares of `side_px` in one of the orders."""

    photo: Size
    side_px: int
    order: str

    @property
    def what(self) -> str:
        """Width and height of the photos, and the side of the result."""
        return f"{self.photo.width}x{self.photo.height} to {self.side_px}"

    @property
    def name(self) -> str:
        """What there is to do, and in which order."""
        return f"{self.what}, {self.order}"

    @property
    def middle(self) -> Size:
        """The crop: half of the width and half of the height."""
        return Size(self.photo.height // 2, self.photo.width // 2)

    def chain(self, **steps: Any) -> list[Any]:
        """Return a library's steps, given by name, in the order of the task."""
        return [steps[name] for name in ORDERS[self.order]]


def penstock_transform(task: Task) -> T.Compose:
    """Return the chain as one of our transforms."""
    return T.Compose(
        task.chain(
            flip=T.RandomHorizontalFlip(p=1.0),
            rotate=T.RandomRotation((DEGREES, DEGREES), "bilinear"),
            jitter=T.ColorJitter(brightness=JITTER, contrast=JITTER),
            crop=T.CenterCrop((task.middle.height, task.middle.width)),
            resize=T.Resize((task.side_px, task.side_px)),
        )
    )


def with_torchvision(task: Task) -> FileToArray:
    """Return the chain of torchvision's transforms on Pillow images."""
    from torchvision.transforms import InterpolationMode, v2

    steps = task.chain(
        flip=v2.RandomHorizontalFlip(p=1.0),
        rotate=v2.RandomRotation((DEGREES, DEGREES), InterpolationMode.BILINEAR),
        jitter=v2.ColorJitter(brightness=JITTER, contrast=JITTER),
        crop=v2.CenterCrop((task.middle.height, task.middle.width)),
        resize=v2.Resize((task.side_px, task.side_px)),
    )
    transform = v2.Compose([*steps, v2.PILToTensor()])
    return lambda path: transform(PIL.Image.open(path).convert("RGB"))


def with_pillow(task: Task) -> FileToArray:
    """Return the chain of Pillow's own methods."""
    left, top = _corner(task)
    box = (left, top, left + task.middle.width, top + task.middle.height)
    bilinear = PIL.Image.Resampling.BILINEAR
    steps = task.chain(
        flip=lambda image: image.transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT),
        rotate=lambda image: image.rotate(DEGREES, bilinear),
        jitter=_pillow_jitter,
        crop=lambda image: image.crop(box),
        resize=lambda image: image.resize((task.side_px, task.side_px), bilinear),
    )

    def prepare(path: str) -> Any:
        image: Any = PIL.Image.open(path).convert("RGB")
        for step in steps:
            image = step(image)
        return np.asarray(image)

    return prepare


def _pillow_jitter(image: PIL.Image.Image) -> PIL.Image.Image:
    brighter = ImageEnhance.Brightness(image).enhance(_factor())
    return ImageEnhance.Contrast(brighter).enhance(_factor())


def with_opencv(task: Task) -> FileToArray:
    """Return the chain of OpenCV's functions."""
    left, top = _corner(task)
    right, bottom = left + task.middle.width, top + task.middle.height
    steps = task.chain(
        flip=lambda pixels: cv.flip(pixels, 1),
        rotate=_opencv_rotate,
        jitter=_opencv_jitter,
        crop=lambda pixels: pixels[top:bottom, left:right],
        resize=lambda pixels: cv.resize(pixels, (task.side_px, task.side_px)),
    )

    def prepare(path: str) -> Any:
        pixels = cv.imread(path, cv.IMREAD_COLOR_RGB)
        for step in steps:
            pixels = step(pixels)
        return pixels

    return prepare


def _opencv_rotate(pixels: Any) -> Any:
    height, width = pixels.shape[:2]
    matrix = cv.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), DEGREES, 1.0)
    return cv.warpAffine(pixels, matrix, (width, height))


def _opencv_jitter(pixels: Any) -> Any:
    brighter = cv.convertScaleAbs(pixels, alpha=_factor())
    factor, mean = _factor(), cv.mean(cv.cvtColor(brighter, cv.COLOR_RGB2GRAY))[0]
    return cv.convertScaleAbs(brighter, alpha=factor, beta=mean * (1 - factor))


def _factor() -> float:
    return random.uniform(1 - JITTER, 1 + JITTER)


def _corner(task: Task) -> tuple[int, int]:
    """Left and top of the crop, rounded as torchvision's CenterCrop does."""
    spare = task.photo.width - task.middle.width, task.photo.height - task.middle.height
    return round(spare[0] / 2), round(spare[1] / 2)
