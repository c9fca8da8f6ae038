"""Reading arguments, in every form that torchvision accepts, and the types they are read into.

Each function takes `where`, the name of the transform, and `name`, that of the argument: a value
that makes no sense is a TransformError that says both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

from penstock._core import PadMode
from penstock.errors import TransformError

PaddingMode = Literal["constant", "edge", "reflect", "symmetric"]
Fill = float | Sequence[float] | None
Fills = Fill | Mapping[Any, Fill]  # one for all inputs, or one for each type of them and "others"
Borders = tuple[int, int, int, int]  # left, top, right, bottom
Colour = tuple[int, int, int]  # red, green, blue
PerChannel = tuple[float, float, float]  # red, green, blue
Generation = Literal[1, 2]  # of torchvision's transforms: the older ones, and v2
TorchvisionFlavor = Literal["torchvision", "torchvision_v1"]

# Far beyond any image; keeps every sum of sizes within the core's 32-bit numbers.
MAX_SIDE_PX = 1 << 24


class Look(NamedTuple):
    """How a warped image looks: Pillow's number of the filter, and the colour of the outside."""

    filter: int
    colour: Colour


class BorderLook(NamedTuple):
    """How a border looks: what it repeats, and its colour if it repeats nothing."""

    mode: PadMode
    colour: Colour


class InterpolationMode(Enum):
    """How pixels are computed from those around them.

    Arguments called `interpolation` take one of these, torchvision's enum of the same name,
    a string such as "bilinear", or Pillow's number.
    """

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"

    __hash__ = object.__hash__  # there is one of each; an Enum's own hash is computed in Python

    def __repr__(self) -> str:
        return f"InterpolationMode.{self.name}"

    @property
    def pillow_filter(self) -> int:
        """The filter's number in Pillow and in the core."""
        return _PILLOW_FILTERS[self]


# Pillow has one nearest filter; torchvision maps both of its own to it.
_PILLOW_FILTERS = {
    InterpolationMode.NEAREST_EXACT: 0,
    InterpolationMode.NEAREST: 0,
    InterpolationMode.LANCZOS: 1,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
}
_MODES_BY_NUMBER = {number: mode for mode, number in _PILLOW_FILTERS.items()}
_WARP_FILTERS = (0, 2, 3)

Interpolation = InterpolationMode | str | int


def read_integer(where: str, name: str, given: Any, *, least: int, most: int = MAX_SIDE_PX) -> int:
    """An integer between `least` and `most`; a float such as 224.0 counts as one."""
    integral = isinstance(given, Integral) or (
        isinstance(given, Real) and float(given).is_integer()
    )
    if isinstance(given, bool) or not integral or not least <= int(given) <= most:
        raise TransformError(
            f"{where}: {name} must be an integer between {least} and {most}, got {given!r}."
        )
    return int(given)


def read_number(
    where: str,
    name: str,
    given: Any,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
) -> float:
    """A finite number from `least` to `most`, and greater than `above`."""
    if (
        isinstance(given, bool)
        or not isinstance(given, Real)
        or not math.isfinite(given)
        or not (least <= float(given) <= most and float(given) > above)
    ):
        raise TransformError(
            f"{where}: {name} must be a number{_bounds(least, most, above)}, got {given!r}."
        )
    return float(given)


def read_numbers(where: str, name: str, given: Any) -> tuple[float, ...]:
    """A sequence of finite numbers."""
    try:
        numbers = tuple(float(value) for value in given)
    except (TypeError, ValueError):
        numbers = (math.nan,)
    if isinstance(given, str) or not all(math.isfinite(number) for number in numbers):
        raise TransformError(f"{where}: {name} must be a sequence of numbers, got {given!r}.")
    return numbers


def read_range(
    where: str,
    name: str,
    given: Any,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
) -> tuple[float, float]:
    """Two numbers (min, max), from `least` to `most`, and greater than `above`."""
    numbers = read_numbers(where, name, given if _is_sequence(given) else ())
    if len(numbers) != 2 or not least <= numbers[0] <= numbers[1] <= most or numbers[0] <= above:
        raise TransformError(
            f"{where}: {name} must be two numbers (min, max){_bounds(least, most, above)}, "
            f"got {given!r}."
        )
    return numbers[0], numbers[1]


