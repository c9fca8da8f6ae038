"""Tensors turned, sheared and bent: each pixel of the result is looked up in the image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from penstock.errors import TransformError, TransformTypeError
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.functional.arguments import (
    Canvas,
    Centre,
    Coefficients,
    Fill,
    Interpolation,
    Points,
    read_mode,
    read_turn,
    require_channels,
)
from penstock.transforms.functional.matrices import (
    NO_MOVE,
    affine_matrix,
    perspective_coefficients,
)
from penstock.transforms.functional.native.tensors.sampling import Grid, sample
from penstock.transforms.functional.native.tensors.tried import Tried
from penstock.transforms.functional.tensors.rename import renamed

_HALVES = (torch.float16, torch.bfloat16)
_MODES = (InterpolationMode.NEAREST, InterpolationMode.BILINEAR)


def affine_image(
    image: Tensor,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    interpolation: Interpolation = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: Centre = None,
) -> Tensor:
    """Shear, scale, turn around `center`, then move."""
    mode = read_mode(interpolation)
    turn = read_turn(angle, translate, scale, shear, center)
    height, width = image.shape[-2:]
    centre = _from_middle(turn.centre, height, width)
    moved = float(turn.translate[0]), float(turn.translate[1])
    matrix = affine_matrix(centre, turn.angle, moved, scale, turn.shear)
    return _warp(image, Grid((height, width), matrix[:3], matrix[3:]), mode, fill)


def rotate_image(
    image: Tensor,
    angle: float,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Centre = None,
    fill: Fill = None,
) -> Tensor:
    """Counterclockwise, around `center` or the middle; `expand` makes room for all of it."""
    angle %= 360
    height, width = image.shape[-2:]
    if center is None:
        if angle == 0:
            return image.clone()
        if angle == 180:
            return torch.rot90(image, k=2, dims=(-2, -1))
        if angle in {90, 270} and (expand or height == width):
            return torch.rot90(image, k=int(angle) // 90, dims=(-2, -1))
    mode = read_mode(interpolation)
    matrix = affine_matrix(_from_middle(center, height, width), -angle, NO_MOVE, 1.0, NO_MOVE)
    out = expanded_size(matrix, (height, width)) if expand else (height, width)
    return _warp(image, Grid(out, matrix[:3], matrix[3:]), mode, fill)


def _from_middle(center: Centre, height: int, width: int) -> tuple[float, float]:
    """A place counted from the middle of the image, which is where grids begin."""
    if center is None:
        return 0.0, 0.0
    return center[0] - width * 0.5, center[1] - height * 0.5


def expanded_size(matrix: list[float], canvas: Canvas) -> Canvas:
    """The whole pixels that hold every corner of a turned image.

    In float32 and cut to 1e-4, as torchvision has it: boxes and images must agree.
    """
    height, width = canvas
    x, y = 0.5 * width, 0.5 * height
    corners = torch.tensor([[-x, -y, 1.0], [-x, y, 1.0], [x, y, 1.0], [x, -y, 1.0]])
    turned = torch.matmul(corners, torch.tensor(matrix, dtype=torch.float).view(2, 3).T)
    least, most = turned.aminmax(dim=0)
    middle = torch.tensor((x, y))
    tolerance = 1e-4
    most = most.add_(middle).mul_(1.0 / tolerance).trunc_().mul_(tolerance).ceil_()
    least = least.add_(middle).mul_(1.0 / tolerance).trunc_().mul_(tolerance).floor_()
    new_width, new_height = most.sub_(least).tolist()
    return int(new_height), int(new_width)


def perspective_image(
    image: Tensor,
    startpoints: Points,
    endpoints: Points,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
    coefficients: Coefficients = None,
) -> Tensor:
    """As seen from another place: four corners go elsewhere."""
    numbers = perspective_coefficients(startpoints, endpoints, coefficients)
    height, width = image.shape[-2:]
    grid = Grid((height, width), numbers[0:3], numbers[3:6], (numbers[6], numbers[7], 1.0))
    return _warp(image, grid, read_mode(interpolation), fill)


def elastic_image(
    image: Tensor,
    displacement: Any,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> Tensor:
    """Every pixel moved on its own; `displacement` is (1, height, width, 2), image sides are 2."""
    require_channels(image.shape, "elastic")
    height, width = image.shape[-2:]
    mode = read_mode(interpolation)
    given = image.dtype
    # torch's look-up on the CPU does not take half precision.
    if given == torch.float16 and image.device.type == "cpu":
        image = image.to(torch.float32)
    require_displacement(displacement, (height, width))
    dtype = _grid_dtype(image)
    grid = identity_grid((height, width), dtype, image.device)
    grid.add_(displacement.to(dtype=dtype, device=image.device))
    colour = None if _is_black(fill, mode, image.dtype) else fill
    return _look_up(image, grid, mode, colour).to(given)


def require_displacement(displacement: Any, canvas: Canvas) -> None:
    """Refuse what does not have two numbers for each pixel."""
    if not isinstance(displacement, Tensor):
        raise TransformTypeError(
            f"Argument displacement should be a Tensor, got {type(displacement)}."
        )
    expected = (1, *canvas, 2)
    if displacement.shape != expected:
        raise TransformError(
            f"Argument displacement shape should be {expected}, but given {displacement.shape}"
        )


def identity_grid(canvas: Canvas, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Where each pixel comes from if none is moved: (1, height, width, 2), from -1 to 1."""
    height, width = canvas
    grid = torch.empty(1, height, width, 2, dtype=dtype, device=device)
    for axis, side in enumerate((width, height)):
        places = torch.linspace(
            (-side + 1) / side, (side - 1) / side, side, dtype=dtype, device=device
        )
        grid[..., axis].copy_(places if axis == 0 else places.unsqueeze_(-1))
    return grid


