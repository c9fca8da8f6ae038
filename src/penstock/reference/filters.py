"""The oracle of blur, noise and elastic bending, in plain NumPy.

torchvision computes these on float32 tensors. A blur is summed up in the same way; the others are
computed in doubles. Rounded to whole levels, the results are the same, except that values close to
a half may differ by one level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.geometry import Floats, Ints
from penstock.rng import Words, philox4x32
from penstock.transforms.torch_blur import both_directions, fused_sums
from penstock.transforms.warp import elastic_kernel_px

Pixels = npt.NDArray[np.uint8]
Key = tuple[float, float]  # two 32-bit words
Pair = tuple[float, float]  # across, down

_NEAREST, _BILINEAR = 0, 2


def blur(
    pixels: Pixels, kernel: tuple[int, int], sigma: Pair, weights: Floats | Sequence[float] = ()
) -> Pixels:
    """Convolve with a Gaussian of `kernel` (width, height) pixels, borders mirrored.

    `weights` are from the middle outwards, across and then down unless the kernel is square; none,
    or zeros, take those that `sigma` gives. The core sums up in fused multiply-adds of float32;
    that is done here only where it may round to another level than the exact sum.
    """
    width, height = kernel
    given = np.array(weights, dtype=np.float32)
    if given.any():
        across, down = both_directions(width, height, given)
    else:
        across, down = (_float32_weights(*each) for each in zip(kernel, sigma, strict=True))
    sums = _convolve(pixels.astype(np.float64), across, down)
    # Half a unit in the last place for each product, and for that of the weights.
    errors = 2.0**-17 * (width + 2) * (height + 2)
    doubtful = np.abs(sums - np.rint(sums)) > 0.5 - errors
    borders = [(height // 2, height // 2), (width // 2, width // 2), (0, 0)]
    padded = np.pad(pixels, borders, "reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), (0, 1))
    values = windows[doubtful].reshape(-1, width * height).T
    sums[doubtful] = fused_sums(values, np.outer(down, across))
    return to_levels(sums)


def _float32_weights(side: int, sigma: float) -> npt.NDArray[np.float32]:
    """The weights that a sigma gives, in the core's steps of float32."""
    reach, one = side // 2, np.float32
    limit = one((side - 1) / (2 * math.sqrt(2)))
    step = one(0) if side == 1 else one(2) * limit / one(side - 1)
    weights = np.zeros(reach + 1, dtype=np.float32)
    total = one(0)
    for away in range(reach, -1, -1):
        place = limit - step * one(reach - away) if away else one(0)
        scaled = place / one(sigma)
        weights[away] = math.exp(-float(scaled * scaled))
        total += weights[away] if away == 0 else one(2) * weights[away]
    weights /= total
    return np.concatenate([weights[:0:-1], weights])


def add_noise(pixels: Pixels, mean: float, sigma: float, *, clip: bool, key: Key) -> Pixels:
    """Add whole levels of noise; its numbers run along rows, one channel after the other."""
    height, width, channels = pixels.shape
    normals = normal_numbers(key, pixels.size).reshape(channels, height, width).transpose(1, 2, 0)
    scaled = np.float32(mean * 255) + normals * np.float32(sigma * 255)
    noisy: Ints = pixels + np.trunc(scaled).astype(np.int64)
    return (noisy.clip(0, 255) if clip else noisy & 255).astype(np.uint8)


