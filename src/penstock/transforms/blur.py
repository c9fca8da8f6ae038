"""Blurring by a random amount."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import read_pair, read_size
from penstock.transforms.effects import Effect, EffectMove, same_effect
from penstock.transforms.op import ImageOp
from penstock.transforms.policies.spaces import read_generation
from penstock.transforms.torch_blur import (
    MOST_WEIGHTS,
    check_installed_torch,
    torch_weights,
    weights_needed,
)


@dataclass(frozen=True, slots=True, repr=False)
class GaussianBlur(ImageOp):
    """Blur with a Gaussian whose sigma is drawn from `sigma`, (min, max) or one number.

    `kernel_size` is an odd number of pixels, or (width, height) as torchvision has it here.
    `flavor` None gives the same bytes on every machine, within a level of torchvision's.
    "torchvision" and "torchvision_v1" give the bytes of its v2 and v1 transforms, with weights from
    the torch that is installed; a torch that would give others is refused.
    """

    kernel_size: int | Sequence[int]
    sigma: float | Sequence[float] = (0.1, 2.0)
    flavor: Literal["torchvision", "torchvision_v1"] | None = None
    _width: int = field(init=False, repr=False, compare=False)
    _height: int = field(init=False, repr=False, compare=False)
    _sigmas: tuple[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        width, height = read_size(
            "GaussianBlur", self.kernel_size, name="kernel_size", order="(width, height)"
        )
        if width % 2 == 0 or height % 2 == 0:
            raise TransformError(
                f"GaussianBlur: kernel_size must be odd, got {self.kernel_size!r}."
            )
        low, high = read_pair("GaussianBlur", "sigma", self.sigma)
        if not 0 < low <= high:
            raise TransformError(
                f"GaussianBlur: sigma must be positive and (min, max), got {self.sigma!r}."
            )
        self._keep(_width=width, _height=height, _sigmas=(low, high))
        if self.flavor is not None:
            needed = weights_needed(width, height)
            if needed > MOST_WEIGHTS:
                raise TransformError(
                    f"GaussianBlur: flavor is for kernels with up to {MOST_WEIGHTS} different "
                    f"weights, and {height}x{width} has {needed}. "
                    "Use penstock.transforms.GaussianBlur without flavor, which is within a level."
                )
            check_installed_torch(read_generation("GaussianBlur", self.flavor))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One sigma for each image, the same in both directions."""
        require_room("GaussianBlur", self._width, self._height, draws, sizes)
        sigma = draws.uniform(*self._sigmas)
        numbers = (self._width, self._height, sigma, sigma)
        if self.flavor is None:
            return (same_effect(Effect.GAUSSIAN_BLUR, sizes, *numbers),)
        generation = read_generation("GaussianBlur", self.flavor)
        weights = torch_weights(self._width, self._height, sigma, generation)
        return (same_effect(Effect.GAUSSIAN_BLUR, sizes, *numbers, *weights.T),)


def require_room(where: str, width: int, height: int, draws: Draws, sizes: Sizes) -> None:
    """Raise if half a kernel does not fit an image: its border is mirrored, once at most."""
    small = (sizes.width <= width // 2) | (sizes.height <= height // 2)
    if small.any():
        row = int(small.argmax())
        raise TransformError(
            f"{where} (step {draws.stream + 1}): the kernel is {height}x{width} but the image of "
            f"sample {draws.sample_at(row)} is {sizes[row]} here, less than half of it. "
            f"Resize first, or use a smaller kernel."
        )
