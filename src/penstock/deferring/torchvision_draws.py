"""Draws of torchvision's that cost more than what is done with them: the same numbers for less."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, wraps
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torchvision import transforms as v1_transforms
from torchvision import tv_tensors
from torchvision.transforms import autoaugment
from torchvision.transforms import functional as v1
from torchvision.transforms import v2 as v2_transforms
from torchvision.transforms.v2 import functional as v2
from torchvision.transforms.v2._utils import get_bounding_boxes, query_size

from penstock.deferring.counts import counts_here

Function = Callable[..., Any]
Singles = npt.NDArray[np.float32]

_POLICIES = ("AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix")
_MOST_SPACES = 64
_NUMBERS = 4  # that a crop is drawn from, at most
_UPRIGHT = ("XYXY", "XYWH", "CXCYWH")
_TRIES = 10  # of RandomResizedCrop, before it takes the middle


def wrap_draws() -> None:
    """Put the quicker versions in their places."""
    for name in _POLICIES:
        policy = getattr(autoaugment, name)
        policy._augmentation_space = _kept(policy._augmentation_space)  # noqa: SLF001 (theirs)
    v2_transforms.RandomIoUCrop.make_params = _wrap_search(v2_transforms.RandomIoUCrop.make_params)
    first, second = v1_transforms.RandomResizedCrop, v2_transforms.RandomResizedCrop
    first.get_params = staticmethod(_wrap_resized_crop(first.get_params))
    second.make_params = _wrap_resized_crop_v2(second.make_params)


# ---- the magnitudes of policies, which are the same for every image of a size ----


def _kept(original: Function) -> Function:
    """Keep what a policy chooses from; what somebody has changed since is made anew."""
    spaces: dict[Any, tuple[dict[str, Any], tuple[int, ...]]] = {}

    @wraps(original)
    def augmentation_space(self: Any, *args: Any) -> Any:
        if counts_here() is None or torch.is_inference_mode_enabled():
            return original(self, *args)
        key = *args, torch.get_default_dtype(), torch.get_default_device()
        space, versions = spaces.get(key, ({}, ()))
        if not space or versions != _versions_of(space):
            if len(spaces) >= _MOST_SPACES:
                spaces.clear()
            space = original(self, *args)
            spaces[key] = space, _versions_of(space)
        return dict(space)

    return augmentation_space


def _versions_of(space: dict[str, Any]) -> tuple[int, ...]:
    return tuple(magnitudes._version for magnitudes, _ in space.values())  # noqa: SLF001 (how torch counts changes in place)


# ---- the search of RandomIoUCrop ----


class _Crop(NamedTuple):
    """A crop that was drawn, and how many numbers had been drawn by then."""

    left: int
    top: int
    right: int
    bottom: int
    drawn: int


def _wrap_search(original: Function) -> Function:
    """Look at all crops of a round at once, and leave the generator where the search ends."""

    @wraps(original)
    def make_params(self: Any, flat_inputs: list[Any]) -> Any:
        corners = _corners_of(flat_inputs) if counts_here() is not None else None
        if corners is None or not _is_usual(self, flat_inputs) or not _draws_one_by_one():
            return original(self, flat_inputs)
        height, width = query_size(flat_inputs)
        while True:
            overlap = self.options[int(torch.randint(low=0, high=len(self.options), size=(1,)))]
            if overlap >= 1.0:
                return {}
            found = _round(self, height, width, corners, overlap)
            if found is not None:
                return found

    return make_params


def _corners_of(flat_inputs: list[Any]) -> Singles | None:
    """The boxes as left, top, right, bottom; None if some are turned, or not single floats."""
    boxes = get_bounding_boxes(flat_inputs)
    plain = boxes.as_subclass(torch.Tensor)
    is_plain = plain.dtype == torch.float32 and plain.ndim == 2 and len(plain) > 0
    if boxes.format.value not in _UPRIGHT or not is_plain or not plain.is_cpu:
        return None
    corners = v2.convert_bounding_box_format(plain, boxes.format, tv_tensors.BoundingBoxFormat.XYXY)
    array: Singles = corners.numpy()
    return array


def _is_usual(crop: Any, flat_inputs: list[Any]) -> bool:
    """Whether every size that can be drawn has pixels, and numbers are drawn as usual."""
    least = np.float32(crop.min_scale) * np.float32(min(query_size(flat_inputs)))
    is_shrinking = 0 < crop.min_scale <= crop.max_scale <= 1 and least >= 1
    return is_shrinking and _draws_singles()


def _draws_singles() -> bool:
    """Whether torch draws floats of single precision, in this process's memory."""
    is_single = torch.get_default_dtype() == torch.float32
    return is_single and torch.get_default_device().type == "cpu"


def _round(
    crop: Any, height: int, width: int, corners: Singles, overlap: float
) -> dict[str, Any] | None:
    """The first crop of a round that will do, if any does."""
    state = torch.get_rng_state()
    tries, drawn = _draw(crop, height, width)
    within, most = _overlaps(tries, corners)
    good = within.any(axis=1) & ~(most < np.float32(overlap))
    first = int(good.argmax()) if good.any() else None
    torch.set_rng_state(state)
    torch.rand(drawn if first is None else tries[first].drawn)
    if first is None:
        return None
    left, top, right, bottom, _ = tries[first]
    return {
        "top": top,
        "left": left,
        "height": bottom - top,
        "width": right - left,
        "is_within_crop_area": torch.from_numpy(within[first].copy()),
    }


