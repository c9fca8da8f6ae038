"""Noise follows torchvision's formula, with normal numbers that are the same everywhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from penstock.rng import philox4x32
from tests.kernels import kernels

KEY = (0x12345678, 0x9ABCDEF0)
MANY = 4_000_000


def exact_normals(count: int, key: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Box and Muller's method in float64, on the words of penstock.rng's Philox."""
    groups = -(-count // 4)
    counter = np.zeros((4, groups), dtype=np.uint64)
    counter[0] = np.arange(groups)
    words = philox4x32(counter, np.array(key, dtype=np.uint64)).astype(np.float64)
    pairs = []
    for lengths, angles in ((words[0], words[1]), (words[2], words[3])):
        radius = np.sqrt(-2 * np.log((np.floor(lengths / 2) + 0.5) / 2**31))
        # A quadrant reaches from half before its direction to half behind it.
        quadrant = np.floor(angles / 2**30)
        within = (angles - quadrant * 2**30) / 2**30
        turn = (quadrant + np.where(within >= 0.5, within - 1, within)) * np.pi / 2
        pairs += [radius * np.cos(turn), radius * np.sin(turn)]
    return np.stack(pairs, axis=1).reshape(-1)[:count]


@pytest.mark.parametrize("count", [1, 4, 63, 64, 65, 1023, 1024, 1025, 5000])
def test_numbers_are_those_of_the_formula(isa: str, count: int) -> None:
    """In order, whatever the instruction set works on at once."""
    numbers = kernels.normal_numbers(count, KEY)
    assert numbers.shape == (count,)
    np.testing.assert_allclose(numbers, exact_normals(count, KEY), rtol=5e-6, atol=2e-5)


def test_numbers_have_the_same_bits_everywhere(isa: str) -> None:
    """Polynomials without fused operations leave no room for a difference."""
    numbers = kernels.normal_numbers(100_000, KEY)
    kernels.force_isa("scalar")
    np.testing.assert_array_equal(numbers, kernels.normal_numbers(100_000, KEY))


@pytest.mark.parametrize("key", [(0, 0), (1, 0), (0, 1), KEY])
def test_numbers_are_normal(key: tuple[int, int]) -> None:
    """Moments, distribution and tails within four standard errors; a fixed key cannot flicker."""
    numbers = kernels.normal_numbers(MANY, key).astype(np.float64)
    assert abs(numbers.mean()) < 4 / np.sqrt(MANY)
    assert abs(numbers.var() - 1) < 4 * np.sqrt(2 / MANY)
    assert abs((numbers**3).mean()) < 4 * np.sqrt(15 / MANY)
    assert abs((numbers**4).mean() - 3) < 4 * np.sqrt(96 / MANY)

    # Beyond 1, 2, ... sigma on either side: the tails of the normal distribution.
    for limit, share in [
        (1, 0.15865525),
        (2, 0.02275013),
        (3, 0.0013498980),
        (4, 3.1671242e-5),
        (5, 2.8665157e-7),
    ]:
        for beyond in (np.count_nonzero(numbers > limit), np.count_nonzero(numbers < -limit)):
            expected = share * MANY
            assert abs(beyond - expected) <= 4 * np.sqrt(expected) + 1

    neighbours = (numbers[1:] * numbers[:-1]).mean()
    assert abs(neighbours) < 4 / np.sqrt(MANY)


def test_tails_reach_beyond_five_sigma() -> None:
    """32 bits a number go as far as 6.6."""
    numbers = np.abs(kernels.normal_numbers(4 * MANY, KEY))
    assert 5.2 < numbers.max() < 6.67


def test_keys_give_independent_numbers() -> None:
    """Keys one apart, as samples one apart would use them."""
    first, second = (kernels.normal_numbers(MANY, key) for key in ((7, 1), (8, 1)))
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(MANY)


@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize(("mean", "sigma"), [(0.0, 0.1), (0.3, 0.5), (-1.0, 0.0), (0.0, 200.0)])
def test_noise_is_torchvisions_formula(
    isa: str, torchvision, monkeypatch, photo, mean: float, sigma: float, clip: bool
) -> None:
    """torchvision itself, given our numbers in the place of torch's."""
    import torch
    from torchvision.transforms.v2 import functional as F

    image = photo[:97, :131]
    numbers = kernels.normal_numbers(image.size, KEY).reshape(3, 97, 131)
    monkeypatch.setattr(torch, "randn_like", lambda *_, **__: torch.from_numpy(numbers))
    tensor = torch.from_numpy(image.transpose(2, 0, 1).copy())
    expected = F.gaussian_noise(tensor, mean, sigma, clip).numpy().transpose(1, 2, 0)

    result = kernels.add_gaussian_noise(image, mean * 255, sigma * 255, clip, KEY)

    inside = np.abs(numbers.transpose(1, 2, 0) * (sigma * 255)) < 32000  # torch's casts end there
    np.testing.assert_array_equal(result[inside], expected[inside])
    if clip:
        beyond = numbers.transpose(1, 2, 0)[~inside]
        np.testing.assert_array_equal(result[~inside], np.where(beyond > 0, 255, 0))


@pytest.mark.parametrize("size", [(1, 1), (1, 5), (3, 15), (2, 16), (2, 17), (5, 63), (3, 1100)])
def test_noise_is_counted_by_pixels_not_by_memory(isa: str, size: tuple[int, int]) -> None:
    """Rows that end anywhere; on black without clipping the noise itself can be read off."""
    numbers = kernels.normal_numbers(3 * size[0] * size[1], KEY).reshape(3, *size)
    expected = (numbers * np.float32(9.5)).astype(np.int16).astype(np.uint8)
    black = np.zeros((*size, 3), dtype=np.uint8)
    result = kernels.add_gaussian_noise(black, 0, 9.5, False, KEY)
    np.testing.assert_array_equal(result, expected.transpose(1, 2, 0))


def test_noise_on_gray_is_noise_on_three_equal_channels(isa: str, photo) -> None:
    """Each channel gets noise of its own."""
    gray = photo[..., :1]
    np.testing.assert_array_equal(
        kernels.add_gaussian_noise(gray, 0, 20, True, KEY),
        kernels.add_gaussian_noise(np.repeat(gray, 3, axis=2), 0, 20, True, KEY),
    )


@pytest.mark.parametrize("box", [(3, 2, 5, 40), (0, 0, 0, 3), (0, 0, 20, 50)])
def test_erasing_by_noise_casts_as_torch_does(
    isa: str, torchvision, box: tuple[int, int, int, int]
) -> None:
    """uint8 images keep the whole part of the noise, and wrap around below zero."""
    import torch

    top, left, height, width = box
    numbers = kernels.normal_numbers(3 * height * width, KEY).reshape(3, height, width)
    expected = torch.full((3, 20, 50), 77, dtype=torch.uint8)
    expected[:, top : top + height, left : left + width] = torch.from_numpy(numbers)

    image = np.full((20, 50, 3), 77, dtype=np.uint8)
    result = kernels.erase_with_noise(image, box, KEY)
    np.testing.assert_array_equal(result.transpose(2, 0, 1), expected.numpy())