def read_pair(
    where: str, name: str, given: Any, *, least: float = -math.inf
) -> tuple[float, float]:
    """Two numbers of at least `least` from one, meaning both, or a sequence of one or two."""
    numbers = given if _is_sequence(given) else (given,)
    if len(numbers) not in (1, 2):
        raise TransformError(f"{where}: {name} must be one or two numbers, got {given!r}.")
    checked = [read_number(where, name, number, least=least) for number in numbers]
    return checked[0], checked[-1]


def read_jitter(
    where: str, name: str, given: Any, *, centre: float, least: float, most: float
) -> tuple[float, float] | None:
    """(min, max) from a distance to `centre` or from both; None where nothing would change.

    A distance is cut off at `least` only if that is 0, as torchvision does for factors.
    """
    if given is None:
        return None
    if _is_sequence(given):
        low, high = read_range(where, name, given)
    else:
        distance = read_number(where, name, given, least=0)
        low, high = centre - distance, centre + distance
        low = max(low, 0.0) if least == 0 else low
    if not least <= low <= high <= most:
        raise TransformError(
            f"{where}: {name} must be numbers{_bounds(least, most)}, got {given!r}, "
            f"which means {low} to {high}."
        )
    return None if low == high == centre else (low, high)


def read_angles(
    where: str, name: str, given: Any, *, lengths: tuple[int, ...] = (2,)
) -> tuple[float, ...]:
    """Ranges of degrees: one number means from its negative to itself."""
    if not _is_sequence(given):
        most = read_number(where, name, given, least=0)
        return -most, most
    numbers = read_numbers(where, name, given)
    ranges = zip(numbers[0::2], numbers[1::2], strict=False)
    if len(numbers) not in lengths or any(low > high for low, high in ranges):
        wanted = " or ".join("(min, max)" if n == 2 else "two such ranges" for n in lengths)
        raise TransformError(f"{where}: {name} must be a number or {wanted}, got {given!r}.")
    return numbers


def read_centre(where: str, given: Any) -> tuple[float, float] | None:
    """(x, y) in pixels from the upper left corner; None is the middle of the image."""
    if given is None:
        return None
    numbers = read_numbers(where, "center", given if _is_sequence(given) else ())
    if len(numbers) != 2:
        raise TransformError(f"{where}: center must be two numbers (x, y), got {given!r}.")
    return numbers[0], numbers[1]


def read_probability(where: str, given: Any) -> float:
    """A number between 0 and 1."""
    if not isinstance(given, Real) or not 0 <= float(given) <= 1:
        raise TransformError(f"{where}: p must be between 0 and 1, got {given!r}.")
    return float(given)


def read_size(
    where: str, given: Any, name: str = "size", order: str = "(height, width)"
) -> tuple[int, int]:
    """(height, width) from an integer, meaning a square, or a sequence of one or two."""
    sides = given if _is_sequence(given) else (given,)
    if len(sides) not in (1, 2):
        raise TransformError(f"{where}: {name} must be an integer or {order}, got {given!r}.")
    checked = [read_integer(where, name, side, least=1) for side in sides]
    return checked[0], checked[-1]


def read_padding(where: str, given: Any) -> Borders:
    """(left, top, right, bottom) from one number, (left/right, top/bottom), or all four.

    Negative numbers cut off.
    """
    borders = given if _is_sequence(given) else (given,)
    if len(borders) not in (1, 2, 4):
        raise TransformError(
            f"{where}: padding must be an integer or a sequence of 1, 2 or 4 integers, "
            f"got {given!r}."
        )
    checked = [read_integer(where, "padding", border, least=-MAX_SIDE_PX) for border in borders]
    left, top = checked[0], checked[1 % len(checked)]
    right, bottom = (checked[2], checked[3]) if len(checked) == 4 else (left, top)
    return left, top, right, bottom


def read_border_look(where: str, padding_mode: Any, fill: Any) -> BorderLook:
    """The arguments `padding_mode` and `fill` of a transform that adds a border."""
    return BorderLook(_read_padding_mode(where, padding_mode), read_fill(where, fill))


