"""Masks follow their image by the kernels on images, with the nearest pixel and never a mixed one.

A mask may lack the dimension for channels: it is added, and taken away again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from penstock.errors import TransformError
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.functional.arguments import (
    Centre,
    Coefficients,
    Fill,
    Interpolation,
    Padding,
    Points,
    Sides,
    read_mode,
)
from penstock.transforms.functional.tensors.geometry import (
    center_crop_image,
    crop_image,
    horizontal_flip_image,
    pad_image,
    vertical_flip_image,
)
from penstock.transforms.functional.tensors.rename import renamed
from penstock.transforms.functional.tensors.resize import resize_image
from penstock.transforms.functional.tensors.warp import (
    affine_image,
    elastic_image,
    perspective_image,
    rotate_image,
)

_NEAREST = InterpolationMode.NEAREST


def _on_channels(kernel: Any, mask: Tensor, **arguments: Any) -> Tensor:
    if mask.ndim >= 3:
        moved: Tensor = kernel(mask, **arguments)
    else:
        moved = kernel(mask.unsqueeze(0), **arguments).squeeze(0)
    return moved


def resize_mask(
    mask: Tensor,
    size: Sides,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
) -> Tensor:
    """Of the modes, only the two nearest ones count; others mean the older of the two."""
    mode = read_mode(interpolation)
    if mode is not InterpolationMode.NEAREST_EXACT:
        mode = _NEAREST
    return _on_channels(resize_image, mask, size=size, interpolation=mode, max_size=max_size)


def crop_mask(mask: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """What lies outside is 0."""
    return _on_channels(crop_image, mask, top=top, left=left, height=height, width=width)


def center_crop_mask(mask: Tensor, output_size: Padding) -> Tensor:
    """A mask that is too small is padded with 0 first."""
    return _on_channels(center_crop_image, mask, output_size=output_size)


def resized_crop_mask(
    mask: Tensor, top: int, left: int, height: int, width: int, size: Sides
) -> Tensor:
    """Crop, then resize."""
    return resize_mask(crop_mask(mask, top, left, height, width), size)


def pad_mask(
    mask: Tensor, padding: Padding, fill: Fill = None, padding_mode: str = "constant"
) -> Tensor:
    """Borders have one value, whatever the number of planes."""
    if isinstance(fill, (tuple, list)):
        raise TransformError(f"Non-scalar fill value is not supported for masks, got {fill!r}.")
    look = {"fill": fill, "padding_mode": padding_mode}
    return _on_channels(pad_image, mask, padding=padding, **look)


def affine_mask(
    mask: Tensor,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    fill: Fill = None,
    center: Centre = None,
) -> Tensor:
    """Shear, scale, turn around `center`, then move."""
    return _on_channels(
        affine_image,
        mask,
        angle=angle,
        translate=translate,
        scale=scale,
        shear=shear,
        interpolation=_NEAREST,
        fill=fill,
        center=center,
    )


def rotate_mask(
    mask: Tensor, angle: float, expand: bool = False, center: Centre = None, fill: Fill = None
) -> Tensor:
    """Counterclockwise, around `center` or the middle."""
    look = {"interpolation": _NEAREST, "fill": fill}
    return _on_channels(rotate_image, mask, angle=angle, expand=expand, center=center, **look)


def perspective_mask(
    mask: Tensor,
    startpoints: Points,
    endpoints: Points,
    fill: Fill = None,
    coefficients: Coefficients = None,
) -> Tensor:
    """As seen from another place."""
    return _on_channels(
        perspective_image,
        mask,
        startpoints=startpoints,
        endpoints=endpoints,
        interpolation=_NEAREST,
        fill=fill,
        coefficients=coefficients,
    )


def elastic_mask(mask: Tensor, displacement: Any, fill: Fill = None) -> Tensor:
    """Every pixel moved on its own."""
    look = {"interpolation": _NEAREST, "fill": fill}
    return _on_channels(elastic_image, mask, displacement=displacement, **look)


horizontal_flip_mask = renamed(horizontal_flip_image, "mask")
vertical_flip_mask = renamed(vertical_flip_image, "mask")
