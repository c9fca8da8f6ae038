"""The operations to time, and how a user of Pillow or OpenCV would write each.

OpenCV's are what comes nearest, not always the same pixels: its arithmetic rounds otherwise, and
its warps use fewer fractional bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import PIL.Image
from PIL import ImageEnhance, ImageFilter, ImageOps

from benchmarks.effects.ours import EffectCall, Pixels, erasing
from penstock._core import Effect

cv: Any = cv2  # its own type hints refuse numbers, and None, where it takes them

OnPillow = Callable[[PIL.Image.Image], PIL.Image.Image]
OnArray = Callable[[Pixels], Any]

FACTOR = 1.4
DEGREES = 27.0
NEAREST, BILINEAR, BICUBIC = 0, 2, 3
CV_FILTERS = {NEAREST: cv.INTER_NEAREST, BILINEAR: cv.INTER_LINEAR, BICUBIC: cv.INTER_CUBIC}
BLUR_PX, BLUR_SIGMA = 23, 1.0
BLUR = {
    "kernel_width": BLUR_PX,
    "kernel_height": BLUR_PX,
    "sigma_across": BLUR_SIGMA,
    "sigma_down": BLUR_SIGMA,
}
NOISE_SIGMA = 0.1
ELASTIC_ALPHA, ELASTIC_SIGMA = 50.0, 5.0
ERASED = (50, 60, 80, 90)  # top, left, height, width
PERSPECTIVE = (1.1, 0.05, -12.0, 0.04, 1.08, -9.0, 0.0004, 0.0003)


@dataclass(frozen=True, slots=True)
class Operation:
    """One effect (or a few that belong together) in each library; None where it has no such."""

    name: str
    ours: Sequence[EffectCall]
    pillow: OnPillow | None
    opencv: OnArray | None


def rotation(degrees: float, side_px: int) -> tuple[float, ...]:
    """Return a rotation about the centre as Pillow's transform takes it."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    centre = side_px / 2
    return (
        cos,
        sin,
        centre - cos * centre - sin * centre,
        -sin,
        cos,
        centre + sin * centre - cos * centre,
    )


def _affine(name: str, matrix: tuple[float, ...], resample: int) -> Operation:
    rows = np.array(matrix, dtype=np.float64).reshape(2, 3)
    flags = CV_FILTERS[resample] | cv.WARP_INVERSE_MAP
    return Operation(
        name,
        [(Effect.AFFINE, {"matrix": matrix, "filter": resample, "fill": 0})],
        lambda image: image.transform(
            image.size, PIL.Image.Transform.AFFINE, matrix, PIL.Image.Resampling(resample)
        ),
        lambda pixels: cv.warpAffine(pixels, rows, pixels.shape[1::-1], flags=flags),
    )


def _enhance(name: str, effect: Effect, pillow: Callable[..., Any], opencv: OnArray) -> Operation:
    """Make an operation that blends an image with another made of it, by a factor."""
    return Operation(
        name, [(effect, {"factor": FACTOR})], lambda image: pillow(image).enhance(FACTOR), opencv
    )


def _table(name: str, effect: Effect, parameters: dict[str, Any], pillow: OnPillow) -> Operation:
    """Make an operation that OpenCV does by a table of levels, here read off Pillow."""
    levels = PIL.Image.fromarray(np.arange(256, dtype=np.uint8)[None])
    table = np.asarray(pillow(levels)).reshape(256)
    return Operation(name, [(effect, parameters)], pillow, lambda pixels: cv.LUT(pixels, table))


def _cv_contrast(pixels: Pixels) -> Any:
    mean = cv.mean(cv.cvtColor(pixels, cv.COLOR_RGB2GRAY))[0]
    return cv.convertScaleAbs(pixels, alpha=FACTOR, beta=mean * (1 - FACTOR))


def _cv_gray(pixels: Pixels) -> Any:
    return cv.cvtColor(cv.cvtColor(pixels, cv.COLOR_RGB2GRAY), cv.COLOR_GRAY2RGB)


def _cv_hue(pixels: Pixels) -> Any:
    hsv = cv.cvtColor(pixels, cv.COLOR_RGB2HSV_FULL)
    hsv[..., 0] += np.uint8(25)
    return cv.cvtColor(hsv, cv.COLOR_HSV2RGB_FULL)


def _pil_hue(image: PIL.Image.Image) -> PIL.Image.Image:
    hue, saturation, value = image.convert("HSV").split()
    turned = PIL.Image.fromarray(np.asarray(hue) + np.uint8(25))
    return PIL.Image.merge("HSV", (turned, saturation, value)).convert("RGB")


def _cv_sharpness(pixels: Pixels) -> Any:
    smooth = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], dtype=np.float32) / 13 * (1 - FACTOR)
    smooth[1, 1] += FACTOR
    return cv.filter2D(pixels, -1, smooth)


def _each_channel(pixels: Pixels, change: OnArray) -> Any:
    return cv.merge([change(channel) for channel in cv.split(pixels)])


def _cv_stretch(channel: Pixels) -> Any:
    return cv.normalize(channel, None, 0, 255, cv.NORM_MINMAX)


def _cv_noise(pixels: Pixels) -> Any:
    noise = np.empty(pixels.shape, dtype=np.float32)
    cv.randn(noise, 0, NOISE_SIGMA * 255)
    return cv.add(pixels, noise, dtype=cv.CV_8U)


def _cv_elastic(pixels: Pixels) -> Any:
    height, width = pixels.shape[:2]
    maps = []
    for places in np.meshgrid(np.arange(width), np.arange(height)):
        noise = np.empty((height, width), dtype=np.float32)
        cv.randu(noise, -1, 1)
        smooth = cv.GaussianBlur(noise, (0, 0), ELASTIC_SIGMA)
        maps.append(places.astype(np.float32) + ELASTIC_ALPHA * smooth)
    return cv.remap(pixels, maps[0], maps[1], cv.INTER_LINEAR)


