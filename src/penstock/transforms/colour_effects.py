"""Single changes of pixel values, each with some probability."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import read_integer, read_number, read_probability
from penstock.transforms.effects import Effect, EffectMove, effect_where, same_effect
from penstock.transforms.op import ImageOp


@dataclass(frozen=True, slots=True, repr=False)
class Grayscale(ImageOp):
    """Make images gray.

    Batches have three channels, so a gray image has three equal ones, whether
    `num_output_channels` is 1 or 3.
    """

    num_output_channels: int = 1

    def __post_init__(self) -> None:
        if self.num_output_channels not in (1, 3):
            raise TransformError(
                f"Grayscale: num_output_channels must be 1 or 3, got {self.num_output_channels!r}."
            )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """Nothing is drawn."""
        del draws
        return (same_effect(Effect.GRAYSCALE, sizes),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomGrayscale(ImageOp):
    """Make an image gray, in three equal channels, with probability `p`."""

    p: float = 0.1

    def __post_init__(self) -> None:
        read_probability("RandomGrayscale", self.p)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One draw decides for each image."""
        return (effect_where(draws.uniform() < self.p, Effect.GRAYSCALE, sizes),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomInvert(ImageOp):
    """Turn values around, 0 to 255 and so on, with probability `p`."""

    p: float = 0.5

    def __post_init__(self) -> None:
        read_probability("RandomInvert", self.p)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One draw decides for each image."""
        return (effect_where(draws.uniform() < self.p, Effect.INVERT, sizes),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomPosterize(ImageOp):
    """Keep the upper `bits` (0 to 8) of every value, with probability `p`."""

    bits: int
    p: float = 0.5

    def __post_init__(self) -> None:
        read_integer("RandomPosterize", "bits", self.bits, least=0, most=8)
        read_probability("RandomPosterize", self.p)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One draw decides for each image."""
        return (effect_where(draws.uniform() < self.p, Effect.POSTERIZE, sizes, self.bits),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomSolarize(ImageOp):
    """Turn around the values from `threshold` on, with probability `p`."""

    threshold: float
    p: float = 0.5

    def __post_init__(self) -> None:
        read_number("RandomSolarize", "threshold", self.threshold)
        read_probability("RandomSolarize", self.p)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One draw decides for each image."""
        return (effect_where(draws.uniform() < self.p, Effect.SOLARIZE, sizes, self.threshold),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomEqualize(ImageOp):
    """Spread the values of each channel evenly, with probability `p`."""

    p: float = 0.5

    def __post_init__(self) -> None:
        read_probability("RandomEqualize", self.p)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One draw decides for each image."""
        return (effect_where(draws.uniform() < self.p, Effect.EQUALIZE, sizes),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomAutocontrast(ImageOp):
    """Stretch the values of each channel to 0..255, with probability `p`."""

    p: float = 0.5

    def __post_init__(self) -> None:
        read_probability("RandomAutocontrast", self.p)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One draw decides for each image."""
        return (effect_where(draws.uniform() < self.p, Effect.AUTOCONTRAST, sizes),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomAdjustSharpness(ImageOp):
    """Blur (factor below 1) or sharpen (above 1) an image, with probability `p`."""

    sharpness_factor: float
    p: float = 0.5

    def __post_init__(self) -> None:
        where = "RandomAdjustSharpness"
        read_number(where, "sharpness_factor", self.sharpness_factor, least=0)
        read_probability(where, self.p)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One draw decides for each image."""
        chosen = draws.uniform() < self.p
        return (effect_where(chosen, Effect.SHARPNESS, sizes, self.sharpness_factor),)
