"""Gaussian blur, with the weights that the installed torch gives: the bits of torchvision's.

torch decides on the last bit (see `torch_blur`), so blurs are left to it unless some of them were
tried in both ways on this machine, and agreed.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from penstock._core import Effect
from penstock.transforms.arguments import Generation
from penstock.transforms.functional.arguments import Padding, Sigma, read_blur
from penstock.transforms.functional.native.memory import instead_of, run_effect, size_of
from penstock.transforms.functional.pillow import colour as pillow
from penstock.transforms.torch_blur import MOST_WEIGHTS, torch_weights, weights_needed

Numbers = tuple[float, ...]

_PROBES = (((3, 3), 0.7, (9, 14)), ((9, 5), 2.3, (20, 71)), ((23, 23), 1.9, (24, 90)))


@instead_of(pillow.gaussian_blur)
def gaussian_blur(image: Any, kernel_size: Padding, sigma: Sigma = None) -> Any:
    """Blurred as torch does, in float32."""
    numbers = blur_numbers(size_of(image), kernel_size, sigma)
    return None if numbers is None else run_effect(image, Effect.GAUSSIAN_BLUR, *numbers)


def blur_numbers(
    size: tuple[int, int], kernel_size: Padding, sigma: Sigma, generation: Generation = 2
) -> Numbers | None:
    """The numbers of the effect; None for a blur that the core does not do as torch does."""
    (width, height), (across, down) = read_blur(kernel_size, sigma)
    fits = size[0] > height // 2 and size[1] > width // 2
    is_usual = across == down and weights_needed(width, height) <= MOST_WEIGHTS
    if not (fits and is_usual and _agrees()):
        return None
    return (width, height, across, down, *_weights(width, height, across, generation))


@lru_cache(maxsize=256)
def _weights(width: int, height: int, sigma: float, generation: Generation) -> Numbers:
    """Those of one kernel; sigmas that are not drawn come again and again."""
    return tuple(torch_weights(width, height, np.array([sigma]), generation)[0].tolist())


@cache
def _agrees() -> bool:
    """Whether the core and the installed torch give the same bytes for some blurs."""
    try:
        torch: Any = import_module("torch")
    except ImportError:
        return False
    blur: Any = import_module("penstock.transforms.functional.tensors.filter").blur_by_torch
    rng = np.random.default_rng(0)
    for (width, height), sigma, size in _PROBES:
        pixels = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
        weights = torch_weights(width, height, np.array([sigma]), generation=2)[0]
        numbers = (width, height, sigma, sigma, *weights.tolist())
        ours = run_effect(pixels, Effect.GAUSSIAN_BLUR, *numbers)
        planes = torch.from_numpy(pixels).permute(2, 0, 1)
        theirs = blur(planes, [width, height], [sigma, sigma]).permute(1, 2, 0).numpy()
        if not np.array_equal(ours, theirs):
            return False
    return True
