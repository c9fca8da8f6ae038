"""Colours: single changes of pixel values, and several in random order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from penstock._core import Effect
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms import functional as F
from penstock.transforms.arguments import read_integer, read_jitter, read_number, read_probability
from penstock.transforms.effects import (
    EffectMove,
    effect_where,
    mixed_effects,
    only_where,
    same_effect,
)
from penstock.transforms.inputs import IMAGES, SINGLE_IMAGES, query_chw
from penstock.transforms.op import ImageOp, Params
from penstock.transforms.torch_draws import chance, order, uniform

Range = tuple[float, float]
Jitter = float | Sequence[float] | None

# name, effect, the factor that changes nothing, least and most factor
_ADJUSTMENTS = (
    ("brightness", Effect.BRIGHTNESS, 1.0, 0.0, math.inf),
    ("contrast", Effect.CONTRAST, 1.0, 0.0, math.inf),
    ("saturation", Effect.SATURATION, 1.0, 0.0, math.inf),
    ("hue", Effect.HUE, 0.0, -0.5, 0.5),
)

_FUNCTIONS: tuple[Any, ...] = (
    F.adjust_brightness,
    F.adjust_contrast,
    F.adjust_saturation,
    F.adjust_hue,
)


@dataclass(frozen=True, slots=True, repr=False)
class Grayscale(ImageOp):
    """Make images gray.

    Batches have three channels, so a gray image has three equal ones, whether
    `num_output_channels` is 1 or 3. Called, it gives as many channels as it says.
    """

    num_output_channels: int = 1
    changes: ClassVar[int] = SINGLE_IMAGES

    def __post_init__(self) -> None:
        if self.num_output_channels not in (1, 3):
            raise TransformError(
                f"Grayscale: num_output_channels must be 1 or 3, got {self.num_output_channels!r}."
            )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Make it gray."""
        del params
        return F.rgb_to_grayscale(inpt, num_output_channels=self.num_output_channels)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """Nothing is drawn."""
        del draws
        return (same_effect(Effect.GRAYSCALE, sizes),)


class _Sometimes(ImageOp):
    """One effect, with probability `p`."""

    __slots__ = ()

    p: float
    effect: ClassVar[Effect]
    has_chance: ClassVar[bool] = True
    changes: ClassVar[int] = IMAGES

    def __post_init__(self) -> None:
        read_probability(type(self).__name__, self.p)

    def parameters(self) -> dict[str, float]:
        """The effect's parameters."""
        return {}

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One draw decides for each image."""
        chosen = draws.uniform() < self.p
        return (effect_where(chosen, self.effect, sizes, **self.parameters()),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomGrayscale(_Sometimes):
    """Make an image gray, in three equal channels, with probability `p`."""

    p: float = 0.1
    effect = Effect.GRAYSCALE
    changes: ClassVar[int] = SINGLE_IMAGES

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Nothing is drawn: as many channels as there were."""
        return {"num_input_channels": query_chw(flat_inputs)[0]}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Make it gray."""
        return F.rgb_to_grayscale(inpt, num_output_channels=params["num_input_channels"])


@dataclass(frozen=True, slots=True, repr=False)
class RandomInvert(_Sometimes):
    """Invert an image: every value becomes 255 minus itself, with probability `p`."""

    p: float = 0.5
    effect = Effect.INVERT

    def transform(self, inpt: Any, params: Params) -> Any:
        """Invert it."""
        del params
        return F.invert(inpt)


@dataclass(frozen=True, slots=True, repr=False)
class RandomPosterize(_Sometimes):
    """Keep the upper `bits` (0 to 8) of every value, with probability `p`."""

    bits: int
    p: float = 0.5
    effect = Effect.POSTERIZE

    def __post_init__(self) -> None:
        read_integer("RandomPosterize", "bits", self.bits, least=0, most=8)
        _Sometimes.__post_init__(self)

    def parameters(self) -> dict[str, float]:
        """The bits that are kept."""
        return {"bits": self.bits}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Keep the upper bits."""
        del params
        return F.posterize(inpt, bits=int(self.bits))


