"""Effects on colour give the very bytes of torchvision on Pillow images, in every variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from penstock import CoreError
from penstock._core import Effect
from tests.kernels import kernels

Bytes = npt.NDArray[np.uint8]

FACTORS = [-1.5, -0.3, 0.0, 0.1, 0.37, 0.9, 1.0, 1.1, 1.5, 1.9, 3.0, 10.0, 1e5, 1e9]
TURNS = [*np.linspace(-0.5, 0.5, 41), 0.001, -0.003, 0.0041]
THRESHOLDS = [0, 0.5, 1, 37, 127.99, 128, 200.25, 255, 255.5, 256]
SIZES = [(1, 1), (1, 37), (41, 1), (2, 15), (3, 16), (3, 17), (5, 31), (4, 32), (4, 33), (3, 63)]
SIZES += [(6, 64), (7, 65), (2, 127), (2, 129), (37, 224)]


def noise(height: int, width: int, seed: int = 0) -> Bytes:
    """Random colours, of which many touch black or white."""
    rng = np.random.default_rng((seed, height, width))
    return np.clip(rng.integers(-100, 356, (height, width, 3)), 0, 255).astype(np.uint8)


def coarse_colours() -> Bytes:
    """A grid over all colours, with both ends."""
    levels = np.array([*range(0, 256, 9), 127, 128, 254, 255], np.uint8)
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1)
    return grid.reshape(len(levels), -1, 3)


def constant(*colour: int) -> Bytes:
    """One colour only."""
    return np.broadcast_to(np.array(colour, np.uint8), (5, 70, 3)).copy()


def all_levels() -> Bytes:
    """Each of the 256 levels in each channel, equally often, in different orders."""
    ramp = np.arange(256, dtype=np.uint8)
    return np.stack([ramp, ramp[::-1], np.roll(ramp, 77)], axis=-1).reshape(4, 64, 3)


def few_levels() -> Bytes:
    """A histogram with long gaps, and one channel with a single level."""
    rng = np.random.default_rng(5)
    image = rng.choice(np.array([0, 3, 200, 201], np.uint8), (40, 50, 3))
    image[:, :, 1] = 17
    return image


def images() -> Iterator[Bytes]:
    """Odd ones of every kind."""
    for size in SIZES:
        yield noise(*size)
    for colour in [(0, 0, 0), (255, 255, 255), (13, 13, 13), (255, 0, 0), (1, 0, 0), (7, 200, 90)]:
        yield constant(*colour)
    yield all_levels()
    yield few_levels()
    yield np.clip(noise(60, 90) // 8 + 100, 0, 255).astype(np.uint8)  # of little contrast
    yield np.repeat(noise(30, 77)[:, :, :1], 3, axis=2)  # gray in three channels
    yield coarse_colours()


@pytest.fixture(scope="session")
def photos(in1k: list[Path]) -> list[Bytes]:
    """Some photos, in a size that has a short last vector in every row."""
    return [np.asarray(Image.open(path).convert("RGB").resize((231, 179))) for path in in1k[:12]]


def solarize_add(image: Image.Image, amount: int, threshold: int) -> Image.Image:
    """As timm defines it, which has no other use for Pillow than this table."""
    table = [min(255, level + amount) if level < threshold else level for level in range(256)]
    return image.point(table * 3)


# Beside each effect: the function of torchvision, and what to call it with.
CASES: dict[Effect, tuple[str, list[tuple[float, ...]]]] = {
    Effect.BRIGHTNESS: ("adjust_brightness", [(factor,) for factor in FACTORS]),
    Effect.CONTRAST: ("adjust_contrast", [(factor,) for factor in FACTORS]),
    Effect.SATURATION: ("adjust_saturation", [(factor,) for factor in FACTORS]),
    Effect.HUE: ("adjust_hue", [(turn,) for turn in TURNS]),
    Effect.POSTERIZE: ("posterize", [(bits,) for bits in range(1, 9)]),
    Effect.SOLARIZE: ("solarize", [(threshold,) for threshold in THRESHOLDS]),
    Effect.SOLARIZE_ADD: ("", [(n, at) for n in (0, 1, 30, 110, 255) for at in (0, 1, 128, 256)]),
    Effect.INVERT: ("invert", [()]),
    Effect.AUTOCONTRAST: ("autocontrast", [()]),
    Effect.EQUALIZE: ("equalize", [()]),
    Effect.GRAYSCALE: ("rgb_to_grayscale", [()]),
    Effect.PERMUTE_CHANNELS: ("permute_channels", list(permutations(range(3)))),
}


def expected(
    torchvision: ModuleType, image: Bytes, effect: Effect, numbers: Sequence[float]
) -> Bytes:
    """What torchvision makes of the image as a Pillow image."""
    functional = torchvision.transforms.v2.functional
    source = Image.fromarray(image)
    if effect is Effect.SOLARIZE_ADD:
        return np.asarray(solarize_add(source, int(numbers[0]), int(numbers[1])))
    adjust = getattr(functional, CASES[effect][0])
    if effect is Effect.GRAYSCALE:
        return np.asarray(adjust(source, num_output_channels=3))
    if effect is Effect.PERMUTE_CHANNELS:
        return np.asarray(adjust(source, permutation=list(numbers)))
    return np.asarray(adjust(source, *numbers))


def ours(image: Bytes, *effects: tuple[Effect, Sequence[float]]) -> Bytes:
    """The kernels, effect after effect."""
    padded = [(int(effect), (*numbers, 0, 0, 0)[:3]) for effect, numbers in effects]
    return kernels.colour_effects(image, padded)


def some_effects(rng: np.random.Generator, count: int) -> list[tuple[Effect, Sequence[float]]]:
    """Effects with numbers that hold for all of them."""
    effects = rng.choice(np.array(list(CASES)), count)
    return [(Effect(e), CASES[e][1][rng.integers(len(CASES[e][1]))]) for e in effects]


@pytest.mark.parametrize("effect", CASES, ids=lambda effect: effect.name.lower())
def test_odd_images(torchvision, isa: str, effect: Effect) -> None:
    """Every effect over its range of numbers: sizes around vectors, flat, gray, all colours."""
    for image in images():
        for numbers in CASES[effect][1]:
            np.testing.assert_array_equal(
                ours(image, (effect, numbers)),
                expected(torchvision, image, effect, numbers),
                err_msg=f"{image.shape} {numbers}",
            )


@pytest.mark.parametrize("effect", CASES, ids=lambda effect: effect.name.lower())
def test_photos(torchvision, photos: list[Bytes], isa: str, effect: Effect) -> None:
    """Every effect over its range of numbers, on photos."""
    for i, image in enumerate(photos):
        for numbers in CASES[effect][1][i % 3 :: 3] or [()]:
            np.testing.assert_array_equal(
                ours(image, (effect, numbers)), expected(torchvision, image, effect, numbers)
            )


def test_effects_in_a_row(torchvision, isa: str) -> None:
    """One table for many effects, statistics through tables: the same as one after the other."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        height, width = (int(n) for n in rng.integers(1, 90, 2))
        image = noise(height, width, seed) // 2 + np.uint8(40)
        effects = some_effects(rng, int(rng.integers(2, 8)))
        want = image
        for effect, numbers in effects:
            want = expected(torchvision, want, effect, numbers)
        np.testing.assert_array_equal(ours(image, *effects), want, err_msg=str(effects))


