"""torchvision's kinds of input as penstock's arrays, and back; what has no place there is skipped.

A skip says why, and is counted under that reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image
import pytest
import torch
from torchvision import tv_tensors

from penstock.geometry import Size, Sizes
from penstock.loading.part_targets import mask_moves
from penstock.transforms.moves import Move
from penstock.transforms.targets import Targets, read_targets
from tests.outside.core import Pixels, run_on_core

FLOAT_IMAGES = "images of other numbers than uint8: penstock works on bytes until the final pass"
FOUR_CHANNELS = "images of other than 1 or 3 channels: penstock loads everything as RGB"
ROTATED_BOXES = "rotated boxes: penstock has upright ones only"
UNCLAMPED_BOXES = "boxes that ask not to be clamped (clamping_mode=None): penstock always clamps"
WIDE_MASKS = "masks of more than 256 values: penstock's masks are bytes"

UPRIGHT = ("XYXY", "XYWH", "CXCYWH")
_IMAGES = (tv_tensors.Image, tv_tensors.Video, PIL.Image.Image)
_SIZE_OF_NOTHING = Size(32, 32)  # for draws that are asked for without an image


def find_size(items: Sequence[Any]) -> Sizes:
    """The size of the first item that has one, as a batch of one."""
    size = next((found for item in items if (found := _size(item))), _SIZE_OF_NOTHING)
    return Sizes(np.array([size.height]), np.array([size.width]))


def _size(item: Any) -> Size | None:
    if isinstance(item, PIL.Image.Image):
        return Size(item.height, item.width)
    if isinstance(item, (tv_tensors.BoundingBoxes, tv_tensors.KeyPoints)):
        return Size(*item.canvas_size)
    if isinstance(item, torch.Tensor) and item.ndim >= 2:
        return Size(*item.shape[-2:])
    return None


def is_image(item: Any) -> bool:
    """Whether an item that takes part is an image, or several."""
    return isinstance(item, _IMAGES) or type(item) is torch.Tensor


def move_image(image: Any, moves: Sequence[Move], channels: int | None) -> Any:
    """An image or video after the moves, in as many channels as it had unless told otherwise."""
    if isinstance(image, PIL.Image.Image):
        moved = _move_pixels(np.atleast_3d(np.asarray(image)), moves, channels)
        return PIL.Image.fromarray(moved[..., 0] if moved.shape[2] == 1 else moved)
    if image.dtype != torch.uint8:
        pytest.skip(FLOAT_IMAGES)
    frames = image.as_subclass(torch.Tensor).reshape(-1, *image.shape[-3:])
    moved = torch.stack(
        [
            torch.from_numpy(_move_pixels(frame.permute(1, 2, 0).numpy(), moves, channels))
            for frame in frames
        ]
    ).permute(0, 3, 1, 2)
    moved = moved.reshape(*image.shape[:-3], *moved.shape[1:])
    return tv_tensors.wrap(moved, like=image) if isinstance(image, tv_tensors.TVTensor) else moved


def _move_pixels(pixels: Pixels, moves: Sequence[Move], channels: int | None) -> Pixels:
    given = pixels.shape[2]
    if given not in {1, 3}:
        pytest.skip(FOUR_CHANNELS)
    moved = run_on_core(np.repeat(pixels, 3 // given, axis=2), moves)
    if (channels or given) == 3:
        return moved
    assert (moved == moved[..., :1]).all(), "a gray image has three equal channels"
    return moved[..., :1]


def move_mask(mask: tv_tensors.Mask, moves: Sequence[Move]) -> tv_tensors.Mask:
    """A mask after the moves, plane by plane."""
    if mask.numel() and not 0 <= int(mask.min()) <= int(mask.max()) <= 255:
        pytest.skip(WIDE_MASKS)
    planes = mask.as_subclass(torch.Tensor).reshape(-1, *mask.shape[-2:]).to(torch.uint8)
    moved = torch.stack(
        [
            torch.from_numpy(
                _move_pixels(plane.numpy()[..., None], mask_moves(moves), None)[..., 0]
            )
            for plane in planes
        ]
    )
    shape = (*mask.shape[:-2], *moved.shape[1:])
    return tv_tensors.wrap(moved.reshape(shape).to(mask.dtype), like=mask)


def read_boxes(
    boxes: tv_tensors.BoundingBoxes, *, clamps: bool, columns: Sequence[torch.Tensor] = ()
) -> Targets:
    """Boxes as the targets of a batch of one, with further columns, and their rows as the last."""
    if boxes.format.value not in UPRIGHT:
        pytest.skip(ROTATED_BOXES)
    if clamps and boxes.clamping_mode is None:
        pytest.skip(UNCLAMPED_BOXES)
    flat = _numbers(boxes).reshape(-1, 4)
    extras = {f"column {i}": column.numpy() for i, column in enumerate(columns)}
    extras["row"] = np.arange(len(flat))
    return read_targets([0, len(flat)], boxes=flat, format=boxes.format.value, extras=extras)


def write_boxes(
    targets: Targets, like: tv_tensors.BoundingBoxes, size: Size
) -> tv_tensors.BoundingBoxes:
    """Targets in torchvision's form; what was whole numbers is again."""
    written = torch.from_numpy(np.asarray(targets.formatted_boxes()))
    if len(written) == like.numel() // 4:
        written = written.reshape(like.shape)
    return tv_tensors.wrap(
        written.to(like.dtype),
        like=like,
        format=tv_tensors.BoundingBoxFormat[targets.format.value],
        canvas_size=(size.height, size.width),
    )


def move_keypoints(
    keypoints: tv_tensors.KeyPoints, move: Callable[[Targets], Targets], size: Size
) -> tv_tensors.KeyPoints:
    """Keypoints after the moves; `size` is the image's then."""
    flat = _numbers(keypoints).reshape(-1, 1, 2)
    moved = move(read_targets([0, len(flat)], keypoints=flat)).keypoints
    assert moved is not None
    written = torch.from_numpy(moved[..., :2]).reshape(keypoints.shape).to(keypoints.dtype)
    return tv_tensors.wrap(written, like=keypoints, canvas_size=(size.height, size.width))


def _numbers(places: torch.Tensor) -> npt.NDArray[Any]:
    return places.as_subclass(torch.Tensor).detach().numpy()
