"""What torchvision does to tensors of bytes, as steps of a chain with the same bits.

Each is tried beside torchvision's own function on a few images when it is first needed, and left
to that for good if a bit differs: torch decides on the last one, by its version and the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torchvision.transforms.v2 import functional as v2
from torchvision.transforms.v2.functional import _utils

from penstock._core import MOST_MEAN_PIXELS, Effect, Weights
from penstock.deferring.borders import bordered
from penstock.deferring.chain import Chain
from penstock.deferring.spec import Spec
from penstock.deferring.tensor import DeferredTensor, computed, make
from penstock.errors import TransformError
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.functional.arguments import read_mode, resized_size
from penstock.transforms.functional.native.blur import blur_numbers
from penstock.transforms.functional.native.tensors.tried import trial_images

Function = Callable[..., Any]

_COLOURS = 3
_LEVELS = 255
_LARGEST_FACTOR = 1e6
_LONGEST_SIDE = 1 << 15
_SMALLEST_SIDE = 2  # of less, torch may take the layout for another one
_RESIZED = {InterpolationMode.BILINEAR, InterpolationMode.BICUBIC}


def kernel_of(name: str, kind: type) -> Function:
    """torchvision's own kernel of a function of v2's."""
    found: Function = _utils._KERNEL_REGISTRY[getattr(v2, name)][kind]  # noqa: SLF001 (there is no public way)
    return found


class Change:
    """A change of deferred bytes: a function that returns None for what cannot be remembered."""

    def __init__(self, name: str, change: Function, trials: Sequence[tuple[Any, ...]]) -> None:
        self._name = name
        self._change = change
        self._trials = trials
        self._agrees: bool | None = None

    def __call__(self, given: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a tensor that is not computed yet, or None."""
        if given.chain is None or given.spec.is_float:
            return None
        if self._agrees is None:
            self._agrees = all(map(self._is_same, self._trials))
        return self._change(given, *args, **kwargs) if self._agrees else None

    def _is_same(self, args: tuple[Any, ...]) -> bool:
        theirs = kernel_of(self._name, torch.Tensor)
        for image in _tried():
            pixels = image.expand(_COLOURS, -1, -1).permute(1, 2, 0).contiguous().numpy()
            spec = Spec(channels=image.shape[0])
            ours = self._change(make(DeferredTensor, Chain.of_pixels(pixels), spec), *args)
            if ours is not None and not torch.equal(computed(ours), theirs(image, *args)):
                return False
        return True


def _tried() -> list[torch.Tensor]:
    coloured = trial_images(torch.uint8)
    return [*coloured, coloured[0][:1].clone()]