def test_gray_images_are_as_three_equal_channels(torchvision, isa: str) -> None:
    """One channel in: what Pillow makes of an RGB image without colour."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        gray = noise(*(int(n) for n in rng.integers(1, 90, 2)), seed)[:, :, :1].copy()
        effects = some_effects(rng, int(rng.integers(1, 6)))
        want = np.repeat(gray, 3, axis=2)
        for effect, numbers in effects:
            want = expected(torchvision, want, effect, numbers)
        np.testing.assert_array_equal(ours(gray, *effects), want, err_msg=str(effects))


@pytest.mark.parametrize(
    "effect", [Effect.SATURATION, Effect.HUE, Effect.GRAYSCALE, Effect.PERMUTE_CHANNELS]
)
def test_nothing_happens_to_gray(torchvision, effect: Effect) -> None:
    """Why a gray image need not be touched: Pillow gives back what it got, for every level."""
    image = np.repeat(np.arange(256, dtype=np.uint8).reshape(4, 64, 1), 3, axis=2)
    for numbers in CASES[effect][1]:
        np.testing.assert_array_equal(expected(torchvision, image, effect, numbers), image)


def test_saturation_at_random_factors(torchvision, isa: str) -> None:
    """Also factors for which gray decides how a sum rounds, such as the last ones."""
    image = coarse_colours()
    rng = np.random.default_rng(1)
    near = [n / d for n, d in [(1, 3), (2, 3), (1, 7), (200, 201), (1, 255), (254, 255)]]
    for factor in [*rng.uniform(0, 2, 60), *near, 1e-7, 1 - 1e-7, 1 + 1e-6]:
        np.testing.assert_array_equal(
            ours(image, (Effect.SATURATION, [factor])),
            expected(torchvision, image, Effect.SATURATION, [factor]),
            err_msg=str(factor),
        )


@pytest.mark.parametrize("count", [1, 2, 4])
def test_mix_is_augmixs(torchvision, isa: str, count: int) -> None:
    """The sum that AugMix makes of uint8 tensors with float32 weights, and how it ends."""
    import torch

    for seed in range(40):
        rng = np.random.default_rng(seed)
        height, width = (int(n) for n in rng.integers(1, 90, 2))
        stack = [noise(height, width, 10 * seed + i) for i in range(count)]
        weights = rng.dirichlet(np.ones(count)).astype(np.float32)
        tensors = [torch.from_numpy(image) for image in stack]
        mix = torch.tensor(weights[0]) * tensors[0]
        for weight, tensor in zip(weights[1:], tensors[1:], strict=True):
            mix.add_(torch.tensor([weight]) * tensor)
        result = kernels.mix_images(stack, weights.tolist())
        np.testing.assert_array_equal(result, mix.to(torch.uint8).numpy())


def test_a_mix_of_gray_and_colour_has_colour() -> None:
    """Whichever comes first."""
    colour = noise(9, 70)
    gray = colour[:, :, :1].copy()
    weights = [0.25, 0.75]
    as_rgb = np.repeat(gray, 3, axis=2)
    np.testing.assert_array_equal(
        kernels.mix_images([gray, colour], weights), kernels.mix_images([as_rgb, colour], weights)
    )
    np.testing.assert_array_equal(
        kernels.mix_images([colour, gray], weights), kernels.mix_images([colour, as_rgb], weights)
    )


def test_no_bits_are_black() -> None:
    """Policies ask for 0 bits, which Pillow took until it began to refuse them."""
    image = noise(3, 70)
    np.testing.assert_array_equal(ours(image, (Effect.POSTERIZE, [0])), np.zeros_like(image))


def test_what_cannot_be_is_refused() -> None:
    """Errors say what was got."""
    image = noise(3, 4)
    with pytest.raises(CoreError, match="5 is not the number of an effect on colour"):
        kernels.colour_effects(image, [(5, (0, 0, 0))])
    with pytest.raises(CoreError, match=r"some order of 0, 1 and 2, got 0\.0*, 2\.0*, 2\.0*"):
        ours(image, (Effect.PERMUTE_CHANNELS, (0, 2, 2)))
    with pytest.raises(CoreError, match="1 or 3 channels, got 2"):
        kernels.colour_effects(image[:, :, :2].copy(), [])
    with pytest.raises(CoreError, match="one weight for each image, got 2 for 1"):
        kernels.mix_images([image], [0.5, 0.5])
    with pytest.raises(CoreError, match="all images must be of one size, got 2x4 and 3x4"):
        kernels.mix_images([image, image[:2].copy()], [0.5, 0.5])
