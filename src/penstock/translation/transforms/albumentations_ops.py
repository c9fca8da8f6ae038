"""What stands for Albumentations' transforms in a pipeline of ours.

Those that only move bytes are ops of ours with the same effect: crops and borders are placed as
Albumentations places them, whose middle is rounded down where torchvision's is rounded to even.
Everything else it computes with OpenCV, whose rounding is not Pillow's, so it is called as it is
from the loader's threads, with draws that can be repeated.
"""

from __future__ import annotations

import copy
import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from penstock import transforms as T
from penstock._core import PadMode
from penstock.errors import TransformError
from penstock.geometry import Bools, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import PaddingMode
from penstock.transforms.moves import CropMove, Move, PadMove, repeat
from penstock.transforms.op import ImageOp
from penstock.transforms.python_step import Pixels
from penstock.transforms.resize import RandomResizedCrop
from penstock.translation.transforms.identify import class_name

Position = Literal["center", "top_left", "top_right", "bottom_left", "bottom_right"]

# OpenCV's numbers of borders. Those that reflect take turns where a border is wider than the
# image, which ours refuse, so they stay OpenCV's.
_BORDERS = {0: PadMode.CONSTANT, 1: PadMode.EDGE}
_BORDER_NAMES: dict[int, PaddingMode] = {0: "constant", 1: "edge"}


def read_moves(transform: Any) -> list[Any] | None:
    """Return ours for a transform of Albumentations' own, regardless of `p`; None if it has none.

    Only for HorizontalFlip, VerticalFlip and InvertImg do ours get `p`.
    """
    read = _READ.get(class_name(transform))
    return None if read is None else read(transform)


def takes_probability(ours: list[Any]) -> bool:
    """Whether ours got `p`, so that nothing around them has to decide by it."""
    return len(ours) == 1 and isinstance(
        ours[0], (T.RandomHorizontalFlip, T.RandomVerticalFlip, T.RandomInvert)
    )


def adds_pixels(ours: list[Any]) -> bool:
    """Whether there may be a border, or values change, so that it cannot be done before others."""
    return any(isinstance(op, (PadToSize, T.Pad, T.RandomInvert)) for op in ours)


def _crop_after_border(transform: Any, crop: Any) -> list[Any] | None:
    if not transform.pad_if_needed:
        return [crop]
    border = _border(transform, transform.height, transform.width, transform.pad_position)
    return None if border is None else [border, crop]


def _fixed_crop(transform: Any) -> list[Any] | None:
    if transform.pad_if_needed:
        return None
    return [FixedCrop(transform.y_min, transform.x_min, transform.y_max, transform.x_max)]


def _pad(transform: Any) -> list[Any] | None:
    fill, padding = _fill(transform), transform.padding
    if fill is None or transform.border_mode not in _BORDERS:
        return None
    sides = padding if isinstance(padding, int) else tuple(padding)
    return [T.Pad(sides, fill, _BORDER_NAMES[transform.border_mode])]


def _pad_if_needed(transform: Any) -> list[Any] | None:
    if transform.min_height is None or transform.min_width is None:  # to a multiple of something
        return None
    border = _border(transform, transform.min_height, transform.min_width, transform.position)
    return None if border is None else [border]


def _border(transform: Any, height: int, width: int, position: Any) -> PadToSize | None:
    fill = _fill(transform)
    if fill is None or transform.border_mode not in _BORDERS or position == "random":
        return None
    place: Position = position
    return PadToSize(height, width, place, _BORDERS[transform.border_mode], fill)


def _fill(transform: Any) -> tuple[int, int, int] | None:
    """The border's colour; None for what OpenCV would round, or give to the first channel only."""
    fill = transform.fill
    colour = (fill,) * 3 if isinstance(fill, float) or fill == 0 else fill
    if not isinstance(colour, (tuple, list)) or len(colour) != 3:
        return None
    if any(float(level) not in range(256) for level in colour):
        return None
    red, green, blue = map(int, colour)
    return red, green, blue


_READ: dict[str, Callable[[Any], list[Any] | None]] = {
    "CenterCrop": lambda crop: _crop_after_border(crop, MiddleCrop(crop.height, crop.width)),
    "Crop": _fixed_crop,
    "HorizontalFlip": lambda transform: [T.RandomHorizontalFlip(transform.p)],
    "InvertImg": lambda transform: [T.RandomInvert(transform.p)],
    "NoOp": lambda _: [],
    "Pad": _pad,
    "PadIfNeeded": _pad_if_needed,
    "RandomCrop": lambda crop: _crop_after_border(crop, T.RandomCrop((crop.height, crop.width))),
    "VerticalFlip": lambda transform: [T.RandomVerticalFlip(transform.p)],
}


@dataclass(frozen=True, slots=True, repr=False)
class MiddleCrop(ImageOp):
    """Keep the middle; a larger crop than the image is an error."""

    height: int
    width: int

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn: the box follows from the image's size."""
        small = (sizes.height < self.height) | (sizes.width < self.width)
        _require_room("MiddleCrop", f"{self.height}x{self.width}", small, draws, sizes)
        height, width = repeat(self.height, sizes), repeat(self.width, sizes)
        top, left = (sizes.height - height) // 2, (sizes.width - width) // 2
        return (CropMove(top, left, height, width),)


