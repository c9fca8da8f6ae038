"""Where the pixels of a tensor lie: flips, crops and borders."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad as pad_tensor

from penstock.errors import TransformError
from penstock.transforms.functional.arguments import (
    Borders,
    Fill,
    Padding,
    centre_borders,
    centre_corner,
    corners_of_crops,
    read_borders,
    read_crop_size,
    read_five_crop_size,
    require_channels,
    require_room,
)
from penstock.transforms.functional.native.tensors import placing
from penstock.transforms.functional.native.tensors.tried import is_plain
from penstock.transforms.functional.tensors.rename import renamed

_TORCH_MODES = {"edge": "replicate", "reflect": "reflect"}


def horizontal_flip_image(image: Tensor) -> Tensor:
    """Left to right."""
    return image.flip(-1)


def vertical_flip_image(image: Tensor) -> Tensor:
    """Top to bottom."""
    return image.flip(-2)


def crop_image(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """What lies outside of the image is black."""
    full_height, full_width = image.shape[-2:]
    right, bottom = left + width, top + height
    if left >= 0 and top >= 0 and right <= full_width and bottom <= full_height:
        return image[..., top:bottom, left:right]
    inner = image[..., max(top, 0) : bottom, max(left, 0) : right]
    missing = (
        max(min(right, 0) - left, 0),
        max(min(bottom, 0) - top, 0),
        max(right - max(full_width, left), 0),
        max(bottom - max(full_height, top), 0),
    )
    return _pad(inner, missing, 0, "constant")


def center_crop_image(image: Tensor, output_size: Padding) -> Tensor:
    """An image that is too small is padded first."""
    wanted = read_crop_size(output_size)
    if image.numel() == 0:
        return image.reshape(image.shape[:-2] + wanted)
    height, width = image.shape[-2:]
    if wanted[0] > height or wanted[1] > width:
        borders = left, top, right, bottom = centre_borders((height, width), wanted)
        if image.ndim > 2:
            image = _pad(image, borders, 0, "constant")
        else:
            image = pad_tensor(image, [left, right, top, bottom])
        height, width = image.shape[-2:]
        if (height, width) == wanted:
            return image
    top, left = centre_corner((height, width), wanted)
    return image[..., top : top + wanted[0], left : left + wanted[1]]


def five_crop_image(image: Tensor, size: Padding) -> tuple[Tensor, ...]:
    """The four corners and the middle."""
    height, width = image.shape[-2:]
    canvas, wanted = (height, width), read_five_crop_size(size)
    require_room(canvas, wanted, size)
    places = *corners_of_crops(canvas, wanted), centre_corner(canvas, wanted)
    if not (image.numel() and is_plain(image) and type(wanted[0] + wanted[1]) is int):
        crops = [crop_image(image, *place, *wanted) for place in places[:-1]]
        return *crops, center_crop_image(image, wanted)
    return placing.parts(image, places, wanted)


def ten_crop_image(image: Tensor, size: Padding, vertical_flip: bool = False) -> tuple[Tensor, ...]:
    """Five crops of the image, and five of the mirrored one."""
    mirrored = image.flip(-2 if vertical_flip else -1)
    return five_crop_image(image, size) + five_crop_image(mirrored, size)


def pad_image(
    image: Tensor, padding: Padding, fill: Fill = None, padding_mode: str = "constant"
) -> Tensor:
    """Add borders of one colour, or that repeat the image; negative ones cut it."""
    borders = read_borders(padding)
    if padding_mode not in {"constant", "edge", "reflect", "symmetric"}:
        raise TransformError(
            "`padding_mode` should be either `'constant'`, `'edge'`, `'reflect'` or "
            f"`'symmetric'`, but got `'{padding_mode}'`."
        )
    if fill is None:
        return _pad(image, borders, 0, padding_mode)
    if isinstance(fill, (int, float)):
        return _pad(image, borders, fill, padding_mode)
    if len(fill) == 1:
        return _pad(image, borders, fill[0], padding_mode)
    if padding_mode != "constant":
        raise TransformError(
            f"Padding mode '{padding_mode}' is not supported if fill is not scalar"
        )
    return _pad_with_colour(image, borders, fill)


def _pad(image: Tensor, borders: Borders, fill: float, padding_mode: str) -> Tensor:
    require_channels(image.shape, "pad")
    left, top, right, bottom = borders
    native: Tensor | None = None
    if padding_mode == "constant":
        native = placing.pad(image, borders, fill) if is_plain(image) else None
    elif placing.is_repeated(image, padding_mode) and is_plain(image):
        native = placing.pad_by_repeating(image, borders, padding_mode)
    if native is not None:
        return native
    shape = image.shape
    is_one = image.ndim == 3
    flat = image.reshape(1, *shape) if is_one else image.reshape(_count(shape[:-3]), *shape[-3:])
    if padding_mode == "constant":
        padded = pad_tensor(flat, [left, right, top, bottom], value=float(fill))
    elif padding_mode == "symmetric":
        padded = _pad_symmetric(flat, borders)
    else:
        is_float = flat.is_floating_point()  # torch repeats fractions only
        source = flat if is_float else flat.to(torch.float32)
        mode = _TORCH_MODES[padding_mode]
        padded = pad_tensor(source, [left, right, top, bottom], mode=mode)
        padded = padded if is_float else padded.to(flat.dtype)
    return padded.squeeze(0) if is_one else padded.reshape(shape[:-3] + padded.shape[-3:])


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for side in shape:
        count *= side
    return count


def _pad_symmetric(image: Tensor, borders: Borders) -> Tensor:
    """The border mirrors the image and repeats its last pixels, unlike "reflect"."""
    left, top, right, bottom = borders
    height, width = image.shape[-2:]
    rows = _mirrored(height, top, bottom, image.device)
    columns = _mirrored(width, left, right, image.device)
    return image[..., rows[:, None], columns]


def _mirrored(side: int, before: int, after: int, device: torch.device) -> Tensor:
    """Where each row or column comes from."""
    first, last = max(-before, 0), side + min(after, 0)
    inner = list(range(side))[first:last]
    mirrored = inner[max(before, 0) - 1 :: -1] if before > 0 else []
    behind = inner[: -after - 1 : -1] if after > 0 else []
    if max(before, after) > len(inner):
        raise TransformError(
            f"pad: a symmetric border of {max(before, after)} pixels is wider than the image, "
            f"which has {len(inner)} there."
        )
    return torch.tensor(mirrored + inner + behind, dtype=torch.int64, device=device)


def _pad_with_colour(image: Tensor, borders: Borders, fill: Sequence[float]) -> Tensor:
    native = placing.pad_with_colour(image, borders, fill) if is_plain(image) else None
    if native is not None:
        return native
    output = _pad(image, borders, 0, "constant")
    # By way of the numbers' own type: a tensor of bytes would refuse fractions.
    colour = torch.tensor(fill, device=image.device).to(dtype=image.dtype).reshape(-1, 1, 1)
    left, top, right, bottom = borders
    if top > 0:
        output[..., :top, :] = colour
    if left > 0:
        output[..., :, :left] = colour
    if bottom > 0:
        output[..., -bottom:, :] = colour
    if right > 0:
        output[..., :, -right:] = colour
    return output


horizontal_flip_video = renamed(horizontal_flip_image, "video")
vertical_flip_video = renamed(vertical_flip_image, "video")
crop_video = renamed(crop_image, "video")
center_crop_video = renamed(center_crop_image, "video")
five_crop_video = renamed(five_crop_image, "video")
ten_crop_video = renamed(ten_crop_image, "video")
pad_video = renamed(pad_image, "video")
