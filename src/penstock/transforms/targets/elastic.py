"""Where an elastic warp sends points.

As torchvision has it, approximately: the image looks for a pixel at its place plus a displacement,
points move by the same displacement backwards. It is the one at the pixel the point lies in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.geometry import Floats, Size
from penstock.rng import philox4x32
from penstock.transforms.elastic import elastic_kernel_px

Points = npt.NDArray[np.floating[Any]]


def shift_elastic(numbers: Floats, size: Size) -> Callable[[Points], Floats]:
    """How points move under an ELASTIC effect with these numbers, on an image of this size."""
    across, down = elastic_field(numbers, size)

    def shift(points: Points) -> Floats:
        """Move points (..., 2) at whole places; those outside go to the border first."""
        x = np.clip(points[..., 0], 0, size.width - 1).astype(np.int64)
        y = np.clip(points[..., 1], 0, size.height - 1).astype(np.int64)
        return np.stack([x - across[y, x], y - down[y, x]], axis=-1)

    return shift


def elastic_field(numbers: Floats, size: Size) -> tuple[Floats, Floats]:
    """Displacements of every pixel, across and down, in pixels.

    Noise from -1 to 1 is blurred with the effect's sigmas and multiplied by half its alphas.
    """
    alphas, sigmas = numbers[0:2], numbers[2:4]
    across, down = (
        (_blur(noise, elastic_kernel_px(sigma), sigmas) if sigma > 0 else noise) * (alpha / 2)
        for noise, alpha, sigma in zip(_noise(numbers[6:8], size), alphas, sigmas, strict=True)
    )
    return across, down


def _noise(key: Floats, size: Size) -> Floats:
    """Two planes from -1 to 1: upper bits of the first two words of each pixel's Philox block."""
    pixels = np.arange(size.height * size.width, dtype=np.uint64)
    counter = np.zeros((4, len(pixels)), dtype=np.uint64)
    counter[0] = pixels
    words = philox4x32(counter, key.astype(np.uint64))[:2]
    planes = np.right_shift(words, np.uint64(8)).reshape(2, size.height, size.width)
    noise: Floats = planes.astype(np.float64) * 2.0**-23 - 1
    return noise


def _blur(plane: Floats, kernel: int, sigmas: Floats) -> Floats:
    across = _blur_rows(plane, kernel, sigmas[0])
    return np.transpose(_blur_rows(np.transpose(across), kernel, sigmas[1]))


def _blur_rows(plane: Floats, kernel: int, sigma: float) -> Floats:
    """A Gaussian along each row, mirrored at the ends without repeating the last pixel."""
    reach = kernel // 2
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(sigma, 1e-6)) ** 2)
    weights /= weights.sum()
    padded = np.pad(plane, ((0, 0), (reach, reach)), mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=1)
    blurred: Floats = windows @ weights
    return blurred
