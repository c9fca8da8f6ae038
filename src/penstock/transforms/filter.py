"""Blurring, noise, and erasing a rectangle: what replaces values without moving pixels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from penstock._core import Effect
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms import functional as F
from penstock.transforms.arguments import (
    PerChannel,
    read_channels,
    read_generation,
    read_integer,
    read_number,
    read_pair,
    read_probability,
    read_range,
    read_size,
)
from penstock.transforms.effects import EffectMove, effect_where, same_effect, split_key
from penstock.transforms.inputs import IMAGES, TARGETS, kind_of, query_chw
from penstock.transforms.op import CalledOnly, ImageOp, Params, refuse_any
from penstock.transforms.resize import BOX_TRIES, draw_boxes
from penstock.transforms.torch_blur import (
    MOST_WEIGHTS,
    check_installed_torch,
    torch_weights,
    weights_needed,
)
from penstock.transforms.torch_draws import get_torch, integer, log_uniform, uniform


@dataclass(frozen=True, slots=True, repr=False)
class GaussianBlur(ImageOp):
    """Blur with a Gaussian whose sigma is drawn from `sigma`, (min, max) or one number.

    `kernel_size` is an odd number of pixels, or (width, height) as torchvision has it here.
    `flavor` None gives the same bytes on every machine, within a level of torchvision's.
    "torchvision" and "torchvision_v1" give the bytes of its v2 and v1 transforms, with weights from
    the torch that is installed; a torch that blurs in an unknown way is refused. Called, it blurs
    as torchvision's v2; with flavor "torchvision_v1", as the loader, by a key that is drawn.
    """

    kernel_size: int | Sequence[int]
    sigma: float | Sequence[float] = (0.1, 2.0)
    flavor: Literal["torchvision", "torchvision_v1"] | None = None
    changes: ClassVar[int] = IMAGES
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

    @property
    def called_by_key(self) -> bool:
        """True for the bytes of torchvision's older transform."""
        return self.flavor == "torchvision_v1"

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw sigma."""
        del flat_inputs
        sigma = uniform(*self._sigmas)
        return {"sigma": [sigma, sigma]}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Blur it."""
        return F.gaussian_blur(inpt, [self._width, self._height], **params)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """One sigma for each image, the same in both directions."""
        require_room("GaussianBlur", self._width, self._height, draws, sizes)
        sigma = draws.uniform(*self._sigmas)
        parameters: dict[str, Any] = {
            "kernel_width": self._width,
            "kernel_height": self._height,
            "sigma_across": sigma,
            "sigma_down": sigma,
        }
        if self.flavor is not None:
            generation = read_generation("GaussianBlur", self.flavor)
            weights = torch_weights(self._width, self._height, sigma, generation)
            parameters["weights"] = np.zeros((len(sizes), MOST_WEIGHTS))
            parameters["weights"][:, : weights.shape[1]] = weights
        return (same_effect(Effect.GAUSSIAN_BLUR, sizes, **parameters),)