def _grid_dtype(image: Tensor) -> torch.dtype:
    return image.dtype if image.is_floating_point() else torch.float32


def _warp(image: Tensor, grid: Grid, mode: InterpolationMode, fill: Fill) -> Tensor:
    """Looked up at the places of a grid, natively where that gives torch's bits."""
    require_channels(image.shape, "A warp")
    _check_look(image, mode, fill)
    colour = None if _is_black(fill, mode, image.dtype) else fill
    return _sample_grid(image, grid, mode is InterpolationMode.BILINEAR, colour)


def _sample_by_torch(image: Tensor, grid: Grid, is_bilinear: bool, fill: Fill) -> Tensor:
    mode = InterpolationMode.BILINEAR if is_bilinear else InterpolationMode.NEAREST
    places = _affine_grid(image, grid) if grid.depth is None else _perspective_grid(image, grid)
    return _look_up(image, places, mode, fill)


_TRIED_GRIDS = (
    Grid((17, 23), (0.9, 0.3, 1.7), (-0.2, 1.1, 0.4)),
    Grid((15, 18), (1.1, 0.1, 2.0), (0.05, 0.9, 1.0), (0.001, 0.002, 1.0)),
)
_sample_grid = Tried(
    sample,
    _sample_by_torch,
    [
        (grid, is_bilinear, fill)
        for grid in _TRIED_GRIDS
        for is_bilinear in (False, True)
        for fill in (None, 7.0)
    ],
)


def _affine_grid(image: Tensor, grid: Grid) -> Tensor:
    """Where each pixel of the result lies in the image, whose sides go from -1 to 1."""
    height, width = image.shape[-2:]
    dtype, device = _grid_dtype(image), image.device
    xs, ys = (
        # In float32 whatever the image is: doubles are made of these.
        torch.linspace((1.0 - side) * 0.5, (side - 1.0) * 0.5, steps=side, device=device)
        for side in (grid.size[1], grid.size[0])
    )
    rows = torch.tensor([[grid.across, grid.down]], dtype=dtype, device=device)
    halves = torch.tensor([0.5 * width, 0.5 * height], dtype=dtype, device=device)
    return _places(xs, ys, dtype).bmm(rows.transpose(1, 2).div_(halves)).view(1, *grid.size, 2)