@dataclass(frozen=True, slots=True, repr=False)
class FixedCrop(ImageOp):
    """Keep the box from (top, left) up to (bottom, right), which the image must contain."""

    top: int
    left: int
    bottom: int
    right: int

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn."""
        small = (sizes.height < self.bottom) | (sizes.width < self.right)
        _require_room("FixedCrop", f"up to {self.bottom}x{self.right}", small, draws, sizes)
        height, width = self.bottom - self.top, self.right - self.left
        box = (repeat(side, sizes) for side in (self.top, self.left, height, width))
        return (CropMove(*box),)


@dataclass(frozen=True, slots=True, repr=False)
class PadToSize(ImageOp):
    """Add a border to images that are smaller; `position` says where the image goes."""

    height: int
    width: int
    position: Position
    mode: PadMode
    fill: tuple[int, int, int]

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn."""
        del draws
        lacking_height = np.maximum(self.height - sizes.height, 0)
        lacking_width = np.maximum(self.width - sizes.width, 0)
        if not (lacking_height.any() or lacking_width.any()):
            return ()
        top = self._before("top", "bottom", lacking_height)
        left = self._before("left", "right", lacking_width)
        right, bottom = lacking_width - left, lacking_height - top
        return (PadMove(left, top, right, bottom, self.mode, self.fill),)

    def _before(self, near: str, far: str, lacking: Ints) -> Ints:
        """The part of the border above or left of the image."""
        if near in self.position:
            return np.zeros_like(lacking)
        return lacking if far in self.position else lacking // 2


@dataclass(frozen=True, slots=True, repr=False)
class RandomBox(ImageOp):
    """The box of RandomResizedCrop, which both libraries draw alike, not resized."""

    scale: Sequence[float]
    ratio: Sequence[float]

    def __post_init__(self) -> None:
        self._whole()

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Draw the box alone."""
        return self._whole().sample(draws, sizes)[:1]

    def _whole(self) -> RandomResizedCrop:
        return RandomResizedCrop(1, self.scale, self.ratio)


def _require_room(where: str, wanted: str, small: Bools, draws: Draws, sizes: Sizes) -> None:
    if small.any():
        row = int(small.argmax())
        raise TransformError(
            f"{where} (step {draws.stream + 1}): the crop is {wanted} but the image of sample "
            f"{draws.sample_at(row)} is {sizes[row]} here. Resize first, or set pad_if_needed=True."
        )


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of Albumentations' transforms on an array."""

    transform: Any
    only_resizes: bool = False  # as RandomResizedCrop does, to a box that was cut out already

    def always(self) -> Call:
        """Return a copy that does it whatever `p` is; what only resizes is made if `p` is 1."""
        if self.only_resizes:
            return self
        always = copy.deepcopy(self.transform)
        always.p = 1.0
        return Call(always)

    def run(self, pixels: Pixels, rng: np.random.Generator, python_rng: random.Random) -> Any:
        """Return what becomes of an array, drawing from these generators only."""
        if self.only_resizes:
            height, width = pixels.shape[:2]
            return self.transform.apply(pixels, crop_coords=(0, 0, width, height))
        self.transform.set_random_state(rng, python_rng)
        return self.transform(image=pixels)["image"]


class ArrayCalls:
    """Calls transforms one after the other on one image.

    A transform keeps its generators and what it drew last in itself, so every thread has copies.
    """

    def __init__(self, calls: tuple[Call, ...]) -> None:
        self._calls = copy.deepcopy(calls)  # what the user does to them later changes nothing
        self._own = threading.local()
        self.__qualname__ = ", ".join(_name(call) for call in calls)

    def __call__(self, pixels: Pixels, rng: np.random.Generator) -> Pixels:
        """Return the array that comes out, which must be RGB bytes as what went in."""
        if not hasattr(self._own, "calls"):
            self._own.calls = copy.deepcopy(self._calls)
        python_rng = random.Random(int(rng.integers(1 << 63)))
        for call in self._own.calls:
            pixels = _check(call, call.run(pixels, rng, python_rng))
        return pixels

    def followed_by(self, call: Call) -> ArrayCalls:
        """Return the same with one more at the end; in a row, images change hands once."""
        return ArrayCalls((*self._calls, call))


def _name(call: Call) -> str:
    return str(type(call.transform).__name__)


def _check(call: Call, returned: Any) -> Pixels:
    if not isinstance(returned, np.ndarray):
        got = class_name(returned)
    elif returned.dtype != np.uint8 or returned.ndim != 3 or returned.shape[2] != 3:
        got = f"a {returned.dtype} array of shape {returned.shape}"
    else:
        return returned
    raise TransformError(
        f"{_name(call)}: returned {got}; a step between others must return a uint8 array of "
        "height x width x 3 to be accelerated."
    )