def normal_numbers(key: Key, count: int) -> npt.NDArray[np.float32]:
    """Normal numbers by Box and Muller, four from each Philox block.

    A pair of words gives a length and a direction in the plane, and so two numbers.
    """
    words = _blocks(key, (count + 3) // 4).astype(np.int64)
    numbers = np.empty((words.shape[1], 4))
    for pair in (0, 2):
        length = np.sqrt(-2 * np.log(((words[pair] >> 1) + 0.5) * 2.0**-31))
        turn = words[pair + 1]
        within_quarter = (turn & 0x3FFFFFFF) * 2.0**-30
        within_quarter -= within_quarter >= 0.5
        angle = ((turn >> 30) + within_quarter) * (np.pi / 2)
        numbers[:, pair] = length * np.cos(angle)
        numbers[:, pair + 1] = length * np.sin(angle)
    return numbers.ravel()[:count].astype(np.float32)


def elastic_displacements(
    size: tuple[int, ...], alpha: Pair, sigma: Pair, key: Key
) -> tuple[Floats, Floats]:
    """How far each pixel of an image of `size` is displaced: across and down, in pixels.

    Noise between -1 and 1 comes from the first two words of each pixel's own Philox block.
    """
    height, width = size
    upper_24 = (_blocks(key, height * width)[:2] >> np.uint64(8)).astype(np.float64)
    noises = (upper_24 * 2.0**-23 - 1).reshape(2, height, width)
    fields = []
    for noise, strength, own_sigma in zip(noises, alpha, sigma, strict=True):
        side = elastic_kernel_px(own_sigma)
        smooth = _blur(noise, (side, side), sigma) if own_sigma > 0 else noise
        fields.append(smooth * strength / 2)
    return fields[0], fields[1]


def displace(
    pixels: Pixels, displacements: tuple[Floats, Floats], filter: int, fill: tuple[int, int, int]
) -> Pixels:
    """Sample `pixels` at displaced places, `fill` outside.

    Where a place lies partly outside, torchvision darkens what is inside a second time; so do we.
    """
    height, width = pixels.shape[:2]
    x = np.arange(width) + displacements[0]
    y = np.arange(height)[:, None] + displacements[1]
    sampled = np.zeros((height, width, 3))
    covered = np.zeros((height, width, 1))
    x_taps, y_taps = _taps(x, filter), _taps(y, filter)
    for row, row_weight in y_taps:
        for column, column_weight in x_taps:
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            weight = (row_weight * column_weight * inside)[:, :, None]
            taken = pixels[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
            sampled += weight * taken
            covered += weight
    return to_levels(sampled * covered + (1 - covered) * np.array(fill))


def to_levels(values: Floats) -> Pixels:
    """Round to whole levels, halves to the even one."""
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def _taps(place: Floats, filter: int) -> list[tuple[Ints, Floats]]:
    """The pixels around a place, and how much each counts."""
    if filter == _NEAREST:
        return [(np.rint(place).astype(np.int64), np.ones_like(place))]
    base = np.floor(place)
    beyond = place - base
    first = base.astype(np.int64)
    if filter == _BILINEAR:
        return [(first, 1 - beyond), (first + 1, beyond)]
    return [(first + tap, _cubic(np.abs(beyond - tap))) for tap in (-1, 0, 1, 2)]


def _cubic(distance: Floats) -> Floats:
    """Keys' kernel with -0.75, torch's choice (Pillow's is -0.5)."""
    a = -0.75
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def _blur(values: Floats, kernel: tuple[int, int], sigma: Pair) -> Floats:
    sides = zip(kernel, sigma, strict=True)
    across, down = (np.exp(-0.5 * ((np.arange(n) - n // 2) / one) ** 2) for n, one in sides)
    return _convolve(values, across / across.sum(), down / down.sum())


def _convolve(values: Floats, across: npt.NDArray[Any], down: npt.NDArray[Any]) -> Floats:
    """Along rows, then along columns: the same as both at once."""
    for axis, weights in ((1, across), (0, down)):
        side = len(weights)
        borders = [(0, 0)] * values.ndim
        borders[axis] = (side // 2, side // 2)
        padded = np.pad(values, borders, "reflect")
        length = values.shape[axis]
        parts = (np.take(padded, range(start, start + length), axis) for start in range(side))
        values = np.add.reduce([float(w) * part for w, part in zip(weights, parts, strict=True)])
    return values


def _blocks(key: Key, count: int) -> Words:
    """Philox blocks 0 .. count - 1 of a key: (4, count) words of 32 bits."""
    counter = np.zeros((4, count), dtype=np.uint64)
    index = np.arange(count, dtype=np.uint64)
    counter[0], counter[1] = index & np.uint64(0xFFFFFFFF), index >> np.uint64(32)
    return philox4x32(counter, np.array(key, dtype=np.float64).astype(np.uint64))
