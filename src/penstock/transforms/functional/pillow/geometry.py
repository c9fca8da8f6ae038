"""Where the pixels of a Pillow image lie: flips, crops, borders, sizes and warps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from penstock.errors import TransformError, TransformTypeError
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.functional.arguments import (
    Borders,
    Centre,
    Coefficients,
    Fill,
    Interpolation,
    Padding,
    Points,
    Sides,
    centre_borders,
    centre_corner,
    corners_of_crops,
    read_borders,
    read_crop_size,
    read_five_crop_size,
    read_mode,
    read_turn,
    require_room,
    resized_size,
)
from penstock.transforms.functional.matrices import affine_matrix, perspective_coefficients
from penstock.transforms.functional.pillow.conversions import by_tensor


def horizontal_flip(image: Image.Image) -> Image.Image:
    """Left to right."""
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def vertical_flip(image: Image.Image) -> Image.Image:
    """Top to bottom."""
    return image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)


def resize(
    image: Image.Image,
    size: Sides,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Image.Image:
    """Pillow smooths whenever it shrinks."""
    if antialias is False:
        _warn_of_antialias()
    height, width = resized_size((image.height, image.width), size, max_size)
    filter = read_mode(interpolation).pillow_filter
    if (width, height) == image.size:
        return image
    return image.resize((width, height), resample=filter)


def _warn_of_antialias() -> None:
    warnings.warn(
        "Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.",
        stacklevel=4,
    )


def crop(image: Image.Image, top: int, left: int, height: int, width: int) -> Image.Image:
    """What lies outside of the image is black."""
    return image.crop((left, top, left + width, top + height))


def center_crop(image: Image.Image, output_size: Padding) -> Image.Image:
    """An image that is too small is padded first."""
    wanted = read_crop_size(output_size)
    canvas = image.height, image.width
    if wanted[0] > canvas[0] or wanted[1] > canvas[1]:
        image = pad(image, centre_borders(canvas, wanted), fill=0)
        canvas = image.height, image.width
        if canvas == wanted:
            return image
    return crop(image, *centre_corner(canvas, wanted), *wanted)


def resized_crop(
    image: Image.Image,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sides,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Image.Image:
    """Crop, then resize."""
    if antialias is False:
        _warn_of_antialias()
    return resize(crop(image, top, left, height, width), size, interpolation=interpolation)


def five_crop(image: Image.Image, size: Padding) -> tuple[Image.Image, ...]:
    """The four corners and the middle."""
    canvas, wanted = (image.height, image.width), read_five_crop_size(size)
    require_room(canvas, wanted, size)
    corners = (crop(image, *corner, *wanted) for corner in corners_of_crops(canvas, wanted))
    return *corners, center_crop(image, wanted)


def ten_crop(
    image: Image.Image, size: Padding, vertical_flip: bool = False
) -> tuple[Image.Image, ...]:
    """Five crops of the image, and five of the mirrored one."""
    turn = Image.Transpose.FLIP_TOP_BOTTOM if vertical_flip else Image.Transpose.FLIP_LEFT_RIGHT
    return five_crop(image, size) + five_crop(image.transpose(turn), size)


def pad(
    image: Image.Image, padding: Padding, fill: Fill = None, padding_mode: str = "constant"
) -> Image.Image:
    """Add borders of one colour, or that repeat the image; negative ones cut it."""
    _check_pad(padding, fill, padding_mode)
    palette = image.getpalette() if image.mode == "P" else None
    if padding_mode == "constant":
        border: Any = tuple(padding) if isinstance(padding, (list, tuple)) else padding
        if isinstance(border, tuple) and len(border) == 1:
            border = border[0]
        padded = ImageOps.expand(image, border=border, fill=colour_for(image, fill))
    else:
        padded = _pad_by_repeating(image, read_borders(padding), padding_mode)
    if palette is not None:
        padded.putpalette(palette)
    return padded


def _check_pad(padding: Any, fill: Any, padding_mode: Any) -> None:
    if not isinstance(padding, (Number, tuple, list)):
        raise TransformTypeError(f"Got inappropriate padding arg: {padding!r}.")
    if fill is not None and not isinstance(fill, (Number, tuple, list)):
        raise TransformTypeError(f"Got inappropriate fill arg: {fill!r}.")
    if not isinstance(padding_mode, str):
        raise TransformTypeError(f"Got inappropriate padding_mode arg: {padding_mode!r}.")
    if isinstance(padding, (tuple, list)) and len(padding) not in {1, 2, 4}:
        raise TransformError(
            "Padding must be an int or a 1, 2, or 4 element tuple, "
            f"not a {len(padding)} element tuple"
        )
    if padding_mode not in {"constant", "edge", "reflect", "symmetric"}:
        raise TransformError(
            "Padding mode should be either constant, edge, reflect or symmetric, "
            f"got {padding_mode!r}."
        )


def _pad_by_repeating(image: Image.Image, borders: Borders, padding_mode: str) -> Image.Image:
    left, top, right, bottom = borders
    if min(borders) < 0:
        box = (-min(left, 0), -min(top, 0))
        ends = (image.width + min(right, 0), image.height + min(bottom, 0))
        image = image.crop((*box, *ends))
    pixels = np.asarray(image)
    widths = [(max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0)), (0, 0)]
    padded = np.pad(pixels, widths[: pixels.ndim], padding_mode)  # type: ignore[call-overload]  # checked
    return Image.fromarray(padded)


def affine(
    image: Image.Image,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    interpolation: Interpolation = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: Centre = None,
) -> Image.Image:
    """Shear, scale, turn around `center`, then move."""
    filter = read_mode(interpolation).pillow_filter
    turn = read_turn(angle, translate, scale, shear, center)
    centre = turn.centre or (image.width * 0.5, image.height * 0.5)
    matrix = affine_matrix(centre, turn.angle, turn.translate, scale, turn.shear)
    return _transform(image, Image.Transform.AFFINE, matrix, filter, fill)


def rotate(
    image: Image.Image,
    angle: float,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Centre = None,
    fill: Fill = None,
) -> Image.Image:
    """Counterclockwise, around `center` or the middle."""
    filter: Any = read_mode(interpolation).pillow_filter
    around: Any = center
    return image.rotate(angle, filter, expand, around, fillcolor=colour_for(image, fill))


def perspective(
    image: Image.Image,
    startpoints: Points,
    endpoints: Points,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
    coefficients: Coefficients = None,
) -> Image.Image:
    """As seen from another place: four corners go elsewhere."""
    numbers = perspective_coefficients(startpoints, endpoints, coefficients)
    filter = read_mode(interpolation).pillow_filter
    return _transform(image, Image.Transform.PERSPECTIVE, numbers, filter, fill)


def _transform(
    image: Image.Image,
    method: Image.Transform,
    numbers: Sequence[float],
    filter: int,
    fill: Fill,
) -> Image.Image:
    colour = colour_for(image, fill)
    return image.transform(image.size, method, numbers, filter, fillcolor=colour)


def elastic(
    image: Image.Image,
    displacement: Any,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> Image.Image:
    """Every pixel moved on its own, by a tensor of displacements."""
    arguments = {"displacement": displacement, "interpolation": interpolation, "fill": fill}
    return by_tensor(image, "elastic_image", **arguments)


def colour_for(image: Image.Image, fill: Fill) -> Any:
    """A fill as Pillow takes it for the image's mode: whole numbers, one for each channel."""
    channels = len(image.getbands())
    if isinstance(fill, (list, tuple)):
        if len(fill) not in {1, channels}:
            raise TransformError(
                "The number of elements in 'fill' does not match the number of channels of the "
                f"image ({len(fill)} != {channels})"
            )
        colour: Any = tuple(fill) * (channels if len(fill) == 1 else 1)
    else:
        colour = 0 if fill is None else fill
        if isinstance(colour, (int, float)) and channels > 1:
            colour = (colour,) * channels
    if image.mode == "F":
        return colour
    return tuple(map(int, colour)) if isinstance(colour, tuple) else int(colour)
