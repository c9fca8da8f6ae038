"""What OpenCV's functions do to images, as steps of a chain with the same bits.

Each is tried beside OpenCV's own on a few images when it is first needed, and left to that for
good if a bit differs: OpenCV decides on the last one, by its version and how it was built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import cv2
import numpy as np

from penstock._core import Effect, PadMode, Weights
from penstock.deferring.array import DeferredArray
from penstock.deferring.chain import Chain
from penstock.deferring.values import levels_as
from penstock.transforms.arguments import InterpolationMode

Function = Callable[..., Any]

_LONGEST_SIDE = 1 << 15
_COLOURS = 3
_LEVELS = 255
_IN_PLACE = ("hwc", "hw")  # axes, as OpenCV has them
_FILTERS = {
    cv2.INTER_LINEAR: InterpolationMode.BILINEAR.pillow_filter,
    cv2.INTER_NEAREST: InterpolationMode.NEAREST.pillow_filter,
    cv2.INTER_AREA: InterpolationMode.BOX.pillow_filter,
}
_MOST_AREA_PX = 1 << 15  # for one: sums of so many levels are exact in single precision
_GRAYS = {cv2.COLOR_BGR2GRAY: True, cv2.COLOR_RGB2GRAY: False}  # whether blue comes first
_TURNS = {  # whether the order of rows, and that of columns, is turned round once they are swapped
    cv2.ROTATE_90_CLOCKWISE: (True, False),
    cv2.ROTATE_90_COUNTERCLOCKWISE: (False, True),
}
_BORDERS = {
    cv2.BORDER_CONSTANT: PadMode.CONSTANT,
    cv2.BORDER_REPLICATE: PadMode.EDGE,
    cv2.BORDER_REFLECT_101: PadMode.REFLECT,
    cv2.BORDER_REFLECT: PadMode.SYMMETRIC,
}


class Change:
    """A function of OpenCV's: one that returns None for what cannot be remembered.

    Calls are of several kinds, such as filters, which are tried each for itself.
    """

    def __init__(
        self,
        original: Function,
        change: Function,
        trials: Sequence[tuple[Any, ...]],
        kind_of: Function = lambda *_args, **_kwargs: None,
    ) -> None:
        self._original = original
        self._change = change
        self._trials = trials
        self._kind_of = kind_of
        self._agrees: dict[Any, bool] = {}

    def __call__(self, given: DeferredArray, *args: Any, **kwargs: Any) -> DeferredArray | None:
        """Return an array that is not computed yet, or None."""
        if given.axes not in _IN_PLACE:
            return None
        try:
            done = self._change(given, *args, **kwargs)
        except TypeError:  # of arguments that it does not know: OpenCV says what it thinks of them
            return None
        return done if done is None or self._agrees_on(self._kind_of(*args, **kwargs)) else None

    def _agrees_on(self, kind: Any) -> bool:
        if kind not in self._agrees:
            trials = [args for args in self._trials if self._kind_of(*args) == kind]
            self._agrees[kind] = all(map(self._is_same, trials))
        return self._agrees[kind]

    def _is_same(self, args: tuple[Any, ...]) -> bool:
        for pixels in _tried():
            given = np.ascontiguousarray(pixels[..., ::-1])
            image = DeferredArray.of_chain(Chain.of_pixels(pixels), levels_as(3), blue_first=True)
            ours = self._change(image, *args)
            if ours is not None and not _are_equal(ours, self._original(given, *args)):
                return False
        return True


def _are_equal(ours: DeferredArray, theirs: Any) -> bool:
    return ours.shape == theirs.shape and np.array_equal(ours.computed(), theirs)


def _tried() -> list[Any]:
    generator = np.random.default_rng(0)
    sizes = (29, 41), (64, 48), (3, 100), (1, 1)
    return [generator.integers(0, 256, (*size, _COLOURS), dtype=np.uint8) for size in sizes]


def _resize(
    given: DeferredArray,
    dsize: Any,
    dst: Any = None,
    fx: Any = 0,
    fy: Any = 0,
    interpolation: Any = cv2.INTER_LINEAR,
) -> DeferredArray | None:
    chain: Any = given.chain
    if dsize is None or dsize in ((0, 0), [0, 0]):
        dsize = _size_by_factors(chain, fx, fy)
    is_pair = isinstance(dsize, (tuple, list)) and len(dsize) == 2
    number = _FILTERS.get(interpolation) if isinstance(interpolation, int) else None
    if not is_pair or dst is not None or number is None or not is_levels_of(given):
        return None
    width, height = dsize
    if not all(_is_whole(side) and 0 < side < _LONGEST_SIDE for side in (width, height)):
        return None
    if (height, width) == (chain.height, chain.width):
        return given.again()
    if chain.height * chain.width > _MOST_AREA_PX * height * width:
        return None
    return given.with_chain(chain.resize(int(height), int(width), number, int(Weights.OPENCV)))


def _size_by_factors(chain: Chain, fx: Any, fy: Any) -> tuple[int, int] | None:
    """The size that factors lead to, if they are just what this size says: OpenCV heeds both."""
    if not all(isinstance(one, (int, float)) and 0 < one < _LONGEST_SIDE for one in (fx, fy)):
        return None
    width, height = round(chain.width * fx), round(chain.height * fy)
    are_exact = width / chain.width == fx and height / chain.height == fy
    return (width, height) if are_exact else None


def is_levels_of(given: DeferredArray) -> bool:
    """Whether an array has bytes that nothing was calculated with."""
    return given.spec.values is None


def _is_whole(number: Any) -> bool:
    return type(number) is int or isinstance(number, np.integer)


def _cvt_color(given: DeferredArray, code: Any, dst: Any = None) -> DeferredArray | None:
    if dst is not None or type(code) is not int:
        return None
    if given.axes == "hwc" and code == cv2.COLOR_BGR2RGB:  # which is the other way around as well
        return given.turned()
    if not is_levels_of(given):
        return None
    chain: Any = given.chain
    if given.axes == "hw" and code == cv2.COLOR_GRAY2BGR:
        return DeferredArray.of_chain(chain, levels_as(_COLOURS))
    if given.axes == "hwc" and given.shape[2] == _COLOURS and code in _GRAYS:
        if _GRAYS[code] != given.spec.blue_first:
            chain = chain.apply(Effect.PERMUTE_CHANNELS, (2.0, 1.0, 0.0))
        gray = chain.apply(Effect.OPENCV_GRAYSCALE)
        return DeferredArray.of_chain(gray, levels_as(1), axes="hw")
    return None


def _flip(given: DeferredArray, flipCode: Any, dst: Any = None) -> DeferredArray | None:  # noqa: N803 (OpenCV's name)
    if dst is not None or not _is_whole(flipCode):
        return None
    chain: Any = given.chain
    return given.with_chain(chain.flip(horizontal=flipCode != 0, vertical=flipCode <= 0))


def _rotate(given: DeferredArray, rotateCode: Any, dst: Any = None) -> DeferredArray | None:  # noqa: N803 (the same)
    chain: Any = given.chain
    if dst is not None or type(rotateCode) is not int:
        return None
    if rotateCode == cv2.ROTATE_180:
        return given.with_chain(chain.flip(horizontal=True, vertical=True))
    turn = _TURNS.get(rotateCode)
    return None if turn is None else given.with_chain(chain.turn(*turn))


def _transpose(given: DeferredArray, dst: Any = None) -> DeferredArray | None:
    chain: Any = given.chain
    return None if dst is not None else given.with_chain(chain.turn(False, False))


def _border(
    given: DeferredArray,
    top: Any,
    bottom: Any,
    left: Any,
    right: Any,
    borderType: Any,  # noqa: N803 (the same)
    dst: Any = None,
    value: Any = None,
) -> DeferredArray | None:
    chain: Any = given.chain
    mode = _BORDERS.get(borderType) if type(borderType) is int else None
    fill = _colour(value, given)
    sides = top, bottom, left, right
    are_counts = all(_is_whole(side) and 0 <= side < _LONGEST_SIDE for side in sides)
    if dst is not None or mode is None or fill is None or not are_counts or not is_levels_of(given):
        return None
    if mode != PadMode.CONSTANT:
        if max(left, right) >= chain.width or max(top, bottom) >= chain.height:
            return None
        fill = (0, 0, 0)
    size = int(top + chain.height + bottom), int(left + chain.width + right)
    if max(size) >= _LONGEST_SIDE:
        return None
    return given.with_chain(chain.pad(int(top), int(left), size, int(mode), fill))


def _colour(value: Any, given: DeferredArray) -> tuple[int, ...] | None:
    """A border's colour in the file's order; None for what is not made of levels.

    Of a single number, only the first channel is filled, as OpenCV has it.
    """
    numbers = [0] if value is None else list(value) if isinstance(value, (tuple, list)) else [value]
    are_levels = all(
        isinstance(one, (int, float)) and 0 <= one <= _LEVELS and one == int(one) for one in numbers
    )
    if not are_levels or len(numbers) > _COLOURS + 1:
        return None
    if given.axes == "hw":
        return (int(numbers[0]),) * _COLOURS
    three = [int(one) for one in (*numbers, 0, 0)][:_COLOURS]
    return tuple(three[::-1] if given.spec.blue_first else three)


def _filter_of(*args: Any, interpolation: Any = cv2.INTER_LINEAR, **_: Any) -> Any:
    return args[4] if len(args) > 4 else interpolation


def _code_of(code: Any, *_args: Any, **_kwargs: Any) -> Any:
    return code


_SIZES = ((7, 12), (40, 23), (5, 3), (24, 32), (20, 14), (41, 29), (100, 1), (6, 1))
_RESIZES = [(size, None, 0, 0, number) for size in _SIZES for number in _FILTERS]
_COLOURINGS = [(code,) for code in (cv2.COLOR_BGR2RGB, *_GRAYS)]
_FRAMES: list[tuple[Any, ...]] = [
    (3, 1, 0, 2, cv2.BORDER_CONSTANT, None, (9, 80, 7)),
    (1, 1, 2, 0, cv2.BORDER_CONSTANT, None, 5),
    *((2, 0, 5, 1, mode) for mode in _BORDERS),
]

CHANGES: dict[str, Function] = {
    "resize": Change(cv2.resize, _resize, _RESIZES, _filter_of),
    "cvtColor": Change(cv2.cvtColor, _cvt_color, _COLOURINGS, _code_of),
    "flip": Change(cv2.flip, _flip, [(0,), (1,), (-1,)]),
    "rotate": Change(cv2.rotate, _rotate, [(cv2.ROTATE_180,), *((one,) for one in _TURNS)]),
    "transpose": Change(cv2.transpose, _transpose, [()]),
    "copyMakeBorder": Change(cv2.copyMakeBorder, _border, _FRAMES),
}