def _pil_erase(image: PIL.Image.Image) -> PIL.Image.Image:
    top, left, height, width = ERASED
    erased = image.copy()
    erased.paste((0, 0, 0), (left, top, left + width, top + height))
    return erased


def _cv_erase(pixels: Pixels) -> Any:
    top, left, height, width = ERASED
    erased = pixels.copy()
    erased[top : top + height, left : left + width] = 0
    return erased


def operations(side_px: int) -> list[Operation]:
    """Return the operations on square photos."""
    perspective = np.array([*PERSPECTIVE, 1.0]).reshape(3, 3)
    turn = rotation(DEGREES, side_px)
    size = (side_px, side_px)
    inverse_linear = cv.INTER_LINEAR | cv.WARP_INVERSE_MAP
    return [
        _enhance(
            "brightness",
            Effect.BRIGHTNESS,
            ImageEnhance.Brightness,
            lambda pixels: cv.convertScaleAbs(pixels, alpha=FACTOR),
        ),
        _enhance("contrast", Effect.CONTRAST, ImageEnhance.Contrast, _cv_contrast),
        _enhance(
            "saturation",
            Effect.SATURATION,
            ImageEnhance.Color,
            lambda pixels: cv.addWeighted(pixels, FACTOR, _cv_gray(pixels), 1 - FACTOR, 0),
        ),
        Operation("hue", [(Effect.HUE, {"factor": 0.1})], _pil_hue, _cv_hue),
        _enhance("sharpness", Effect.SHARPNESS, ImageEnhance.Sharpness, _cv_sharpness),
        _table(
            "posterize", Effect.POSTERIZE, {"bits": 4}, lambda image: ImageOps.posterize(image, 4)
        ),
        _table(
            "solarize",
            Effect.SOLARIZE,
            {"threshold": 128},
            lambda image: ImageOps.solarize(image, 128),
        ),
        Operation(
            "invert",
            [(Effect.INVERT, {})],
            ImageOps.invert,
            cv.bitwise_not,
        ),
        Operation(
            "autocontrast",
            [(Effect.AUTOCONTRAST, {})],
            ImageOps.autocontrast,
            lambda pixels: _each_channel(pixels, _cv_stretch),
        ),
        Operation(
            "equalize",
            [(Effect.EQUALIZE, {})],
            ImageOps.equalize,
            lambda pixels: _each_channel(pixels, cv.equalizeHist),
        ),
        Operation(
            "grayscale",
            [(Effect.GRAYSCALE, {})],
            lambda image: image.convert("L").convert("RGB"),
            _cv_gray,
        ),
        Operation(
            "permute channels",
            [(Effect.PERMUTE_CHANNELS, {"order": (2, 1, 0)})],
            lambda image: PIL.Image.merge("RGB", image.split()[::-1]),
            lambda pixels: cv.cvtColor(pixels, cv.COLOR_RGB2BGR),
        ),
        _affine("shear x, nearest", (1, 0.27, 0, 0, 1, 0), NEAREST),
        _affine("shear y, nearest", (1, 0, 0, 0.27, 1, 0), NEAREST),
        _affine("translate, nearest", (1, 0, 45, 0, 1, 0), NEAREST),
        _affine("rotate, nearest", turn, NEAREST),
        _affine("rotate, bilinear", turn, BILINEAR),
        _affine("rotate, bicubic", turn, BICUBIC),
        Operation(
            "perspective, bilinear",
            [(Effect.PERSPECTIVE, {"matrix": PERSPECTIVE, "filter": BILINEAR, "fill": 0})],
            lambda image: image.transform(
                size,
                PIL.Image.Transform.PERSPECTIVE,
                PERSPECTIVE,
                PIL.Image.Resampling.BILINEAR,
            ),
            lambda pixels: cv.warpPerspective(pixels, perspective, size, flags=inverse_linear),
        ),
        Operation(
            f"Gaussian blur, {BLUR_PX} pixels",
            [(Effect.GAUSSIAN_BLUR, BLUR)],
            lambda image: image.filter(ImageFilter.GaussianBlur(BLUR_SIGMA)),
            lambda pixels: cv.GaussianBlur(pixels, (BLUR_PX, BLUR_PX), BLUR_SIGMA),
        ),
        Operation(
            "Gaussian noise",
            [
                (
                    Effect.GAUSSIAN_NOISE,
                    {"mean": 0, "sigma": NOISE_SIGMA, "clip": True, "key": (7, 11)},
                )
            ],
            None,
            _cv_noise,
        ),
        Operation("erase", [erasing(*ERASED)], _pil_erase, _cv_erase),
        Operation(
            "elastic, bilinear",
            [
                (
                    Effect.ELASTIC,
                    {
                        "alpha_across": ELASTIC_ALPHA,
                        "alpha_down": ELASTIC_ALPHA,
                        "sigma_across": ELASTIC_SIGMA,
                        "sigma_down": ELASTIC_SIGMA,
                        "filter": BILINEAR,
                        "fill": 0,
                        "key": (7, 11),
                    },
                )
            ],
            None,
            _cv_elastic,
        ),
        Operation(
            "mix with its negative",
            [
                (Effect.MIX_BEGIN, {"weight": 0.6}),
                (Effect.INVERT, {}),
                (Effect.MIX_ADD, {"weight": 0.4}),
                (Effect.MIX_END, {}),
            ],
            lambda image: PIL.Image.blend(image, ImageOps.invert(image), 0.4),
            lambda pixels: cv.addWeighted(pixels, 0.6, cv.bitwise_not(pixels), 0.4, 0),
        ),
    ]
