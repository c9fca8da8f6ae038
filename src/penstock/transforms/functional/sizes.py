"""How large an input is: nothing here changes it, or needs torch."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from PIL import Image

from penstock.errors import TransformTypeError
from penstock.transforms.functional.arrays import channels_of_array
from penstock.transforms.functional.dispatch import Kernels


def get_dimensions_image(image: Any) -> list[int]:
    """[channels, height, width] of a tensor; without channels it has one."""
    sides = list(image.shape[-3:])
    if len(sides) < 2:
        raise _too_flat(sides)
    return sides if len(sides) == 3 else [1, *sides]


def get_num_channels_image(image: Any) -> int:
    """How many channels a tensor has."""
    return get_dimensions_image(image)[0]


def get_size_image(image: Any) -> list[int]:
    """[height, width] of a tensor."""
    sides = list(image.shape[-2:])
    if len(sides) < 2:
        raise _too_flat(sides)
    return sides


def _too_flat(sides: list[int]) -> TransformTypeError:
    return TransformTypeError(
        f"Input tensor should have at least two dimensions, but got {len(sides)}"
    )


def get_dimensions_video(video: Any) -> list[int]:
    """[channels, height, width] of a video's frames."""
    return get_dimensions_image(video)


def get_num_channels_video(video: Any) -> int:
    """How many channels a video's frames have."""
    return get_num_channels_image(video)


def get_size_video(video: Any) -> list[int]:
    """[height, width] of a video's frames."""
    return get_size_image(video)


def get_size_mask(mask: Any) -> list[int]:
    """[height, width] of a mask."""
    return get_size_image(mask)


def get_size_bounding_boxes(bounding_box: Any) -> list[int]:
    """[height, width] of the image that boxes belong to."""
    return list(bounding_box.canvas_size)


def get_size_keypoints(keypoints: Any) -> list[int]:
    """[height, width] of the image that keypoints belong to."""
    return list(keypoints.canvas_size)


def get_num_frames_video(video: Any) -> int:
    """How many frames a video has."""
    frames: int = video.shape[-4]
    return frames


def _pillow_dimensions(image: Image.Image) -> list[int]:
    return [len(image.getbands()), image.height, image.width]


def _pillow_channels(image: Image.Image) -> int:
    return len(image.getbands())


def _pillow_size(image: Image.Image) -> list[int]:
    return [image.height, image.width]


def _array_dimensions(pixels: Any) -> list[int]:
    channels = channels_of_array("get_dimensions", pixels)
    return [channels, pixels.shape[0], pixels.shape[1]]


def _array_channels(pixels: Any) -> int:
    return channels_of_array("get_num_channels", pixels)


def _array_size(pixels: Any) -> list[int]:
    channels_of_array("get_size", pixels)
    return [pixels.shape[0], pixels.shape[1]]


_get_dimensions = Kernels(
    "get_dimensions",
    _pillow_dimensions,
    array=_array_dimensions,
    tensor=get_dimensions_image,
    image=get_dimensions_image,
    video=get_dimensions_video,
)
_get_num_channels = Kernels(
    "get_num_channels",
    _pillow_channels,
    array=_array_channels,
    tensor=get_num_channels_image,
    image=get_num_channels_image,
    video=get_num_channels_video,
)
_get_size = Kernels(
    "get_size",
    _pillow_size,
    array=_array_size,
    tensor=get_size_image,
    image=get_size_image,
    video=get_size_video,
    mask=get_size_mask,
    bounding_boxes=get_size_bounding_boxes,
    keypoints=get_size_keypoints,
)
_get_num_frames = Kernels("get_num_frames", tensor=get_num_frames_video, video=get_num_frames_video)


def get_dimensions(inpt: Any) -> list[int]:
    """[channels, height, width]."""
    sides: list[int] = _get_dimensions[type(inpt)](inpt)
    return sides


def get_num_channels(inpt: Any) -> int:
    """How many channels an image or video has."""
    channels: int = _get_num_channels[type(inpt)](inpt)
    return channels


def get_size(inpt: Any) -> list[int]:
    """[height, width] of an image, or of the one that boxes and keypoints belong to."""
    sides: list[int] = _get_size[type(inpt)](inpt)
    return sides


def get_num_frames(inpt: Any) -> int:
    """How many frames a video has."""
    frames: int = _get_num_frames[type(inpt)](inpt)
    return frames


def get_image_size(inpt: Any) -> list[int]:
    """[width, height], by torchvision's older function. Use `get_size`."""
    warnings.warn(
        "The function `get_image_size(...)` is deprecated and will be removed in a future release. "
        "Instead, please use `get_size(...)` which returns `[h, w]` instead of `[w, h]`.",
        stacklevel=2,
    )
    torch = sys.modules.get("torch")
    if isinstance(inpt, Image.Image):
        return list(inpt.size)
    if torch is None or not isinstance(inpt, torch.Tensor):
        raise TransformTypeError(f"get_image_size: Unexpected type {type(inpt)}.")
    return get_size_image(inpt)[::-1]


get_image_num_channels = get_num_channels