def _perspective_grid(image: Tensor, grid: Grid) -> Tensor:
    height, width = image.shape[-2:]
    dtype, device = _grid_dtype(image), image.device
    xs, ys = (
        torch.linspace(0.5, side + 0.5 - 1.0, steps=side, dtype=dtype, device=device)
        for side in (grid.size[1], grid.size[0])
    )
    places = _places(xs, ys, dtype)
    rows = torch.tensor([[grid.across, grid.down]], dtype=dtype, device=device)
    depths = torch.tensor([[grid.depth, grid.depth]], dtype=dtype, device=device)
    halves = torch.tensor([0.5 * width, 0.5 * height], dtype=dtype, device=device)
    seen = places.bmm(rows.transpose(1, 2).div_(halves))
    return seen.div_(places.bmm(depths.transpose(1, 2))).sub_(1.0).view(1, *grid.size, 2)


def _places(xs: Tensor, ys: Tensor, dtype: torch.dtype) -> Tensor:
    """Each pixel as a row (x, y, 1): (1, pixels, 3)."""
    places = torch.empty(1, len(ys), len(xs), 3, dtype=dtype, device=xs.device)
    places[..., 0].copy_(xs)
    places[..., 1].copy_(ys.unsqueeze(-1))
    places[..., 2].fill_(1)
    return places.view(1, -1, 3)


def _look_up(image: Tensor, grid: Tensor, mode: InterpolationMode, fill: Fill) -> Tensor:
    """Take each pixel of the result from its place in the image; the outside is `fill`."""
    shape = image.shape
    out_shape = (*shape[:-3], shape[-3], grid.shape[1], grid.shape[2])
    if image.numel() == 0:
        return image.reshape(out_shape)
    flat = image.reshape(-1, *shape[-3:])
    is_same_type = flat.dtype == grid.dtype
    source = flat if is_same_type else flat.to(grid.dtype)
    grid = grid.expand(flat.shape[0], -1, -1, -1)
    if fill is None:
        output = _sample(source, grid, mode)
    else:
        output = _sample_on_colour(source, grid, mode, fill)
    if not is_same_type:
        output = output.round_().to(flat.dtype)
    return output.reshape(out_shape)


def _sample(source: Tensor, grid: Tensor, mode: InterpolationMode) -> Tensor:
    return grid_sample(source, grid, mode=mode.value, padding_mode="zeros", align_corners=False)


def _is_black(fill: Fill, mode: InterpolationMode, dtype: torch.dtype) -> bool:
    """Whether the outside is black anyway. Mixed pixels at the edge are black twice, if asked."""
    if fill is None:
        return True
    values = fill if isinstance(fill, (tuple, list)) else (fill,)
    # Of halves, torch may take pixels from beyond the image, which only the fill covers.
    return mode is InterpolationMode.NEAREST and not any(values) and dtype not in _HALVES


def _sample_on_colour(source: Tensor, grid: Tensor, mode: InterpolationMode, fill: Fill) -> Tensor:
    """A channel of ones goes along, and says how much of each pixel comes from the image."""
    ones = source.new_ones((source.shape[0], 1, *source.shape[-2:]))
    sampled = _sample(torch.cat((source, ones), dim=1), grid, mode)
    output, share = torch.tensor_split(sampled, (-1,), dim=-3)
    values = fill if isinstance(fill, (tuple, list)) else [float(fill)]  # type: ignore[arg-type]  # a number
    colour = torch.tensor(values, dtype=output.dtype, device=output.device).view(1, -1, 1, 1)
    if mode is InterpolationMode.NEAREST:
        return torch.where(share < 0.5, colour, output)
    return output.sub_(colour).mul_(share).add_(colour)


def _check_look(image: Tensor, mode: InterpolationMode, fill: Any) -> None:
    if isinstance(fill, (tuple, list)):
        if len(fill) > 1 and len(fill) != image.shape[-3]:
            raise TransformError(
                "The number of elements in 'fill' cannot broadcast to match the number of channels "
                f"of the image ({len(fill)} != {image.shape[-3]})"
            )
    elif fill is not None and not isinstance(fill, (int, float)):
        raise TransformError(
            f"Argument fill should be either int, float, tuple or list, got {fill!r}."
        )
    if mode not in _MODES:
        raise TransformError(f"Interpolation mode '{mode.value}' is unsupported with Tensor input")


affine_video = renamed(affine_image, "video")
rotate_video = renamed(rotate_image, "video")
perspective_video = renamed(perspective_image, "video")
elastic_video = renamed(elastic_image, "video")
