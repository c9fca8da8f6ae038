"""Reading what users hand to the functions: the same forms as torchvision takes.

Pillow images and tensors are read alike here. Where their kernels must differ, as torchvision's
do, they read for themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from numbers import Number
from typing import Any, NamedTuple

from penstock.errors import DimensionError, TransformError, TransformTypeError
from penstock.transforms.arguments import Interpolation, InterpolationMode

Sides = int | Sequence[int] | None  # (height, width), one number for the shorter side, or None
Padding = int | Sequence[int]  # one number; left/right, top/bottom; or left, top, right, bottom
Fill = float | Sequence[float] | None
Canvas = tuple[int, int]  # height, width
Borders = tuple[int, int, int, int]  # left, top, right, bottom; negative ones are cut off
Points = Sequence[Sequence[int]] | None  # four corners (x, y)
Coefficients = Sequence[float] | None  # the eight numbers of a perspective
Centre = Sequence[float] | None  # x, y
Sigma = float | Sequence[float] | None  # of a blur: one number, or across and down

__all__ = [
    "Borders",
    "Canvas",
    "Centre",
    "Coefficients",
    "Fill",
    "Interpolation",
    "Padding",
    "Points",
    "Sides",
    "Sigma",
]

_MODES: dict[object, InterpolationMode] = {
    **{mode: mode for mode in InterpolationMode},
    **{mode.value: mode for mode in InterpolationMode},
    # Two modes share Pillow's number 0, which means the older of the two.
    **{mode.pillow_filter: mode for mode in InterpolationMode if mode.name != "NEAREST_EXACT"},
}


def read_mode(given: object) -> InterpolationMode:
    """The mode that an enum of ours or torchvision's, a string or Pillow's number means."""
    try:
        return _MODES[given]
    except (KeyError, TypeError):
        return _read_other_mode(given)


def _read_other_mode(given: object) -> InterpolationMode:
    if isinstance(given, Enum) and given.value in _MODES:
        mode = _MODES[given] = _MODES[given.value]
        return mode
    if isinstance(given, str):
        names = [mode.value for mode in InterpolationMode]
        raise TransformError(
            f"Invalid interpolation mode: '{given}'. Supported string values are: {names}."
        )
    raise TransformError(
        "Argument interpolation should be an `InterpolationMode` or a corresponding Pillow integer "
        f"constant, but got {given!r}."
    )


def resized_size(canvas: Canvas, size: Sides, max_size: int | None = None) -> Canvas:
    """The (height, width) that an image of `canvas` gets; fractions are cut off."""
    height, width = canvas
    if size is None:
        if not isinstance(max_size, int):
            raise TransformError(
                f"max_size must be an integer when size is None, but got {max_size} instead."
            )
        short = int(max_size * min(canvas) / max(canvas))
        return _upright_or_not(height, width, short, max_size)
    if isinstance(size, int):
        wanted = size
    elif len(size) == 1:
        wanted = size[0]
    elif max_size is not None:
        raise TransformError(
            "max_size should only be passed if size is None or specifies the length of the smaller "
            f"edge, i.e. size should be an int or a sequence of length 1, got size={size!r}."
        )
    elif len(size) != 2:
        raise TransformError(
            f"size should be an integer, or a sequence of one or two integers, got {size!r}."
        )
    else:
        return size[0], size[1]
    short, long = wanted, int(wanted * max(canvas) / min(canvas))
    if max_size is not None:
        if max_size <= wanted:
            raise TransformError(
                f"max_size = {max_size} must be strictly greater than the requested size for the "
                f"smaller edge size = {size}"
            )
        if long > max_size:
            short, long = int(max_size * short / long), max_size
    return _upright_or_not(height, width, short, long)


def _upright_or_not(height: int, width: int, short: int, long: int) -> Canvas:
    return (long, short) if width <= height else (short, long)


def read_borders(padding: Padding) -> Borders:
    """One number, (left/right, top/bottom), or all four."""
    if isinstance(padding, int):
        return padding, padding, padding, padding
    if not isinstance(padding, (tuple, list)):
        raise TransformTypeError(
            f"`padding` should be an integer or tuple or list of integers, but got {padding}"
        )
    if len(padding) == 4:
        left, top, right, bottom = padding
        return left, top, right, bottom
    if len(padding) in {1, 2}:
        across, down = padding[0], padding[-1]
        return across, down, across, down
    raise TransformError(
        "Padding must be an int or a 1, 2, or 4 element tuple or list. "
        f"Found {len(padding)} elements: {padding!r}."
    )


def read_crop_size(size: Any) -> Canvas:
    """(height, width) from a number, meaning a square, or from one or two in a sequence."""
    if isinstance(size, Number):
        return int(size), int(size)  # type: ignore[call-overload]  # a Number that is counted with
    height, width = (size[0], size[0]) if len(size) == 1 else size
    return height, width


def read_five_crop_size(size: Any) -> Canvas:
    """The same, for crops that must not be larger than the image."""
    if not isinstance(size, Number) and len(size) not in {1, 2}:
        raise TransformError(
            f"Please provide only two dimensions (h, w) for size. Got size={size!r}."
        )
    return read_crop_size(size)


def require_room(canvas: Canvas, crop: Canvas, size: object) -> None:
    """Refuse crops that are larger than the image."""
    if crop[0] > canvas[0] or crop[1] > canvas[1]:
        raise TransformError(f"Requested crop size {size} is bigger than input size {canvas}")


def centre_borders(canvas: Canvas, crop: Canvas) -> Borders:
    """What an image lacks of a crop from its middle; an odd pixel goes to the right and below."""
    across, down = max(crop[1] - canvas[1], 0), max(crop[0] - canvas[0], 0)
    return across // 2, down // 2, (across + 1) // 2, (down + 1) // 2


def centre_corner(canvas: Canvas, crop: Canvas) -> tuple[int, int]:
    """(top, left) of a crop from the middle; halves go to the even pixel."""
    return round((canvas[0] - crop[0]) / 2.0), round((canvas[1] - crop[1]) / 2.0)


def corners_of_crops(canvas: Canvas, crop: Canvas) -> tuple[tuple[int, int], ...]:
    """(top, left) of the crops at the corners: top left, top right, bottom left, bottom right."""
    bottom, right = canvas[0] - crop[0], canvas[1] - crop[1]
    return (0, 0), (0, right), (bottom, 0), (bottom, right)


class Turn(NamedTuple):
    """The arguments of an affine warp, all of them numbers."""

    angle: float
    translate: tuple[float, float]
    shear: tuple[float, float]
    centre: tuple[float, float] | None


def read_turn(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> Turn:
    """Check the arguments of `affine`."""
    if not isinstance(angle, (int, float)):
        raise TransformTypeError(f"Argument angle should be int or float, got {angle!r}.")
    if not isinstance(translate, (list, tuple)):
        raise TransformTypeError(f"Argument translate should be a sequence, got {translate!r}.")
    if len(translate) != 2:
        raise TransformError(
            f"Argument translate should be a sequence of length 2, got {translate!r}."
        )
    if scale <= 0.0:
        raise TransformError(f"Argument scale should be positive, got {scale!r}.")
    if center is not None and not isinstance(center, (list, tuple)):
        raise TransformTypeError(f"Argument center should be a sequence, got {center!r}.")
    centre = None if center is None else (float(center[0]), float(center[1]))
    return Turn(float(angle), (translate[0], translate[1]), _read_shear(shear), centre)


def _read_shear(shear: Any) -> tuple[float, float]:
    if isinstance(shear, Number):
        return shear, 0.0  # type: ignore[return-value]  # a Number that is counted with
    if not isinstance(shear, (list, tuple)):
        raise TransformTypeError(
            f"Shear should be either a single value or a sequence of two values, got {shear!r}."
        )
    if len(shear) not in {1, 2}:
        raise TransformError(f"Shear should be a sequence containing two values. Got {shear}")
    return shear[0], shear[-1]


def read_blur(kernel_size: Any, sigma: Any) -> tuple[tuple[int, int], tuple[float, float]]:
    """Kernel and sigma of a blur, each (across, down)."""
    if isinstance(kernel_size, int):
        kernel_size = (kernel_size, kernel_size)
    elif len(kernel_size) != 2:
        raise TransformError(
            f"If kernel_size is a sequence its length should be 2. Got {len(kernel_size)}"
        )
    if any(side % 2 == 0 or side < 0 for side in kernel_size):
        raise TransformError(
            f"kernel_size should have odd and positive integers. Got {kernel_size}"
        )
    if sigma is None:
        sigma = [side * 0.15 + 0.35 for side in kernel_size]
    elif isinstance(sigma, (int, float)):
        sigma = (float(sigma), float(sigma))
    elif not isinstance(sigma, (list, tuple)):
        raise TransformTypeError(
            f"sigma should be either float or sequence of floats. Got {type(sigma)}"
        )
    if len(sigma) not in {1, 2}:
        raise TransformError(f"If sigma is a sequence, its length should be 2. Got {len(sigma)}")
    if any(value <= 0.0 for value in sigma):
        raise TransformError(f"sigma should have positive values. Got {sigma}")
    return (kernel_size[0], kernel_size[1]), (sigma[0], sigma[-1])


def require_channels(shape: Sequence[int], function: str) -> None:
    """Refuse the shape of a tensor that has no channels."""
    if len(shape) < 3:
        raise DimensionError(
            f"{function}: a tensor of an image is (..., channels, height, width), got "
            f"{tuple(shape)}. Give a gray one its channel, by image[None]."
        )


def require_hue(hue_factor: float) -> None:
    """Refuse more than half a turn."""
    if not -0.5 <= hue_factor <= 0.5:
        raise TransformError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")


def require_gamma(gamma: float) -> None:
    """Refuse negative powers."""
    if gamma < 0:
        raise TransformError(f"Gamma should be a non-negative real number, got {gamma!r}.")


def require_gray_channels(num_output_channels: int) -> None:
    """Gray images have one channel, or three equal ones."""
    if num_output_channels not in {1, 3}:
        raise TransformError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")


def require_permutation(permutation: Sequence[int], channels: int) -> None:
    """Refuse what does not name every channel."""
    if len(permutation) != channels:
        raise TransformError(
            f"Length of permutation does not match number of channels: "
            f"{len(permutation)} != {channels}"
        )
