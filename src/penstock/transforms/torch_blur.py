"""Blurring to the byte as torchvision does with the torch that is installed.

torchvision convolves a float32 tensor with a two-dimensional kernel. Two things decide on the last
bit: the kernel's weights, whose exponentials and sums differ between versions of torch and between
CPUs, and the order in which the products are summed up. Weights are asked of torch itself, image by
image. The order is the same wherever the CPU has fused multiply-add: row by row from the first
weight, each product added in one rounding. `check_installed_torch` tries whether both are true on
this machine.
"""

from __future__ import annotations

import math
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import Effect
from penstock.errors import TransformError
from penstock.geometry import Floats
from penstock.transforms.arguments import Generation
from penstock.transforms.effects import room_for

Float32s = npt.NDArray[np.float32]

MOST_WEIGHTS = room_for(Effect.GAUSSIAN_BLUR, "weights")

# Kernel (width, height), sigma and image (height, width) of the blurs that are compared.
_PROBES = (
    ((3, 3), 0.7, (9, 14)),
    ((5, 5), 1.1, (33, 40)),
    ((9, 5), 2.3, (20, 71)),
    ((23, 23), 0.4, (40, 24)),
    ((23, 23), 1.9, (24, 90)),
)


def weights_needed(width: int, height: int) -> int:
    """How many different weights a kernel has; in a square one, both directions share theirs."""
    across, down = width // 2 + 1, height // 2 + 1
    return across if width == height else across + down


def torch_weights(width: int, height: int, sigmas: Floats, generation: Generation) -> Float32s:
    """The weights of kernels with these sigmas, a row each: from the middle across, then down."""
    sides = (width,) if width == height else (width, height)
    return np.concatenate(
        [[_half_kernel(side, sigma, generation) for sigma in sigmas.tolist()] for side in sides],
        axis=1,
    )


def _half_kernel(side: int, sigma: float, generation: Generation) -> Float32s:
    """Half of a kernel, by the operations that torchvision calls, so with the same bits."""
    torch: Any = import_module("torch")
    places = _places(side, generation)
    if generation == 2:
        kernel = torch.softmax(places.div(sigma).pow_(2).neg_(), dim=0)
    else:
        heights = torch.exp(-0.5 * (places / sigma).pow(2))
        kernel = heights / heights.sum()
    half: Float32s = kernel.numpy()[side // 2 :]
    return half


@cache
def _places(side: int, generation: Generation) -> Any:
    torch: Any = import_module("torch")
    reach = (side - 1) / (2 * math.sqrt(2)) if generation == 2 else (side - 1) * 0.5
    return torch.linspace(-reach, reach, steps=side, dtype=torch.float32, device="cpu")


def both_directions(width: int, height: int, weights: Float32s) -> tuple[Float32s, Float32s]:
    """The kernel across and the one down, of weights from the middle outwards."""
    across = weights[: width // 2 + 1]
    down = across if width == height else weights[width // 2 + 1 : weights_needed(width, height)]
    return np.concatenate([across[:0:-1], across]), np.concatenate([down[:0:-1], down])


def fused_sums(products: npt.NDArray[Any], kernel: Float32s) -> Float32s:
    """Sum up (weights, ...) values, each times its weight, in fused multiply-adds.

    NumPy has none. A product of two float32 is exact as a double; a sum of doubles that was inexact
    is made odd in its last bit, and then rounds to float32 as the exact sum does.
    """
    sums = np.zeros(products.shape[1:], dtype=np.float32)
    for values, weight in zip(products, kernel.ravel(), strict=True):
        product = values.astype(np.float64) * np.float64(weight)
        before = sums.astype(np.float64)
        total = product + before
        part = total - product
        lost = (product - (total - part)) + (before - part)
        even = (total.view(np.int64) & 1) == 0
        odd = np.nextafter(total, np.where(lost > 0, np.inf, -np.inf))
        sums = np.where((lost != 0) & even, odd, total).astype(np.float32)
    return sums


@cache
def check_installed_torch(generation: Generation) -> None:
    """Raise TransformError unless the installed torchvision blurs as this module says it does."""
    where = "torchvision.transforms" + (".v2" if generation == 2 else "") + ".functional"
    try:
        torch: Any = import_module("torch")
        functional: Any = import_module(where)
    except (ImportError, RuntimeError) as error:  # RuntimeError: builds that do not fit each other
        raise TransformError(
            f"GaussianBlur: this flavor needs torch and torchvision ({error}). Leave it out."
        ) from error
    rng = np.random.default_rng(0)
    for (width, height), sigma, size in _PROBES:
        pixels = rng.integers(0, 256, (3, *size)).astype(np.float32)
        # A tensor of floats is blurred as one of bytes, without being rounded at the end.
        blurred = functional.gaussian_blur(torch.from_numpy(pixels), [width, height], [sigma] * 2)
        weights = torch_weights(width, height, np.array([sigma]), generation)[0]
        if not np.array_equal(blurred.numpy(), _fused_blur(pixels, width, height, weights)):
            raise TransformError(
                f"GaussianBlur: torch {torch.__version__} sums up a blur on this CPU in a way that "
                "this version of penstock does not know, so its bytes cannot be promised. "
                "Use penstock.transforms.GaussianBlur without flavor, which is within a level."
            )


def _fused_blur(planes: Float32s, width: int, height: int, weights: Float32s) -> Float32s:
    """(channels, height, width) convolved with a kernel, borders mirrored."""
    down, across = height // 2, width // 2
    padded = np.pad(planes, [(0, 0), (down, down), (across, across)], "reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), (1, 2))
    products = np.moveaxis(windows.reshape(*planes.shape, -1), -1, 0)
    kernel_across, kernel_down = both_directions(width, height, weights)
    return fused_sums(products, np.outer(kernel_down, kernel_across))