@dataclass(frozen=True, slots=True, repr=False)
class RandomSolarize(_Sometimes):
    """Invert the values from `threshold` on, with probability `p`."""

    threshold: float
    p: float = 0.5
    effect = Effect.SOLARIZE

    def __post_init__(self) -> None:
        read_number("RandomSolarize", "threshold", self.threshold)
        _Sometimes.__post_init__(self)

    def parameters(self) -> dict[str, float]:
        """The threshold."""
        return {"threshold": self.threshold}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Invert the upper values; the threshold is on the image's own scale."""
        del params
        return F.solarize(inpt, threshold=self.threshold)


@dataclass(frozen=True, slots=True, repr=False)
class RandomEqualize(_Sometimes):
    """Spread the values of each channel evenly, with probability `p`."""

    p: float = 0.5
    effect = Effect.EQUALIZE

    def transform(self, inpt: Any, params: Params) -> Any:
        """Spread the values."""
        del params
        return F.equalize(inpt)


@dataclass(frozen=True, slots=True, repr=False)
class RandomAutocontrast(_Sometimes):
    """Stretch the values of each channel to 0..255, with probability `p`."""

    p: float = 0.5
    effect = Effect.AUTOCONTRAST

    def transform(self, inpt: Any, params: Params) -> Any:
        """Stretch the values."""
        del params
        return F.autocontrast(inpt)


@dataclass(frozen=True, slots=True, repr=False)
class RandomAdjustSharpness(_Sometimes):
    """Blur (factor below 1) or sharpen (above 1) an image, with probability `p`."""

    sharpness_factor: float
    p: float = 0.5
    effect = Effect.SHARPNESS

    def __post_init__(self) -> None:
        where = "RandomAdjustSharpness"
        read_number(where, "sharpness_factor", self.sharpness_factor, least=0)
        _Sometimes.__post_init__(self)

    def parameters(self) -> dict[str, float]:
        """The factor."""
        return {"factor": self.sharpness_factor}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Blur or sharpen it."""
        del params
        return F.adjust_sharpness(inpt, sharpness_factor=self.sharpness_factor)


@dataclass(frozen=True, slots=True, repr=False)
class ColorJitter(ImageOp):
    """Change brightness, contrast, saturation and hue by random factors, in random order.

    Each argument is a number, the largest distance from no change, or (min, max), or None, which
    leaves this property alone.
    """

    brightness: Jitter = None
    contrast: Jitter = None
    saturation: Jitter = None
    hue: Jitter = None
    changes: ClassVar[int] = IMAGES
    _ranges: dict[Effect, Range] = field(init=False, repr=False, compare=False)
    _limits: tuple[tuple[str, Range | None], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ranges = _read_ranges("ColorJitter", self)
        limits = ((f"{name}_factor", ranges.get(effect)) for name, effect, *_ in _ADJUSTMENTS)
        self._keep(_ranges=ranges, _limits=tuple(limits))

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw an order, then a factor for each property that changes."""
        del flat_inputs
        params = {"fn_idx": order(len(_ADJUSTMENTS))}
        for argument, limits in self._limits:
            params[argument] = None if limits is None else uniform(*limits)
        return params

    def transform(self, inpt: Any, params: Params) -> Any:
        """Adjust one property after the other."""
        for place in params["fn_idx"].tolist():
            factor = params[self._limits[place][0]]
            if factor is not None:
                inpt = _FUNCTIONS[place](inpt, factor)
        return inpt

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """An order for each image, and a factor for each adjustment."""
        effects = np.array(list(self._ranges), dtype=np.int64)
        count = len(effects)
        draws.reserve(2 * count)
        order = draws.orders(count)
        factors = np.array([draws.uniform(*limits) for limits in self._ranges.values()])
        rows = np.arange(len(sizes))
        kinds = list(self._ranges)
        return tuple(
            mixed_effects(effects[turn], sizes, kinds, factor=factors[turn, rows]) for turn in order
        )


