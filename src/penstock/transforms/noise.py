"""Adding noise."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import read_number
from penstock.transforms.effects import Effect, EffectMove, same_effect, split_key
from penstock.transforms.op import ImageOp


@dataclass(frozen=True, slots=True, repr=False)
class GaussianNoise(ImageOp):
    """Add normal noise to every value; `mean` and `sigma` are for values of 0 to 1.

    Without `clip`, values beyond 0..255 come in again at the other end, as in torchvision.
    """

    mean: float = 0.0
    sigma: float = 0.1
    clip: bool = True

    def __post_init__(self) -> None:
        read_number("GaussianNoise", "mean", self.mean)
        read_number("GaussianNoise", "sigma", self.sigma, least=0)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """A key for each image; the noise itself is made from it, pixel by pixel, later."""
        key = split_key(draws.bits()[0])
        numbers = (self.mean, self.sigma, float(self.clip), *key)
        return (same_effect(Effect.GAUSSIAN_NOISE, sizes, *numbers),)
