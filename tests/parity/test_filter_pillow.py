"""Sharpness and erasing give the very bytes of torchvision on Pillow images; blur nearly always."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageEnhance

from penstock import CoreError
from penstock.reference.filters import blur
from penstock.transforms.torch_blur import torch_weights
from tests.kernels import kernels

Bytes = npt.NDArray[np.uint8]

# 0.9 and 1.9 are what RandAugment draws most; the tiny ones round where the others truncate.
FACTORS = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0, 1.1, 1.9, 2.0, 3.7, 40.0, 300.0, -0.5, -2.0, -77.0]
TINY_FACTORS = [1e-9, 1e-6, -1e-6, 0.99999994, 1.0000001, 1 - 2**-18, 1e30, -1e30]
SIZES = [(1, 1), (1, 7), (7, 1), (2, 2), (2, 9), (3, 3), (3, 4), (5, 31), (9, 64)]
WIDTHS = [15, 16, 17, 18, 31, 32, 33, 34, 63, 64, 65, 66, 67, 129, 130]

KERNELS = [(3, 3), (5, 5), (5, 9), (23, 23), (1, 7), (1, 1)]
SIGMAS = [(0.1, 0.1), (0.5, 1.5), (1.1, 1.1), (2.0, 2.0), (10.0, 0.3)]
OFF_BY_ONE = 1e-4  # share of samples that may lie within rounding errors of half a level


def pillow_sharpness(image: Bytes, factor: float) -> Bytes:
    """What torchvision's adjust_sharpness does to a Pillow image."""
    return np.asarray(ImageEnhance.Sharpness(Image.fromarray(image)).enhance(factor))