@dataclass(frozen=True, slots=True, repr=False)
class RandomPhotometricDistort(ImageOp):
    """The colour changes of SSD, each with probability `p`; the last one swaps channels.

    Contrast comes before saturation and hue or after them, equally often.
    """

    brightness: Sequence[float] = (0.875, 1.125)
    contrast: Sequence[float] = (0.5, 1.5)
    saturation: Sequence[float] = (0.5, 1.5)
    hue: Sequence[float] = (-0.05, 0.05)
    p: float = 0.5
    changes: ClassVar[int] = IMAGES
    _ranges: dict[Effect, Range] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        read_probability("RandomPhotometricDistort", self.p)
        self._keep(_ranges=_read_ranges("RandomPhotometricDistort", self))

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw for each change whether it is done and by what factor."""
        channels = query_chw(flat_inputs)[0]
        params: Params = {}
        for name, effect, unchanged, _, _ in _ADJUSTMENTS:
            limits = self._ranges.get(effect, (unchanged, unchanged))
            params[f"{name}_factor"] = uniform(*limits) if chance(self.p) else None
        params["contrast_before"] = chance(0.5)
        params["channel_permutation"] = order(channels) if chance(self.p) else None
        return params

    def transform(self, inpt: Any, params: Params) -> Any:
        """Do what was drawn; contrast is early or late."""
        names = ["brightness", "saturation", "hue"]
        names.insert(1 if params["contrast_before"] else 3, "contrast")
        for name in names:
            inpt = _adjust(inpt, name, params)
        permutation = params["channel_permutation"]
        return inpt if permutation is None else F.permute_channels(inpt, permutation)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """A factor and a decision for each change, a place for contrast, an order of channels."""
        draws.reserve(2 * len(_ADJUSTMENTS) + 5)
        moves = {}
        for _, effect, unchanged, _, _ in _ADJUSTMENTS:
            factor = draws.uniform(*self._ranges.get(effect, (unchanged, unchanged)))
            chosen = draws.uniform() < self.p
            moves[effect] = effect_where(chosen, effect, sizes, factor=factor)
        contrast_early = draws.uniform() < 0.5
        swapped = draws.uniform() < self.p
        swap = effect_where(swapped, Effect.PERMUTE_CHANNELS, sizes, order=draws.orders(3).T)
        contrast = moves[Effect.CONTRAST]
        return (
            moves[Effect.BRIGHTNESS],
            only_where(contrast_early, contrast),
            moves[Effect.SATURATION],
            moves[Effect.HUE],
            only_where(~contrast_early, contrast),
            swap,
        )


@dataclass(frozen=True, slots=True, repr=False)
class RandomChannelPermutation(ImageOp):
    """Put the channels of an image into random order."""

    changes: ClassVar[int] = IMAGES

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the order."""
        return {"permutation": order(query_chw(flat_inputs)[0])}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Permute the channels."""
        return F.permute_channels(inpt, params["permutation"].tolist())

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """An order for each image."""
        return (same_effect(Effect.PERMUTE_CHANNELS, sizes, order=draws.orders(3).T),)


def _adjust(inpt: Any, name: str, params: Params) -> Any:
    """Adjust a property by the factor that was drawn for it, if one was."""
    argument = f"{name}_factor"
    factor = params[argument]
    if factor is None:
        return inpt
    return getattr(F, f"adjust_{name}")(inpt, **{argument: factor})


def _read_ranges(where: str, transform: object) -> dict[Effect, Range]:
    """The ranges of the adjustments that change something."""
    ranges = {}
    for name, effect, centre, least, most in _ADJUSTMENTS:
        given = getattr(transform, name)
        limits = read_jitter(where, name, given, centre=centre, least=least, most=most)
        if limits is not None:
            ranges[effect] = limits
    return ranges