def require_room(where: str, width: int, height: int, draws: Draws, sizes: Sizes) -> None:
    """Raise if half a kernel does not fit an image, whose border can be mirrored only once."""
    small = (sizes.width <= width // 2) | (sizes.height <= height // 2)
    reason = f"and the kernel, of {height}x{width}, is more than twice as large. "
    advice = "Resize first, or use a smaller kernel."
    refuse_any(where, small, draws, sizes, lambda _: reason + advice)


@dataclass(frozen=True, slots=True, repr=False)
class GaussianNoise(ImageOp):
    """Add normal noise to every value; `mean` and `sigma` are for values of 0 to 1.

    Without `clip`, values beyond 0..255 wrap around, as in torchvision. Called, it takes tensors.
    """

    mean: float = 0.0
    sigma: float = 0.1
    clip: bool = True
    changes: ClassVar[int] = IMAGES

    def __post_init__(self) -> None:
        read_number("GaussianNoise", "mean", self.mean)
        read_number("GaussianNoise", "sigma", self.sigma, least=0)

    @property
    def is_random(self) -> bool:
        """True: the function itself draws the noise."""
        return True

    def transform(self, inpt: Any, params: Params) -> Any:
        """Add noise, which is drawn here."""
        del params
        return F.gaussian_noise(inpt, mean=self.mean, sigma=self.sigma, clip=self.clip)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """A key for each image; the noise itself is made from it, pixel by pixel, later."""
        return (
            same_effect(
                Effect.GAUSSIAN_NOISE,
                sizes,
                mean=self.mean,
                sigma=self.sigma,
                clip=self.clip,
                key=split_key(draws.bits()[0]),
            ),
        )


@dataclass(frozen=True, slots=True, repr=False)
class RandomErasing(ImageOp):
    """With probability `p`, overwrite a random rectangle.

    It covers a share of the image drawn from `scale`, with height / width drawn from `ratio`
    (evenly on a logarithmic scale); if ten draws do not fit, nothing is erased. `value` is a number
    or one for each of red, green and blue, on the scale that the image has at this step; "random"
    is normal noise. `inplace` is for tensors, when it is called; boxes, masks and keypoints stay as
    they are, with a warning.
    """

    p: float = 0.5
    scale: Sequence[float] = (0.02, 0.33)
    ratio: Sequence[float] = (0.3, 3.3)
    value: float | Sequence[float] | str = 0.0
    inplace: bool = False
    has_chance: ClassVar[bool] = True
    changes: ClassVar[int] = IMAGES | TARGETS
    _shares: tuple[float, float] = field(init=False, repr=False, compare=False)
    _ratios: tuple[float, float] = field(init=False, repr=False, compare=False)
    _values: PerChannel | None = field(init=False, repr=False, compare=False)  # None is noise

    def __post_init__(self) -> None:
        where = "RandomErasing"
        read_probability(where, self.p)
        self._keep(
            _shares=read_range(where, "scale", self.scale, least=0, most=1),
            _ratios=read_range(where, "ratio", self.ratio, above=0),
            _values=_read_value(self.value),
        )

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw up to ten rectangles, and a place for the first that fits."""
        channels, height, width = query_chw(flat_inputs)
        value = _listed(self.value)
        if value is not None and len(value) not in (1, channels):
            raise TransformError(
                f"RandomErasing: If value is a sequence, it should have either a single value or "
                f"{channels} (number of inpt channels), got {self.value!r}."
            )
        torch = get_torch()
        for _ in range(BOX_TRIES):
            area = height * width * uniform(*self._shares)
            ratio = log_uniform(self._ratios)
            box_height, box_width = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if box_height < height and box_width < width:
                if value is None:
                    shape = [channels, box_height, box_width]
                    filling = torch.empty(shape, dtype=torch.float32).normal_()
                else:
                    filling = torch.tensor(value)[:, None, None]
                top = integer(0, height - box_height + 1)
                left = integer(0, width - box_width + 1)
                return {"i": top, "j": left, "h": box_height, "w": box_width, "v": filling}
        return {"i": 0, "j": 0, "h": height, "w": width, "v": None}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Overwrite the rectangle, if one was found."""
        if params["v"] is None:
            return inpt
        if kind_of(inpt) & TARGETS:
            warnings.warn(
                f"RandomErasing() is currently passing through inputs of type "
                f"{type(inpt).__name__}: they stay as they are.",
                stacklevel=2,
            )
            return inpt
        return F.erase(inpt, **params, inplace=self.inplace)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """Draw ten rectangles and a place at once; each image takes the first that fits."""
        draws.reserve(2 * BOX_TRIES + 4)
        chosen = draws.uniform() < self.p
        # torchvision's ratio is height / width here, and width / height in RandomResizedCrop.
        widths, heights = draw_boxes(draws, sizes, self._shares, self._ratios)
        fits = (heights < sizes.height) & (widths < sizes.width)
        first, rows = fits.argmax(axis=0), np.arange(len(sizes))
        chosen &= fits[first, rows]
        height = np.where(chosen, heights[first, rows], 0).astype(np.int64)
        width = np.where(chosen, widths[first, rows], 0).astype(np.int64)
        top = draws.integers(sizes.height - height + 1)
        left = draws.integers(sizes.width - width + 1)
        by_noise = self._values is None
        return (
            effect_where(
                chosen,
                Effect.ERASE,
                sizes,
                top=top,
                left=left,
                height=height,
                width=width,
                value=self._values or (0.0, 0.0, 0.0),
                by_noise=by_noise,
                key=split_key(draws.bits()[0]) if by_noise else (0.0, 0.0),
            ),
        )


@dataclass(frozen=True, slots=True, repr=False)
class JPEG(CalledOnly):
    """Write an image as JPEG and read it again, with a quality drawn from `quality`.

    That is a number from 1 to 100, or (min, max).
    """

    quality: int | Sequence[int]
    changes: ClassVar[int] = IMAGES
    why_not_loaded: ClassVar[str] = "the loader does not write JPEGs"
    _range: tuple[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given: Any = self.quality
        several = isinstance(given, Sequence) and len(given) == 2
        low, high = given if several else (given, given)
        read_integer("JPEG", "quality", low, least=1, most=100)
        read_integer("JPEG", "quality", high, least=low, most=100)
        self._keep(_range=(low, high))

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the quality."""
        del flat_inputs
        return {"quality": integer(self._range[0], self._range[1] + 1)}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Write and read it."""
        return F.jpeg(inpt, **params)


def _read_value(given: float | Sequence[float] | str) -> PerChannel | None:
    if isinstance(given, str):
        if given == "random":
            return None
        raise TransformError(
            f'RandomErasing: value must be a number, three numbers or "random", got {given!r}.'
        )
    several = given if isinstance(given, Sequence) else (given,)
    return read_channels("RandomErasing", "value", several)


def _listed(value: float | Sequence[float] | str) -> list[float] | None:
    """The values of a called transform, one or one for each channel; None is noise."""
    if isinstance(value, str):
        return None
    return [float(one) for one in (value if isinstance(value, Sequence) else (value,))]
