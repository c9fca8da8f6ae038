"""The names of Pillow's resampling filters, as torchvision spells them."""

from __future__ import annotations

from enum import Enum

from penstock.errors import TransformError


class InterpolationMode(Enum):
    """How a resize computes its pixels.

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

    def __repr__(self) -> str:
        return f"InterpolationMode.{self.name}"

    @property
    def pillow_filter(self) -> int:
        """The filter's number in Pillow and in the core."""
        return _PILLOW_FILTERS[self]


# Pillow has one nearest filter; torchvision maps both of its own to it.
_PILLOW_FILTERS = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.NEAREST_EXACT: 0,
    InterpolationMode.LANCZOS: 1,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
}
_MODES_BY_NUMBER = {
    number: mode
    for mode, number in _PILLOW_FILTERS.items()
    if mode is not InterpolationMode.NEAREST_EXACT
}

_WARP_FILTERS = (0, 2, 3)

Interpolation = InterpolationMode | str | int


def read_interpolation(where: str, given: object) -> InterpolationMode:
    """Resolve any of the accepted spellings."""
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
