"""Keypoints (..., 2), each x and y in pixels, follow their image.

Kernels that change the image's size return it along with the points, as (height, width).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from penstock.errors import TransformError
from penstock.transforms.functional.arguments import (
    Canvas,
    Centre,
    Coefficients,
    Padding,
    Points,
    Sides,
    centre_corner,
    read_borders,
    read_crop_size,
    read_turn,
    resized_size,
)
from penstock.transforms.functional.matrices import (
    NO_MOVE,
    affine_matrix,
    forward_matrix,
    invert_perspective,
    perspective_coefficients,
)
from penstock.transforms.functional.tensors.warp import (
    expanded_size,
    identity_grid,
    require_displacement,
)


def horizontal_flip_keypoints(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """Left to right."""
    return _flip(keypoints, 0, canvas_size[1])


def vertical_flip_keypoints(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """Top to bottom."""
    return _flip(keypoints, 1, canvas_size[0])


def _flip(keypoints: Tensor, axis: int, side: int) -> Tensor:
    flipped = keypoints.clone()
    flipped[..., axis].sub_(side - 1).neg_()
    return flipped


def resize_keypoints(
    keypoints: Tensor, size: Sides, canvas_size: Canvas, max_size: int | None = None
) -> tuple[Tensor, Canvas]:
    """In proportion to the image."""
    height, width = canvas_size
    new = resized_size(canvas_size, size, max_size)
    if new == (height, width):
        return keypoints, canvas_size
    ratios = torch.tensor([new[1] / width, new[0] / height], device=keypoints.device)
    return keypoints.mul(ratios).to(keypoints.dtype), new


def crop_keypoints(
    keypoints: Tensor, top: int, left: int, height: int, width: int
) -> tuple[Tensor, Canvas]:
    """Points outside of the crop stay, with coordinates outside."""
    return keypoints - _pair(keypoints, left, top), (height, width)


def center_crop_keypoints(
    inpt: Tensor, canvas_size: Canvas, output_size: Padding
) -> tuple[Tensor, Canvas]:
    """A crop from the middle."""
    wanted = read_crop_size(output_size)
    return crop_keypoints(inpt, *centre_corner(canvas_size, wanted), *wanted)


def resized_crop_keypoints(
    keypoints: Tensor, top: int, left: int, height: int, width: int, size: Sides
) -> tuple[Tensor, Canvas]:
    """Crop, then resize."""
    cropped, canvas = crop_keypoints(keypoints, top, left, height, width)
    return resize_keypoints(cropped, size=size, canvas_size=canvas)


def pad_keypoints(
    keypoints: Tensor, canvas_size: Canvas, padding: Padding, padding_mode: str = "constant"
) -> tuple[Tensor, Canvas]:
    """Only with borders that repeat nothing: points would have to be repeated too."""
    if padding_mode != "constant":
        raise TransformError(
            f"Padding mode '{padding_mode}' is not supported with KeyPoints "
            "(supported modes are constant)"
        )
    left, top, right, bottom = read_borders(padding)
    canvas = canvas_size[0] + top + bottom, canvas_size[1] + left + right
    return keypoints + _pair(keypoints, left, top), canvas


def _pair(keypoints: Tensor, x: int, y: int) -> Tensor:
    return torch.tensor([x, y], dtype=keypoints.dtype, device=keypoints.device)


def affine_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    center: Centre = None,
) -> tuple[Tensor, Canvas]:
    """Shear, scale, turn around `center`, then move."""
    arguments = (angle, translate, scale, shear, center)
    return _turn(keypoints, canvas_size, *arguments, expand=False)


def rotate_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    angle: float,
    expand: bool = False,
    center: Centre = None,
) -> tuple[Tensor, Canvas]:
    """Counterclockwise, around `center` or the middle."""
    arguments = (-angle, NO_MOVE, 1.0, NO_MOVE, center)
    return _turn(keypoints, canvas_size, *arguments, expand=expand)


def _turn(
    keypoints: Tensor,
    canvas: Canvas,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    center: Centre,
    *,
    expand: bool,
) -> tuple[Tensor, Canvas]:
    if keypoints.numel() == 0:
        return keypoints, canvas
    points = keypoints if keypoints.is_floating_point() else keypoints.float()
    turned, canvas, corner = turn_points(
        points.reshape(-1, 2), canvas, angle, translate, scale, shear, center, expand=expand
    )
    if corner is not None:
        turned = turned.sub_(corner)
    return turned.reshape(keypoints.shape).to(keypoints.dtype), canvas


def turn_points(
    points: Tensor,
    canvas: Canvas,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    center: Centre,
    *,
    expand: bool,
) -> tuple[Tensor, Canvas, Tensor | None]:
    """Points (n, 2) after an affine warp, and the size of the image then.

    With `expand` also the new image's upper left corner, from which points are to be counted.
    """
    turn = read_turn(angle, translate, scale, shear, center)
    height, width = canvas
    centre = turn.centre or (width * 0.5, height * 0.5)
    numbers = (centre, turn.angle, turn.translate, scale, turn.shear)
    dtype, device = points.dtype, points.device
    matrix = torch.tensor(forward_matrix(*numbers), dtype=dtype, device=device).reshape(2, 3).T
    turned = torch.matmul(_with_ones(points), matrix)
    if not expand:
        return turned, canvas, None
    w, h = float(width), float(height)
    frame = [[0.0, 0.0, 1.0], [0.0, h, 1.0], [w, h, 1.0], [w, 0.0, 1.0]]
    frame_points = torch.tensor(frame, dtype=dtype, device=device)
    corner = torch.amin(torch.matmul(frame_points, matrix), dim=0, keepdim=True)
    return turned, expanded_size(affine_matrix(*numbers), canvas), corner


def _with_ones(points: Tensor) -> Tensor:
    ones = torch.ones(points.shape[0], 1, device=points.device, dtype=points.dtype)
    return torch.cat([points, ones], dim=-1)


def perspective_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    startpoints: Points,
    endpoints: Points,
    coefficients: Coefficients = None,
) -> Tensor:
    """As seen from another place."""
    del canvas_size
    if keypoints.numel() == 0:
        return keypoints
    numbers = perspective_coefficients(startpoints, endpoints, coefficients)
    moved = perspective_points(keypoints.reshape(-1, 2), numbers, "keypoints")
    return moved.to(keypoints.dtype).reshape(keypoints.shape)


def perspective_points(points: Tensor, numbers: Sequence[float], what: str) -> Tensor:
    """Points (n, 2) as seen from another place; whole numbers become float32."""
    inverse = invert_perspective(numbers, what)
    dtype = points.dtype if points.is_floating_point() else torch.float32
    device = points.device
    rows = torch.tensor([inverse[0:3], inverse[3:6]], dtype=dtype, device=device)
    depth = [*inverse[6:8], 1.0]
    depths = torch.tensor([depth, depth], dtype=dtype, device=device)
    # The ones are float32 whatever the points are, by which whole numbers become float32 too.
    ones = torch.ones(points.shape[0], 1, device=device)
    places = torch.cat([points, ones], dim=-1)
    return torch.matmul(places, rows.T).div_(torch.matmul(places, depths.T))


def elastic_keypoints(keypoints: Tensor, canvas_size: Canvas, displacement: Any) -> Tensor:
    """Each point moves against the displacement at its place, which is nearly right."""
    require_displacement(displacement, canvas_size)
    if keypoints.numel() == 0:
        return keypoints
    moved = elastic_points(keypoints.reshape(-1, 2), canvas_size, displacement)
    return moved.to(keypoints.dtype).reshape(keypoints.shape)


def elastic_points(points: Tensor, canvas: Canvas, displacement: Tensor) -> Tensor:
    """Points (n, 2), each cut to the pixel it is in, as moved by the displacement there."""
    dtype = points.dtype if points.is_floating_point() else torch.float32
    displacement = displacement.to(dtype=dtype, device=points.device)
    grid = identity_grid(canvas, dtype, points.device).sub_(displacement)
    columns, rows = points.to(torch.int64).unbind(1)
    columns, rows = columns.clamp(0, canvas[1] - 1), rows.clamp(0, canvas[0] - 1)
    halves = 0.5 * torch.tensor(canvas[::-1], device=points.device, dtype=dtype)
    return grid[0, rows, columns].add_(1).mul_(halves).sub_(0.5)


def clamp_keypoints(keypoints: Tensor, canvas: Canvas) -> Tensor:
    """Points within the image, at most at the middle of its last pixels."""
    clamped = keypoints.clone() if keypoints.is_floating_point() else keypoints.float()
    clamped[..., 0].clamp_(min=0, max=canvas[1] - 1)
    clamped[..., 1].clamp_(min=0, max=canvas[0] - 1)
    return clamped.to(dtype=keypoints.dtype)


def are_inside(keypoints: Tensor, canvas: Canvas) -> Tensor:
    """Which points, or groups of points, lie within the image, all of them."""
    x, y = keypoints[..., 0], keypoints[..., 1]
    valid = (x >= 0) & (x < canvas[1]) & (y >= 0) & (y < canvas[0])
    return valid.flatten(start_dim=1).all(dim=1) if valid.ndim > 1 else valid