def _draw(crop: Any, height: int, width: int) -> tuple[list[_Crop], int]:
    """All crops of a round that have a shape as wanted, and how many numbers that took."""
    numbers: Singles = torch.rand(_NUMBERS * crop.trials).numpy()
    shares = np.float32(crop.min_scale) + np.float32(crop.max_scale - crop.min_scale) * numbers
    widths = (np.float32(width) * shares).astype(np.int64).tolist()
    heights = (np.float32(height) * shares).astype(np.int64).tolist()
    tries: list[_Crop] = []
    at = 0
    for _ in range(crop.trials):
        wide, high = widths[at], heights[at + 1]
        at += 2
        if not crop.min_aspect_ratio <= wide / high <= crop.max_aspect_ratio:
            continue
        left = int(np.float32(width - wide) * numbers[at])
        top = int(np.float32(height - high) * numbers[at + 1])
        at += 2
        tries.append(_Crop(left, top, left + wide, top + high, at))
    return tries, at


def _overlaps(tries: list[_Crop], boxes: Singles) -> tuple[npt.NDArray[np.bool_], Singles]:
    """Which boxes have their middle in a crop, and how far one of them overlaps with it at most."""
    crops = np.array(tries, dtype=np.float32).reshape(-1, len(_Crop._fields))[:, None, :4]
    middle = np.float32(0.5) * (boxes[:, :2] + boxes[:, 2:])
    within = ((crops[..., :2] < middle) & (middle < crops[..., 2:])).all(axis=-1)
    inner = np.minimum(boxes[:, 2:], crops[..., 2:]) - np.maximum(boxes[:, :2], crops[..., :2])
    inner = np.maximum(inner, np.float32(0))
    shared = inner[..., 0] * inner[..., 1]
    with np.errstate(invalid="ignore", divide="ignore"):  # of boxes without an area
        overlaps = shared / (_areas(boxes) + _areas(crops) - shared)
    return within, np.where(within, overlaps, np.float32(-np.inf)).max(axis=1, initial=-np.inf)


def _areas(boxes: Singles) -> Singles:
    sides = boxes[..., 2:] - boxes[..., :2]
    areas: Singles = sides[..., 0] * sides[..., 1]
    return areas


@cache
def _draws_one_by_one() -> bool:
    """Whether torch gives the same numbers two at a time and many at once."""
    state = torch.get_rng_state()
    many = torch.rand(160)
    torch.set_rng_state(state)
    pairs = torch.cat([torch.rand(2) for _ in range(80)])
    torch.set_rng_state(state)
    return torch.equal(many, pairs)


# ---- the search of RandomResizedCrop, which asks torch for tensors of one number each ----


def _wrap_resized_crop(original: Function) -> Function:
    """The older transform's, which is given its bounds each time."""

    @wraps(original)
    def get_params(img: Any, scale: Any, ratio: Any) -> Any:
        is_ours = counts_here() is not None and _draws_singles()
        if not is_ours or not (_is_pair(scale) and _is_pair(ratio)):
            return original(img, scale, ratio)
        _, height, width = v1.get_dimensions(img)
        return _resized_crop(height, width, scale, ratio, _logarithms(*ratio))

    return get_params


def _wrap_resized_crop_v2(original: Function) -> Function:
    @wraps(original)
    def make_params(self: Any, flat_inputs: list[Any]) -> Any:
        is_ours = counts_here() is not None and _draws_singles()
        if not is_ours or not (_is_pair(self.scale) and _is_pair(self.ratio)):
            return original(self, flat_inputs)
        height, width = query_size(flat_inputs)
        bounds = self._log_ratio.tolist()
        top, left, high, wide = _resized_crop(height, width, self.scale, self.ratio, bounds)
        return {"top": top, "left": left, "height": high, "width": wide}

    return make_params


def _is_pair(bounds: Any) -> bool:
    is_pair = type(bounds) in (tuple, list) and len(bounds) == 2
    return is_pair and all(type(one) in (int, float) for one in bounds)


@lru_cache(maxsize=64, typed=True)
def _logarithms(least: float, most: float) -> list[float]:
    """As torch has them, in single precision."""
    found: list[float] = torch.log(torch.tensor([least, most])).tolist()
    return found


def _resized_crop(
    height: int, width: int, scale: Sequence[float], ratio: Sequence[float], bounds: Sequence[float]
) -> tuple[int, int, int, int]:
    """The top, left, height and width of a crop; `bounds` are the logarithms of `ratio`."""
    area = height * width
    number, place = torch.empty(1), torch.empty(1, dtype=torch.int64)
    for _ in range(_TRIES):
        target_area = area * number.uniform_(scale[0], scale[1]).item()
        aspect = number.uniform_(bounds[0], bounds[1]).exp_().item()
        wide = round(math.sqrt(target_area * aspect))
        high = round(math.sqrt(target_area / aspect))
        if 0 < wide <= width and 0 < high <= height:
            top = int(place.random_(0, height - high + 1).item())
            left = int(place.random_(0, width - wide + 1).item())
            return top, left, high, wide
    wide, high = width, height
    if width / height < min(ratio):
        high = round(width / min(ratio))
    elif width / height > max(ratio):
        wide = round(height * max(ratio))
    return (height - high) // 2, (width - wide) // 2, high, wide
