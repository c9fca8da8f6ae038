"""Pillow's own blurs give the very bytes of Pillow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageFilter

from penstock import CoreError
from penstock.deferring.filters import blur_numbers, box_radius
from tests.kernels import kernels

Bytes = npt.NDArray[np.uint8]

SIGMAS = [
    1e-9,
    1e-4,
    0.01,
    *np.arange(0.1, 2.05, 0.1).round(2).tolist(),
    1.41421,
    1.41422,
    5,
    30,
    63,
]
RADII = [1e-30, 1e-8, 1e-4, 0.1, 0.5, 0.99, 1, 1.0000001, 1.5, 2, 7, 7.9, 8, 9.3, 30, 63, 63.99]
SIZES = [(1, 1), (1, 7), (7, 1), (2, 2), (5, 31), (9, 64), (33, 65), (40, 130)]


def random_image(height: int, width: int, channels: int = 3) -> Bytes:
    """Noise with many saturated samples."""
    shape = (height, width, channels)
    noise = np.random.default_rng(shape).integers(-60, 316, shape)
    return np.clip(noise, 0, 255).astype(np.uint8)


def by_pillow(pixels: Bytes, filter: ImageFilter.Filter) -> Bytes:
    """What Pillow makes of it."""
    flat = pixels[..., 0] if pixels.shape[2] == 1 else pixels
    return np.asarray(Image.fromarray(flat).filter(filter)).reshape(pixels.shape)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_gaussian_blur_is_pillows(isa: str, sigma: float) -> None:
    """Of every size, and of gray images."""
    radius = box_radius(sigma)
    for size in SIZES:
        for channels in (1, 3):
            image = random_image(*size, channels)
            expected = by_pillow(image, ImageFilter.GaussianBlur(sigma))
            np.testing.assert_array_equal(kernels.box_blur(image, (radius, radius), 3), expected)


@pytest.mark.parametrize("radius", RADII)
def test_box_blur_is_pillows(isa: str, radius: float) -> None:
    """Boxes may be larger than images."""
    for size in SIZES:
        image = random_image(*size)
        for pair in ((radius, radius), (radius, 0.0), (0.0, radius), (radius, 3.3)):
            expected = by_pillow(image, ImageFilter.BoxBlur(pair))
            np.testing.assert_array_equal(kernels.box_blur(image, pair, 1), expected)


def test_every_mean_is_rounded_as_pillow_rounds(isa: str) -> None:
    """All sums of a box of three, as images of three pixels whose middle is looked at."""
    levels = np.arange(0, 256, 5)
    triples = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(-1, 3, 1)
    image = triples.astype(np.uint8)
    for radius in (0.2, 0.777, 1.0):
        expected = by_pillow(image, ImageFilter.BoxBlur((radius, 0)))
        np.testing.assert_array_equal(kernels.box_blur(image, (radius, 0.0), 1), expected)


def test_photos(isa: str, photo: Bytes) -> None:
    """Different sigmas in both directions."""
    filter = ImageFilter.GaussianBlur((0.7, 3.1))
    numbers = blur_numbers(filter)
    assert numbers is not None
    across, down, passes = numbers
    blurred = kernels.box_blur(photo, (across, down), int(passes))

    np.testing.assert_array_equal(blurred, by_pillow(photo, filter))


def test_arguments_are_checked() -> None:
    """As the engine checks them."""
    image = random_image(3, 3)
    with pytest.raises(CoreError, match="a radius must be at least 0 and below 64, got 64"):
        kernels.box_blur(image, (1.0, 64.0), 1)
    with pytest.raises(CoreError, match="passes must be 1 to 3, got 4"):
        kernels.box_blur(image, (1.0, 1.0), 4)