def random_image(height: int, width: int, seed: int = 0) -> Bytes:
    """Noise with many saturated samples."""
    noise = np.random.default_rng((height, width, seed)).integers(-60, 316, (height, width, 3))
    return np.clip(noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("factor", FACTORS + TINY_FACTORS)
def test_sharpness_is_pillows(isa: str, photo: Bytes, factor: float) -> None:
    """Every factor, inside and outside 0 .. 1, on an image of all spectra and on noise."""
    for image in (photo, random_image(70, 141)):
        np.testing.assert_array_equal(
            kernels.sharpen(image, factor), pillow_sharpness(image, factor)
        )


def test_sharpness_of_photos_is_pillows(isa: str, in1k) -> None:
    """Real photos, with the factors of RandAugment's 31 bins."""
    for path, factor in zip(in1k, np.linspace(0.0, 2.0, 31), strict=False):
        image = np.asarray(Image.open(path).convert("RGB"))
        np.testing.assert_array_equal(
            kernels.sharpen(image, factor), pillow_sharpness(image, factor)
        )


@pytest.mark.parametrize("size", SIZES + [(4, width) for width in WIDTHS], ids=str)
def test_sharpness_of_small_images_is_pillows(isa: str, size: tuple[int, int]) -> None:
    """Pillow leaves the border, and images below 3x3, as they are."""
    image = random_image(*size)
    for factor in (0.0, 0.3, 1.9, -1.0):
        np.testing.assert_array_equal(
            kernels.sharpen(image, factor), pillow_sharpness(image, factor)
        )


def test_sharpness_rounds_every_sum_as_pillow(isa: str) -> None:
    """All sums of neighbours that there are, each as one 3x3 image in a wide one."""
    centre, around = np.meshgrid(np.arange(0, 256, 5), np.arange(8 * 255 + 1), indexing="ij")
    image = np.zeros((3, 3 * centre.size, 1), dtype=np.uint8)
    cells = image.reshape(3, centre.size, 3)
    rest = around.reshape(-1)
    for place in range(9):
        if place == 4:
            cells[1, :, 1] = centre.reshape(-1)
            continue
        level = np.minimum(rest, 255)
        cells[place // 3, :, place % 3] = level
        rest = rest - level
    smooth = np.asarray(ImageEnhance.Sharpness(Image.fromarray(image[..., 0])).degenerate)
    np.testing.assert_array_equal(kernels.sharpen(image, 0.0)[..., 0], smooth)


def test_sharpness_of_gray_is_pillows(isa: str, photo: Bytes) -> None:
    """One channel is as good as three."""
    gray = photo[..., :1]
    expected = pillow_sharpness(gray[..., 0], 1.9)
    np.testing.assert_array_equal(kernels.sharpen(gray, 1.9)[..., 0], expected)


def torchvision_blur(
    image: Bytes, kernel_size: tuple[int, int], sigma: tuple[float, float], generation: int = 2
) -> Bytes:
    """torchvision's own result for a Pillow image."""
    from torchvision.transforms import functional as v1
    from torchvision.transforms.v2 import functional as v2

    F = v2 if generation == 2 else v1  # noqa: N806 (as everybody calls it)
    blurred = F.gaussian_blur(Image.fromarray(image), list(kernel_size), list(sigma))
    return np.asarray(blurred)


def assert_nearly_same(result: Bytes, expected: Bytes) -> None:
    """Never more than one level, and that hardly ever."""
    difference = np.abs(result.astype(np.int16) - expected)
    assert difference.max() <= 1
    assert np.count_nonzero(difference) <= 3 + OFF_BY_ONE * difference.size


@pytest.mark.parametrize("kernel_size", KERNELS, ids=str)
@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_blur_is_torchvisions(
    isa: str,
    torchvision,
    photo: Bytes,
    kernel_size: tuple[int, int],
    sigma: tuple[float, float],
) -> None:
    """Both sum in float32, in different orders: one level off where half a level is near."""
    for image in (photo, random_image(40, 67)):
        result = kernels.gaussian_blur(image, kernel_size, sigma)
        assert_nearly_same(result, torchvision_blur(image, kernel_size, sigma))


def images_with_ties() -> list[Bytes]:
    """Where many sums lie at or next to half a level, and where none do."""
    columns, both = np.arange(67), np.add.outer(np.arange(40), np.arange(67))
    rng = np.random.default_rng(5)
    return [
        random_image(40, 67),
        rng.choice(np.array([0, 255], dtype=np.uint8), (40, 67, 3)),
        np.tile((columns % 2 * 255).astype(np.uint8)[None, :, None], (40, 1, 3)),
        np.tile((columns // 4 % 2 * 127).astype(np.uint8)[None, :, None], (40, 1, 3)),
        np.repeat((both % 2 * 201 + 3).astype(np.uint8)[..., None], 3, axis=2),
        np.repeat((both % 256).astype(np.uint8)[..., None], 3, axis=2),
        np.full((40, 67, 3), 255, dtype=np.uint8),
    ]


EXACT_KERNELS = ((1, 1), (3, 3), (5, 5), (5, 9), (1, 3), (13, 13), (23, 23), (31, 31))


@lru_cache(maxsize=2 * len(EXACT_KERNELS))
def blurred(kernel_size: tuple[int, int], generation: int) -> list[tuple[Bytes, float, Bytes]]:
    """Images, sigmas and what torchvision makes of them: once for all instruction sets."""
    return [
        (image, sigma, torchvision_blur(image, kernel_size, (sigma, sigma), generation))
        for image in images_with_ties()
        for sigma in (0.05, 0.5, 1.0, 1.7, 30.0)
    ]


@pytest.mark.parametrize("kernel_size", EXACT_KERNELS, ids=str)
@pytest.mark.parametrize("generation", [1, 2])
def test_blur_with_torchs_weights_is_torchvisions_to_the_byte(
    torchvision, kernel_size: tuple[int, int], generation: int, isa: str
) -> None:
    """The order of the sums is torch's; sigmas reach from hardly any blur to nearly a mean."""
    for image, sigma, expected in blurred(kernel_size, generation):
        (weights,) = torch_weights(*kernel_size, np.array([sigma]), generation)
        result = kernels.gaussian_blur(image, kernel_size, (sigma, sigma), weights.tolist())
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2), (12, 16), (17, 65)], ids=str)
def test_blur_of_small_images_is_torchvisions_to_the_byte(
    isa: str, torchvision, size: tuple[int, int]
) -> None:
    """Down to where nothing can be reflected."""
    height, width = (min(2 * side - 1, 23) for side in size)
    image = random_image(*size)
    for kernel_size in {(width, height), (1, 1), (min(width, 3), min(height, 3))}:
        (weights,) = torch_weights(*kernel_size, np.array([1.1]), 2)
        result = kernels.gaussian_blur(image, kernel_size, (1.1, 1.1), weights.tolist())
        expected = torchvision_blur(image, kernel_size, (1.1, 1.1))
        np.testing.assert_array_equal(result, expected)


def fading_weights(side: int) -> list[float]:
    """From the middle outwards, each half of the one before; all together 1."""
    weights = 0.5 ** np.arange(side // 2 + 1)
    return (weights / (2 * weights.sum() - 1)).tolist()


@pytest.mark.parametrize("kernel_size", [(3, 3), (9, 5), (23, 23)], ids=str)
def test_blur_is_the_references(isa: str, kernel_size: tuple[int, int]) -> None:
    """The plain sum in NumPy gives the same bytes, with weights of sigma and with given ones."""
    sides = kernel_size[: 1 if kernel_size[0] == kernel_size[1] else 2]
    given = [weight for side in sides for weight in fading_weights(side)]
    for image in images_with_ties():
        for sigma, weights in (((0.3, 0.3), []), ((1.7, 0.6), []), ((1.0, 1.0), given)):
            result = kernels.gaussian_blur(image, kernel_size, sigma, weights)
            np.testing.assert_array_equal(result, blur(image, kernel_size, sigma, weights))


@pytest.mark.parametrize("width", WIDTHS)
def test_blur_of_narrow_images_is_torchvisions(isa: str, torchvision, width: int) -> None:
    """Also with a kernel that reflects all there is."""
    image = random_image(9, width)
    for kernel_size in ((2 * width - 1, 17), (3, 3)):
        result = kernels.gaussian_blur(image, kernel_size, (3.0, 0.8))
        assert_nearly_same(result, torchvision_blur(image, kernel_size, (3.0, 0.8)))


def test_blur_is_the_same_with_every_instruction_set(isa: str, photo: Bytes) -> None:
    """The order of the sums is fixed, so not even a last bit may differ."""
    result = kernels.gaussian_blur(photo, (9, 5), (1.7, 0.6))
    kernels.force_isa("scalar")
    np.testing.assert_array_equal(result, kernels.gaussian_blur(photo, (9, 5), (1.7, 0.6)))


def test_blur_of_a_constant_is_the_constant(isa: str) -> None:
    """The weights' sum must not drift, even at the brightest level."""
    for level in (0, 1, 127, 128, 254, 255):
        image = np.full((60, 70, 3), level, dtype=np.uint8)
        np.testing.assert_array_equal(kernels.gaussian_blur(image, (101, 101), (20, 20)), image)


@pytest.mark.parametrize("size", [(1, 9), (9, 1), (2, 9), (9, 2)], ids=str)
def test_blur_refuses_what_torchvision_refuses(torchvision, size: tuple[int, int]) -> None:
    """A reflection cannot be longer than the image."""
    image = random_image(*size)
    with pytest.raises(CoreError, match=r"a kernel of 5x5 reaches over the whole image"):
        kernels.gaussian_blur(image, (5, 5), (1.0, 1.0))
    with pytest.raises(RuntimeError, match="Padding size should be less"):
        torchvision_blur(image, (5, 5), (1.0, 1.0))


@pytest.mark.parametrize("box", [(0, 0, 0, 0), (2, 3, 4, 5), (0, 0, 20, 30), (19, 29, 1, 1)])
def test_erase_is_torchvisions(torchvision, box: tuple[int, int, int, int]) -> None:
    """A rectangle of one colour, down to nothing and up to everything."""
    import torch
    from torchvision.transforms.v2 import functional as F

    image = random_image(20, 30)
    colour = (10, 200, 255)
    values = torch.tensor(colour, dtype=torch.uint8)[:, None, None]
    expected = F.erase(Image.fromarray(image), *box, values)

    np.testing.assert_array_equal(kernels.erase(image, box, colour), np.asarray(expected))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda i: kernels.sharpen(i, float("nan")), "factor must be a finite number"),
        (lambda i: kernels.sharpen(i[..., :2].copy(), 1.0), "must have 1 or 3 channels, got 2"),
        (lambda i: kernels.gaussian_blur(i, (4, 3), (1, 1)), "kernel sizes must be odd"),
        (lambda i: kernels.gaussian_blur(i, (3, 3), (1, 0)), "sigma must be above 0, got 0"),
        (lambda i: kernels.gaussian_blur(i, (3, 3), (1, 1), [0.1] * 29), "room for 28, which must"),
        (lambda i: kernels.gaussian_blur(i, (3, 3), (1, 1), [0.5, 0.5]), "2 weights do not fit"),
        (lambda i: kernels.erase(i, (0, 0, 9, 8), (0, 0, 0)), "must lie inside the 8x8 image"),
        (lambda i: kernels.add_gaussian_noise(i, 0, float("inf"), True, (0, 0)), "sigma must be"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message: str) -> None:
    """With the value and the way out."""
    with pytest.raises(CoreError, match=message):
        call(random_image(8, 8))
