"""Padding gives the very bytes of torchvision's pad on Pillow images."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageOps

from penstock import CoreError
from tests.kernels import kernels

Bytes = npt.NDArray[np.uint8]

PADDINGS = [(0, 0, 0, 0), (4, 4, 4, 4), (1, 2, 3, 0), (0, 7, 31, 5), (60, 33, 45, 71)]
SIZES = [(1, 1), (1, 6), (5, 1), (2, 3), (17, 9), (32, 32)]


def torchvision_pad(
    image: Bytes, padding: tuple[int, int, int, int], mode: str, fill: tuple[int, int, int]
) -> Bytes:
    """The two calls that torchvision's pad makes for a Pillow image."""
    if mode == "constant":
        expanded = ImageOps.expand(Image.fromarray(image), border=padding, fill=fill)
        return np.asarray(expanded)
    left, top, right, bottom = padding
    amounts = ((top, bottom), (left, right), (0, 0))
    padded: Bytes = np.pad(image, amounts, mode)  # type: ignore[call-overload]
    return padded


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("padding", PADDINGS, ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("channels", [1, 3])
def test_pad_is_torchvisions(
    mode: str, padding: tuple[int, int, int, int], size: tuple[int, int], channels: int
) -> None:
    """Every mode, also by more than the image holds."""
    rng = np.random.default_rng(size)
    image = rng.integers(0, 256, (*size, channels), dtype=np.uint8)
    fill = (10, 20, 30) if channels == 3 else (10, 10, 10)

    result = kernels.pad(image, *padding, mode=mode, fill=fill)

    rgb = np.repeat(image, 3, axis=2) if channels == 1 else image
    np.testing.assert_array_equal(
        result.transpose(1, 2, 0), torchvision_pad(rgb, padding, mode, fill)
    )


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_torchvision_still_makes_those_calls(torchvision, mode: str) -> None:
    """Guards the stand-in above against a change in torchvision."""
    from torchvision.transforms.v2 import functional as F

    image = np.random.default_rng(0).integers(0, 256, (12, 9, 3), dtype=np.uint8)
    padding, fill = (3, 40, 5, 2), (10, 20, 30)

    padded = F.pad(Image.fromarray(image), list(padding), fill=list(fill), padding_mode=mode)

    np.testing.assert_array_equal(np.asarray(padded), torchvision_pad(image, padding, mode, fill))


def test_negative_padding_is_refused() -> None:
    """Cropping has its own kernel."""
    with pytest.raises(CoreError, match=r"must not be negative, got -1\. Crop instead"):
        kernels.pad(np.zeros((4, 4, 3), dtype=np.uint8), -1, 0, 0, 0)