def _resize(
    given: Any,
    size: Any,
    interpolation: Any = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    chain: Chain = given.chain
    canvas = chain.height, chain.width
    try:
        mode, wanted = read_mode(interpolation), resized_size(canvas, size, max_size)
    except (TransformError, TypeError, ValueError):
        return None  # torchvision says what it thinks of that
    if wanted == canvas:
        return given
    sides = *canvas, *wanted
    if mode not in _RESIZED or not _SMALLEST_SIDE <= min(sides) <= max(sides) < _LONGEST_SIDE:
        return None
    weights = Weights.TORCH_ANTIALIASED if antialias else Weights.TORCH_DIRECT
    resized = chain.resize(*wanted, mode.pillow_filter, int(weights))
    return make(type(given), resized, given.spec)


def _pad(given: Any, padding: Any, fill: Any = None, padding_mode: Any = "constant") -> Any:
    chain = bordered(given.chain, given.spec.channels, padding, fill, padding_mode)
    return None if chain is None else make(type(given), chain, given.spec)


def _after(given: Any, effect: Effect, *numbers: float, channels: int | None = None) -> Any:
    spec: Spec = given.spec
    changed = spec if channels is None else spec._replace(channels=channels)
    return make(type(given), given.chain.apply(effect, numbers), changed)


def _is_factor(number: Any) -> bool:
    """Whether torch computes in floats with it, which a whole number does not ask for."""
    return type(number) is float and 0 <= number <= _LARGEST_FACTOR


def _adjust_brightness(given: Any, brightness_factor: Any) -> Any:
    if not _is_factor(brightness_factor):
        return None
    return _after(given, Effect.TENSOR_BRIGHTNESS, brightness_factor)


def _adjust_contrast(given: Any, contrast_factor: Any) -> Any:
    height, width = given.shape[-2:]
    fits = given.spec.channels == _COLOURS and height * width <= MOST_MEAN_PIXELS
    if not (fits and _is_factor(contrast_factor)):
        return None
    return _after(given, Effect.TENSOR_CONTRAST, contrast_factor)


def _adjust_saturation(given: Any, saturation_factor: Any) -> Any:
    if not _is_factor(saturation_factor):
        return None
    if given.spec.channels != _COLOURS:
        return given
    return _after(given, Effect.TENSOR_SATURATION, saturation_factor)


def _adjust_hue(given: Any, hue_factor: Any) -> Any:
    if type(hue_factor) is not float or not -0.5 <= hue_factor <= 0.5:
        return None
    return (
        given if given.spec.channels != _COLOURS else _after(given, Effect.TENSOR_HUE, hue_factor)
    )


def _rgb_to_grayscale(given: Any, num_output_channels: Any = 1) -> Any:
    if given.spec.channels != _COLOURS or num_output_channels not in (1, _COLOURS):
        return None
    return _after(given, Effect.TENSOR_GRAYSCALE, channels=int(num_output_channels))


def _posterize(given: Any, bits: Any) -> Any:
    if type(bits) is not int or not 0 <= bits <= 8:
        return None
    return given if bits == 8 else _after(given, Effect.POSTERIZE, bits)


def _solarize(given: Any, threshold: Any) -> Any:
    if type(threshold) not in (int, float) or not 0 <= threshold <= _LEVELS:
        return None
    compared = torch.tensor(threshold, dtype=torch.float32).item()  # as torch compares bytes
    return _after(given, Effect.SOLARIZE, compared)


def _invert(given: Any) -> Any:
    return _after(given, Effect.INVERT)


def _equalize(given: Any) -> Any:
    return _after(given, Effect.EQUALIZE)


def _permute_channels(given: Any, permutation: Any) -> Any:
    order = list(permutation) if isinstance(permutation, (list, tuple)) else []
    if given.spec.channels != _COLOURS or sorted(order) != list(range(_COLOURS)):
        return None
    return _after(given, Effect.PERMUTE_CHANNELS, *map(float, order))


def _gaussian_blur(given: Any, kernel_size: Any, sigma: Any = None) -> Any:
    if given.spec.channels != _COLOURS:
        return None
    try:
        numbers = blur_numbers(tuple(given.shape[-2:]), kernel_size, sigma)
    except (TransformError, TypeError, ValueError):
        return None
    return None if numbers is None else _after(given, Effect.GAUSSIAN_BLUR, *numbers)


_MODES = (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
_SIZES = ([7, 12], [23, 40], [3, 5], [19, 9])
_RESIZES = [
    (size, mode, None, antialias)
    for size in _SIZES
    for mode in map(v2.InterpolationMode, (mode.value for mode in _MODES))
    for antialias in (True, False)
]

_PADS: list[tuple[Any, ...]] = [
    ([3, 1, 0, 2], (9.0, 80, 7)),
    (2, 5),
    *(([5, 2], None, mode) for mode in ("edge", "reflect", "symmetric")),
]

resize = Change("resize", _resize, _RESIZES)

CHANGES: dict[str, Function] = {
    "resize": resize,
    "pad": Change("pad", _pad, _PADS),
    "adjust_brightness": Change("adjust_brightness", _adjust_brightness, [(1.3,), (0.7,)]),
    "adjust_contrast": Change("adjust_contrast", _adjust_contrast, [(1.3,), (0.6,)]),
    "adjust_saturation": Change("adjust_saturation", _adjust_saturation, [(1.3,), (0.7,)]),
    "adjust_hue": Change("adjust_hue", _adjust_hue, [(0.1,), (-0.4,), (0.5,)]),
    "rgb_to_grayscale": Change("rgb_to_grayscale", _rgb_to_grayscale, [(1,), (3,)]),
    "posterize": Change("posterize", _posterize, [(3,)]),
    "solarize": Change("solarize", _solarize, [(128.0,), (77,)]),
    "invert": Change("invert", _invert, [()]),
    "equalize": Change("equalize", _equalize, [()]),
    "permute_channels": Change("permute_channels", _permute_channels, [([2, 0, 1],)]),
    "gaussian_blur": Change("gaussian_blur", _gaussian_blur, [([3, 3], [0.7, 0.7])]),
}
