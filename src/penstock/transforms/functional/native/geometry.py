"""Where pixels lie: resizes and warps."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from penstock._core import Effect, resize_anew
from penstock.errors import LoaderError
from penstock.pillow_order import check_installed_pillow, vertical_first_in
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.effects import pack_colour
from penstock.transforms.functional.arguments import (
    Centre,
    Coefficients,
    Fill,
    Interpolation,
    Points,
    Sides,
    read_mode,
    read_turn,
    resized_size,
)
from penstock.transforms.functional.matrices import affine_matrix, perspective_coefficients
from penstock.transforms.functional.native.memory import (
    channels_of,
    image_of,
    instead_of,
    memory_of,
    run_effect,
    size_of,
)
from penstock.transforms.functional.pillow import geometry as pillow

Box = tuple[int, int, int, int]  # top, left, height, width
Part = tuple[float, float, float, float]  # left, top, right, bottom
Matrix = tuple[float, ...]  # six numbers

_LARGEST_SIDE = 1 << 24


@instead_of(pillow.resize)
def resize(
    image: Any,
    size: Sides,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """Pillow smooths whenever it shrinks."""
    if antialias is False:
        return None
    height, width = canvas = size_of(image)
    wanted = resized_size(canvas, size, max_size)
    if wanted == canvas:
        return image
    return resized(image, (0, 0, height, width), wanted, read_mode(interpolation).pillow_filter)


@instead_of(pillow.resized_crop)
def resized_crop(
    image: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sides,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """Crop, then resize, in one go."""
    full_height, full_width = size_of(image)
    is_inside = 0 <= top <= full_height - height and 0 <= left <= full_width - width
    if antialias is False or not (is_inside and height > 0 and width > 0):
        return None
    wanted = resized_size((height, width), size)
    filter = read_mode(interpolation).pillow_filter
    if wanted == (height, width):
        return None  # a crop alone
    return resized(image, (top, left, height, width), wanted, filter)


def resized(
    image: Any, box: Box, wanted: tuple[int, int], filter: int, part: Part | None = None
) -> Any:
    """A part of an image in another size; None where Pillow must do it.

    `part` is within the box, and filters read past its edges, as in Pillow's `resize(box=)`.
    """
    height, width = wanted
    if not (0 < height <= _LARGEST_SIDE and 0 < width <= _LARGEST_SIDE) or not _order_is_known():
        return None
    vertical_first = vertical_first_in(*box[2:], height, width)
    memory = memory_of(image)
    return image_of(resize_anew(memory, box, wanted, filter, vertical_first, part), image)


@cache
def _order_is_known() -> bool:
    """Whether the installed Pillow resizes in an order that the core knows."""
    try:
        check_installed_pillow()
    except LoaderError:
        return False
    return True


@instead_of(pillow.affine)
def affine(
    image: Any,
    angle: float,
    translate: Any,
    scale: float,
    shear: Any,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: Centre = None,
) -> Any:
    """Shear, scale, turn around `center`, then move."""
    filter = read_mode(interpolation).pillow_filter
    turn = read_turn(angle, translate, scale, shear, center)
    height, width = size_of(image)
    centre = turn.centre or (width * 0.5, height * 0.5)
    matrix = affine_matrix(centre, turn.angle, turn.translate, scale, turn.shear)
    return warp(image, Effect.AFFINE, tuple(matrix), filter, fill)


@instead_of(pillow.rotate)
def rotate(
    image: Any,
    angle: float,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Centre = None,
    fill: Fill = None,
) -> Any:
    """Counterclockwise, around `center` or the middle."""
    filter = read_mode(interpolation).pillow_filter
    degrees = angle % 360.0
    if center is None and degrees in {0.0, 90.0, 180.0, 270.0}:
        return None  # Pillow only changes places, or copies
    matrix, size = _rotation(degrees, size_of(image), center, expand=expand)
    return warp(image, Effect.AFFINE, matrix, filter, fill, size)


def _rotation(
    degrees: float, size: tuple[int, int], center: Centre, *, expand: bool
) -> tuple[Matrix, tuple[int, int]]:
    """What Pillow's Image.rotate computes, in its order; `warp_matrices` has it for batches."""
    height, width = size
    x, y = (width / 2.0, height / 2.0) if center is None else center
    angle = -math.radians(degrees)
    cos, sin = round(math.cos(angle), 15), round(math.sin(angle), 15)
    offset_x = (cos * -x + sin * -y + 0.0) + x
    offset_y = (-sin * -x + cos * -y + 0.0) + y
    if not expand:
        return (cos, sin, offset_x, -sin, cos, offset_y), size
    corners = ((0, 0), (width, 0), (width, height), (0, height))
    xs = [cos * a + sin * b + offset_x for a, b in corners]
    ys = [-sin * a + cos * b + offset_y for a, b in corners]
    out_width = math.ceil(max(xs)) - math.floor(min(xs))
    out_height = math.ceil(max(ys)) - math.floor(min(ys))
    left, top = -(out_width - width) / 2.0, -(out_height - height) / 2.0
    moved_x = cos * left + sin * top + offset_x
    moved_y = -sin * left + cos * top + offset_y
    return (cos, sin, moved_x, -sin, cos, moved_y), (out_height, out_width)


@instead_of(pillow.perspective)
def perspective(
    image: Any,
    startpoints: Points,
    endpoints: Points,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
    coefficients: Coefficients = None,
) -> Any:
    """As seen from another place: four corners go elsewhere."""
    numbers = perspective_coefficients(startpoints, endpoints, coefficients)
    filter = read_mode(interpolation).pillow_filter
    return warp(image, Effect.PERSPECTIVE, tuple(numbers), filter, fill)


_WARP_FILTERS = {0, 2, 3}  # nearest, bilinear, bicubic


def warp(
    image: Any,
    effect: Effect,
    matrix: Matrix,
    filter: int,
    fill: Fill,
    size: tuple[int, int] = (0, 0),
) -> Any:
    """An image seen through a matrix; None where Pillow must do it."""
    colour = 0 if fill is None else packed_fill(fill, channels_of(image))
    # The sum of finite numbers is, but for enormous ones.
    is_usual = filter in _WARP_FILTERS and math.isfinite(sum(matrix))
    if colour is None or not is_usual:
        return None
    return run_effect(image, effect, *matrix, filter, colour, size=size)


def packed_fill(fill: Fill, channels: int) -> int | None:
    """One colour as the core has it; None for fills that are not levels, which Pillow knows."""
    if fill is None:
        return 0
    if type(fill) is int and 0 <= fill < 256:
        return pack_colour(fill, fill, fill)
    levels: list[Any] = list(fill) if isinstance(fill, (list, tuple)) else [fill]
    if len(levels) not in {1, channels}:
        return None
    levels = levels * 3 if len(levels) == 1 else levels
    if not all(isinstance(v, (int, float)) and 0 <= v < 256 for v in levels):
        return None
    return pack_colour(*(int(level) for level in levels))