def _read_padding_mode(where: str, given: Any) -> PadMode:
    """One of the four ways to fill a border."""
    names = [mode.name.lower() for mode in PadMode]
    if given not in names:
        raise TransformError(
            f"{where}: padding_mode must be constant, edge, reflect or symmetric, got {given!r}."
        )
    return PadMode(names.index(given))


def read_channels(where: str, name: str, given: Any) -> PerChannel:
    """A number for each of red, green and blue, from a sequence of one, for all, or of three."""
    numbers = read_numbers(where, name, given)
    if len(numbers) not in (1, 3):
        raise TransformError(
            f"{where}: {name} must be one number, or one for each of red, green and blue, "
            f"got {given!r}."
        )
    red, green, blue = numbers * (3 // len(numbers))
    return red, green, blue


def read_fill(where: str, given: Any) -> Colour:
    """(red, green, blue) from None (black), one number or three; cut to 0..255 as Pillow does."""
    values = given if _is_sequence(given) else (0 if given is None else given,)
    if isinstance(values[0] if values else None, (str, dict)) or len(values) not in (1, 3):
        raise TransformError(
            f"{where}: fill must be a number, or three for red, green and blue, got {given!r}."
        )
    numbers = read_numbers(where, "fill", values)
    red, green, blue = (min(max(int(number), 0), 255) for number in numbers * (3 // len(numbers)))
    return red, green, blue


def plain_fill(where: str, given: Any) -> Fill:
    """A fill as `read_fill` takes it; one that differs by type is checked, and black here."""
    if not isinstance(given, Mapping):
        fill: Fill = given
        return fill
    for kind, one in given.items():
        if not isinstance(kind, type) and kind != "others":
            raise TransformError(
                f'{where}: fill by type has types and "others" as keys, got {kind!r}.'
            )
        read_fill(where, one)
    return 0


def fill_for(fill: Any, value: Any) -> float | list[float] | None:
    """The fill of a called transform for one input, by its exact type or that of "others"."""
    if isinstance(fill, Mapping):
        fill = fill[type(value)] if type(value) in fill else fill.get("others")
    if fill is None or isinstance(fill, (int, float)):
        return fill
    return [float(number) for number in fill]


@lru_cache(maxsize=256)
def mode_name(given: Any) -> str:
    """The name of an interpolation that has been read before; quick, for calls."""
    return read_interpolation("interpolation", given).value


def read_interpolation(where: str, given: object) -> InterpolationMode:
    """The mode that any of the accepted spellings means."""
    value = given.value if isinstance(given, Enum) else given
    if isinstance(value, int) and not isinstance(value, bool) and value in _MODES_BY_NUMBER:
        return _MODES_BY_NUMBER[value]
    if isinstance(value, str):
        for mode in InterpolationMode:
            if mode.value == value:
                return mode
    names = ", ".join(f'"{mode.value}"' for mode in InterpolationMode)
    raise TransformError(
        f"{where}: interpolation is {given!r}. Use {names}, or Pillow's number for one of them."
    )


def read_warp_interpolation(where: str, given: object) -> int:
    """Pillow's number of one of the three filters that can turn and bend an image."""
    mode = read_interpolation(where, given)
    if mode.pillow_filter not in _WARP_FILTERS:
        raise TransformError(
            f"{where}: interpolation {given!r} can only resize. "
            f'Use "nearest", "bilinear" or "bicubic".'
        )
    return mode.pillow_filter


def read_look(where: str, interpolation: object, fill: Any) -> Look:
    """The arguments `interpolation` and `fill` of a transform that turns or bends images."""
    return Look(read_warp_interpolation(where, interpolation), read_fill(where, fill))


def read_generation(where: str, flavor: object) -> Generation:
    """The generation of torchvision's transforms that a flavor names."""
    if flavor not in ("torchvision", "torchvision_v1"):
        raise TransformError(
            f'{where}: flavor must be "torchvision" or "torchvision_v1", got {flavor!r}.'
        )
    return 1 if flavor == "torchvision_v1" else 2


def _bounds(least: float, most: float, above: float = -math.inf) -> str:
    if not math.isinf(above):
        return f" greater than {above:g}"
    if math.isinf(most):
        return "" if math.isinf(least) else f" of at least {least:g}"
    return f" between {least:g} and {most:g}"


def _is_sequence(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str)
