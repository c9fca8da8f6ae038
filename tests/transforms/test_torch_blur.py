"""Blurs by torch's own weights: what is tried before they are promised."""

import math
from fractions import Fraction

import numpy as np
import pytest

from drawn import batch
from penstock import TransformError
from penstock import transforms as T
from penstock._core import Effect
from penstock.transforms import torch_blur
from penstock.transforms.torch_blur import check_installed_torch, fused_sums, torch_weights


@pytest.mark.parametrize("generation", [1, 2])
def test_the_installed_torch_is_known(torchvision, generation):
    check_installed_torch(generation)


def test_weights_or_an_order_that_differ_are_refused(torchvision, monkeypatch):
    right = torch_blur.fused_sums

    def otherwise(products, kernel):
        return np.nextafter(right(products, kernel), np.float32(0))

    check_installed_torch.cache_clear()
    monkeypatch.setattr(torch_blur, "fused_sums", otherwise)
    with pytest.raises(TransformError, match=r"torch .* sums up a blur .* without flavor"):
        T.GaussianBlur(5, flavor="torchvision")
    check_installed_torch.cache_clear()


def test_fused_sums_round_once():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 256, (9, 400))
    kernel = rng.random(9, dtype=np.float32) / 9
    sums = [Fraction(0)] * 400
    for row, weight in zip(values.tolist(), kernel.tolist(), strict=True):
        exact = [s + Fraction(weight) * v for s, v in zip(sums, row, strict=True)]
        sums = [_nearest_float32(value) for value in exact]
    assert fused_sums(values, kernel).tolist() == [float(value) for value in sums]


def _nearest_float32(value):
    if not value:
        return value
    exponent = math.floor(math.log2(value)) - 23
    while value / Fraction(2) ** exponent >= 2**24:
        exponent += 1
    return round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent


def test_weights_go_with_the_draws(torchvision):
    (move,) = batch(T.GaussianBlur((5, 3), (0.5, 2), flavor="torchvision_v1"), 4, (20, 30))
    assert (move.effect == Effect.GAUSSIAN_BLUR).all()
    for row in range(4):
        drawn = move.parameters(row)
        (expected,) = torch_weights(5, 3, np.array([drawn["sigma_across"]]), 1)
        assert np.float32(drawn["weights"][:5]).tolist() == expected.tolist()
        assert not any(drawn["weights"][5:])
