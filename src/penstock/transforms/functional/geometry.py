"""Where pixels lie, on every kind of input: flips, crops, borders, sizes and warps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.functional.arguments import (
    Centre,
    Coefficients,
    Fill,
    Interpolation,
    Padding,
    Points,
    Sides,
)
from penstock.transforms.functional.dispatch import Kernels
from penstock.transforms.functional.native import geometry as native
from penstock.transforms.functional.native import placing
from penstock.transforms.functional.pillow import geometry as pillow

T = TypeVar("T")

_horizontal_flip = Kernels("horizontal_flip", placing.horizontal_flip)
_vertical_flip = Kernels("vertical_flip", placing.vertical_flip)
_resize = Kernels("resize", native.resize)
_crop = Kernels("crop", placing.crop)
_center_crop = Kernels("center_crop", placing.center_crop)
_resized_crop = Kernels("resized_crop", native.resized_crop)
_five_crop = Kernels("five_crop", placing.five_crop)
_ten_crop = Kernels("ten_crop", placing.ten_crop)
_pad = Kernels("pad", placing.pad)
_affine = Kernels("affine", native.affine)
_rotate = Kernels("rotate", native.rotate)
_perspective = Kernels("perspective", native.perspective)
_elastic = Kernels("elastic", pillow.elastic)


def horizontal_flip(inpt: T) -> T:
    """Mirror left to right."""
    flipped: T = _horizontal_flip[type(inpt)](inpt)
    return flipped


def vertical_flip(inpt: T) -> T:
    """Mirror top to bottom."""
    flipped: T = _vertical_flip[type(inpt)](inpt)
    return flipped


def resize(
    inpt: T,
    size: Sides,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> T:
    """Resize to `size`.

    That is (height, width); one number for the shorter side, the other following in proportion, at
    most `max_size`; or None, with `max_size` for the longer side.
    """
    resized: T = _resize[type(inpt)](inpt, size, interpolation, max_size, antialias)
    return resized


def crop(inpt: T, top: int, left: int, height: int, width: int) -> T:
    """Keep a rectangle; what lies outside of the image is black."""
    cropped: T = _crop[type(inpt)](inpt, top, left, height, width)
    return cropped


def center_crop(inpt: T, output_size: Padding) -> T:
    """Keep the middle; what the image lacks is black."""
    cropped: T = _center_crop[type(inpt)](inpt, output_size)
    return cropped


def resized_crop(
    inpt: T,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sides,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> T:
    """Crop, then resize."""
    resized: T = _resized_crop[type(inpt)](
        inpt,
        top,
        left,
        height,
        width,
        size,
        interpolation,
        antialias,
    )
    return resized


def five_crop(inpt: T, size: Padding) -> tuple[T, T, T, T, T]:
    """The corners (top left, top right, bottom left, bottom right), and the middle."""
    crops: tuple[T, T, T, T, T] = _five_crop[type(inpt)](inpt, size)
    return crops


def ten_crop(inpt: T, size: Padding, vertical_flip: bool = False) -> tuple[T, ...]:
    """Five crops of the image, and five of the mirrored one."""
    crops: tuple[T, ...] = _ten_crop[type(inpt)](inpt, size, vertical_flip)
    return crops


def pad(inpt: T, padding: Padding, fill: Fill = None, padding_mode: str = "constant") -> T:
    """Add borders, given as one number, (left/right, top/bottom) or (left, top, right, bottom).

    They are of one colour ("constant"), repeat the last pixels ("edge"), or mirror the image
    ("reflect", and "symmetric" with the last pixels twice). Negative borders cut.
    """
    padded: T = _pad[type(inpt)](inpt, padding, fill, padding_mode)
    return padded


def affine(
    inpt: T,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    interpolation: Interpolation = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: Centre = None,
) -> T:
    """Shear, scale, turn clockwise around `center`, then move by `translate` (x, y)."""
    warped: T = _affine[type(inpt)](
        inpt,
        angle,
        translate,
        scale,
        shear,
        interpolation,
        fill,
        center,
    )
    return warped


def rotate(
    inpt: T,
    angle: float,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Centre = None,
    fill: Fill = None,
) -> T:
    """Turn counterclockwise, in degrees; `expand` makes room for all of the image."""
    turned: T = _rotate[type(inpt)](inpt, angle, interpolation, expand, center, fill)
    return turned


def perspective(
    inpt: T,
    startpoints: Points,
    endpoints: Points,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
    coefficients: Coefficients = None,
) -> T:
    """As seen from another place: the four `startpoints` (x, y) go to the `endpoints`.

    Or give the eight `coefficients`, which lead from the result back to the image.
    """
    warped: T = _perspective[type(inpt)](
        inpt,
        startpoints,
        endpoints,
        interpolation,
        fill,
        coefficients,
    )
    return warped


def elastic(
    inpt: T,
    displacement: Any,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> T:
    """Move every pixel on its own.

    `displacement` is a tensor (1, height, width, 2) of x and y, where the image's sides are 2 long.
    """
    moved: T = _elastic[type(inpt)](inpt, displacement, interpolation, fill)
    return moved


hflip = horizontal_flip
vflip = vertical_flip
elastic_transform = elastic
