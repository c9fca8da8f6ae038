"""Transforms for object detection: of the boxes alone, and RandomIoUCrop, which looks at them.

Boxes follow every other transform of their image by themselves: see `move_targets`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from penstock.errors import TransformError, TransformTypeError
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms import functional as F
from penstock.transforms.arguments import read_integer, read_number, read_numbers
from penstock.transforms.inputs import (
    BOXES,
    MASK,
    SINGLE_IMAGES,
    find_labels,
    first_of,
    flatten,
    has_any,
    kind_of,
    plain,
    query_size,
    read_labels_getter,
)
from penstock.transforms.move_targets import clamp_boxes, move_targets
from penstock.transforms.moves import CropMove
from penstock.transforms.op import BoxOp, CalledOnly, Params, TargetOp
from penstock.transforms.sanitize import check_labels, keep_valid
from penstock.transforms.targets import BoxFormat, Places, Targets, read_box_format
from penstock.transforms.torch_draws import get_torch, integer, rand

_CLAMPING_MODES = ("soft", "hard", "auto", None)
_TURNED = ("XYWHR", "CXCYWHR", "XYXYXYXY")  # formats of boxes that may be turned


@dataclass(frozen=True, slots=True, repr=False)
class SanitizeBoundingBoxes(BoxOp):
    """Drop objects whose box is too small, or reaches outside its image.

    Too small is a side below `min_size` or an area below `min_area`, in pixels. In the loader an
    object is dropped with its label, mask and other columns, and `labels_getter` has no effect.
    Called, it drops boxes, masks, and the labels that `labels_getter` finds in the sample.
    """

    min_size: float = 1.0
    min_area: float = 1.0
    labels_getter: Callable[[Any], Any] | str | None = "default"

    def __post_init__(self) -> None:
        read_number("SanitizeBoundingBoxes", "min_size", self.min_size, least=1)
        read_number("SanitizeBoundingBoxes", "min_area", self.min_area, least=1)
        read_labels_getter("SanitizeBoundingBoxes", self.labels_getter)

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Find the labels, judge the boxes, and keep what belongs to good ones."""
        sample = inputs if len(inputs) > 1 else inputs[0]
        labels = find_labels(self.labels_getter, sample)
        values, rebuild = flatten(sample)
        boxes = first_of(values, BOXES)
        if boxes is None:
            raise TransformError(
                "SanitizeBoundingBoxes: No bounding boxes were found in the sample. "
                "Give boxes as torchvision's BoundingBoxes."
            )
        labels = check_labels("boxes", boxes, labels)
        _, valid = F.sanitize_bounding_boxes(boxes, min_size=self.min_size, min_area=self.min_area)
        params = {"valid": valid, "labels": labels}
        return rebuild([self.transform(value, params) for value in values])

    def transform(self, inpt: Any, params: Params) -> Any:
        """Keep what belongs to good boxes."""
        return keep_valid(inpt, BOXES | MASK, params)

    def apply(self, targets: Targets, sizes: Sizes) -> Targets:
        """Keep the objects with a good box; without boxes, all of them."""
        if targets.boxes is None:
            return targets
        left, top, right, bottom = targets.boxes.T
        width, height = right - left, bottom - top
        owners = targets.owners
        good: Bools = (width >= self.min_size) & (height >= self.min_size)
        good &= width * height >= self.min_area
        good &= (left >= 0) & (top >= 0)
        good &= (right <= sizes.width[owners]) & (bottom <= sizes.height[owners])
        return targets.keep(good)


@dataclass(frozen=True, slots=True, repr=False)
class ClampBoundingBoxes(BoxOp):
    """Cut boxes at the borders of their image.

    `clamping_mode` None leaves them alone; the others differ in torchvision for rotated boxes only.
    """

    clamping_mode: Literal["soft", "hard", "auto"] | None = "auto"
    takes: ClassVar[int] = BOXES

    def __post_init__(self) -> None:
        if self.clamping_mode not in _CLAMPING_MODES:
            raise TransformError(
                f"ClampBoundingBoxes: clamping_mode must be soft, hard, auto or None, "
                f"got {self.clamping_mode!r}."
            )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Cut the boxes."""
        del params
        return F.clamp_bounding_boxes(inpt, clamping_mode=self.clamping_mode)

    def apply(self, targets: Targets, sizes: Sizes) -> Targets:
        """Clamp every box."""
        if targets.boxes is None or self.clamping_mode is None:
            return targets
        clamped = clamp_boxes(targets.boxes, sizes, targets.owners)
        return targets.moved(clamped, targets.keypoints)


@dataclass(frozen=True, slots=True, repr=False)
class ConvertBoundingBoxFormat(BoxOp):
    """Deliver boxes as XYXY, XYWH or CXCYWH, whichever way the data has them."""

    format: BoxFormat | str
    takes: ClassVar[int] = BOXES
    _format: BoxFormat = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        upright = BoxFormat.XYXY if self._turned else self.format
        self._keep(_format=read_box_format("ConvertBoundingBoxFormat", upright))

    @property
    def _turned(self) -> str | None:
        """The name of a format for turned boxes, which can be called only."""
        name = getattr(self.format, "value", self.format)
        return name.upper() if isinstance(name, str) and name.upper() in _TURNED else None

    @property
    def refusal(self) -> str | None:
        """Turned boxes are not loaded."""
        if self._turned is None:
            return None
        return (
            f"ConvertBoundingBoxFormat: the loader has upright boxes only, got {self._turned}. "
            "Use XYXY, XYWH or CXCYWH."
        )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Convert the boxes."""
        del params
        return F.convert_bounding_box_format(inpt, new_format=self._turned or self._format.value)

    def apply(self, targets: Targets, sizes: Sizes) -> Targets:
        """Note the format; boxes are corners until they are delivered."""
        del sizes
        return replace(targets, format=self._format)


@dataclass(frozen=True, slots=True, repr=False)
class SetClampingMode(CalledOnly):
    """Set the way in which boxes are cut at the border: "soft", "hard" or None for not at all."""

    clamping_mode: Literal["soft", "hard"] | None
    takes: ClassVar[int] = BOXES
    why_not_loaded: ClassVar[str] = "the loader's boxes are upright, and cut where a move cuts them"

    def __post_init__(self) -> None:
        if self.clamping_mode not in ("soft", "hard", None):
            raise TransformError(
                f"SetClampingMode: clamping_mode must be soft, hard or None, "
                f"got {self.clamping_mode!r}."
            )

    def transform(self, inpt: Any, params: Params) -> Any:
        """The same boxes with another mode."""
        del params
        output = inpt.clone()
        output.clamping_mode = self.clamping_mode
        return output


_OVERLAPS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)

# A sample that needs more is left whole. With the usual overlaps, of which one in seven ends the
# search, that is one sample in 10**13; with others, an image that no crop fits would never end it.
_MOST_ROUNDS = 200
_USUAL_ROUNDS = 16  # whose overlaps are drawn together


@dataclass(frozen=True, slots=True, repr=False)
class RandomIoUCrop(TargetOp):
    """Keep a random box of the image that overlaps with an object as much as was drawn.

    The least overlap (intersection over union, with an object whose middle is inside) is one of
    `sampler_options`, 0, 0.1, 0.3, 0.5, 0.7, 0.9 and 1 unless given; from 1 the image is left
    whole. `trials` crops are tried for it, then another is drawn. Sides are shares of the image's
    from `min_scale` to `max_scale`, width / height is from `min_aspect_ratio` to
    `max_aspect_ratio`. Boxes whose middle is outside become 0, 0, 0, 0: put SanitizeBoundingBoxes,
    which drops them, after this.
    """

    min_scale: float = 0.3
    max_scale: float = 1.0
    min_aspect_ratio: float = 0.5
    max_aspect_ratio: float = 2.0
    sampler_options: Sequence[float] | None = None
    trials: int = 40
    _overlaps: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomIoUCrop"
        for low, high in (("min_scale", "max_scale"), ("min_aspect_ratio", "max_aspect_ratio")):
            least = read_number(where, low, getattr(self, low), least=0)
            read_number(where, high, getattr(self, high), least=least)
        if self.max_scale > 1:
            raise TransformError(f"{where}: max_scale must be at most 1, got {self.max_scale!r}.")
        read_integer(where, "trials", self.trials, least=1)
        options = _OVERLAPS if self.sampler_options is None else self.sampler_options
        overlaps = read_numbers(where, "sampler_options", options)
        if not overlaps:
            raise TransformError(f"{where}: sampler_options is empty. Give at least one number.")
        self._keep(_overlaps=np.array(overlaps))

    def check_inputs(self, flat_inputs: Sequence[Any]) -> None:
        """Raise unless there are boxes and an image."""
        if not has_any(flat_inputs, BOXES) or not has_any(flat_inputs, SINGLE_IMAGES):
            raise TransformTypeError(
                "RandomIoUCrop() requires input sample to contain tensor or PIL images and "
                "bounding boxes, as torchvision's BoundingBoxes. Sample can also contain masks."
            )

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Search for a crop, as torchvision does; an empty dictionary leaves the image whole."""
        height, width = query_size(flat_inputs)
        boxes = first_of(flat_inputs, BOXES)
        corners = F.convert_bounding_box_format(plain(boxes), boxes.format, "XYXY")
        while True:
            overlap = float(self._overlaps[integer(0, len(self._overlaps))])
            if overlap >= 1:
                return {}
            for _ in range(int(self.trials)):
                params = self._try_crop(height, width, corners, overlap)
                if params is not None:
                    return params

    def _try_crop(self, height: int, width: int, corners: Any, overlap: float) -> Params | None:
        """One try, in float32; None if it does not do."""
        across, down = self.min_scale + (self.max_scale - self.min_scale) * rand(2)
        new_width, new_height = int(width * across), int(height * down)
        ratio = new_width / new_height if new_height else np.inf
        if not self.min_aspect_ratio <= ratio <= self.max_aspect_ratio:
            return None
        across, down = rand(2)
        left, top = int((width - new_width) * across), int((height - new_height) * down)
        if not new_width or not new_height:
            return None
        right, bottom = left + new_width, top + new_height
        middle_x = 0.5 * (corners[..., 0] + corners[..., 2])
        middle_y = 0.5 * (corners[..., 1] + corners[..., 3])
        within = (left < middle_x) & (middle_x < right) & (top < middle_y) & (middle_y < bottom)
        if not within.any() or _most_overlap(corners[within], left, top, right, bottom) < overlap:
            return None
        return {
            "top": top,
            "left": left,
            "height": new_height,
            "width": new_width,
            "is_within_crop_area": within,
        }

    def transform(self, inpt: Any, params: Params) -> Any:
        """Crop it; boxes whose middle is outside become zeros."""
        if not params:
            return inpt
        crop = {side: params[side] for side in ("top", "left", "height", "width")}
        output = F.crop(inpt, **crop)
        if kind_of(output) == BOXES:
            output[~params["is_within_crop_area"]] = 0
        return output

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[CropMove]:
        """Raise TransformError: a crop cannot be judged without boxes."""
        del sizes
        raise TransformError(
            f"RandomIoUCrop (step {draws.stream + 1}): needs boxes, but the samples carry "
            f"none. Load boxes, or leave it out."
        )

    def sample_targets(
        self, draws: Draws, sizes: Sizes, targets: Targets
    ) -> tuple[tuple[CropMove], Targets]:
        """Search for all samples at once, round by round, until each has its crop."""
        if targets.boxes is None:
            return self.sample(draws, sizes), targets
        zeros = np.zeros(len(sizes), dtype=np.int64)
        crop = CropMove(zeros, zeros.copy(), sizes.height.copy(), sizes.width.copy())
        cropped = np.zeros(len(sizes), dtype=np.bool_)
        looking = np.arange(len(sizes))
        possible = self._possible_overlaps(sizes, targets)
        draws.reserve(_USUAL_ROUNDS)
        for number in range(_MOST_ROUNDS):
            overlap = self._overlaps[draws.integers(len(self._overlaps))]
            looking = looking[overlap[looking] < 1]
            if not len(looking):
                break
            trying = looking[overlap[looking] <= possible[looking]]
            if not len(trying):
                continue
            tries = self._draw_tries(draws.branch(number, trying), sizes.at(trying))
            good = _are_good(tries, overlap[trying], targets.pick(trying))
            found, first = good.any(axis=0), good.argmax(axis=0)
            rows = trying[found]
            for side in ("top", "left", "height", "width"):
                getattr(crop, side)[rows] = getattr(tries, side)[first[found], found]
            cropped[rows] = True
            looking = looking[~cropped[looking]]
        return (crop,), _move_along(crop, cropped, targets, sizes)

    def _possible_overlaps(self, sizes: Sizes, targets: Targets) -> Floats:
        """An upper limit of the overlaps in each sample: its largest box over the smallest crop.

        Where more is asked for, no crop need be tried. A sample without boxes has a negative limit.
        """
        possible = np.full(len(sizes), -1.0)
        if targets.boxes is not None:
            width, height = (targets.boxes[:, 2:] - targets.boxes[:, :2]).T.astype(np.float64)
            least = np.floor(sizes.width * self.min_scale) * np.floor(sizes.height * self.min_scale)
            areas = np.maximum(width * height, 0)
            np.maximum.at(possible, targets.owners, areas / np.maximum(least, 1)[targets.owners])
        return possible

    def _draw_tries(self, draws: Draws, sizes: Sizes) -> CropMove:
        """The crop of every try, (tries, samples); one with a wrong aspect ratio has height 0."""
        words = draws.bits(2 * self.trials).reshape(2, self.trials, len(sizes))
        halves = np.concatenate([words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)])
        drawn = halves * 2.0**-32  # as many bits as a place in an image needs, at half the cost
        shares = self.min_scale + (self.max_scale - self.min_scale) * drawn[:2]
        width, height = _cut(sizes.width * shares[0]), _cut(sizes.height * shares[1])
        ratio = width / np.maximum(height, 1)
        fits = (ratio >= self.min_aspect_ratio) & (ratio <= self.max_aspect_ratio) & (width > 0)
        left, top = _cut((sizes.width - width) * drawn[2]), _cut((sizes.height - height) * drawn[3])
        return CropMove(top, left, height * fits, width)


def _most_overlap(corners: Any, left: int, top: int, right: int, bottom: int) -> Any:
    """The largest intersection over union of boxes with a crop, in torch's arithmetic."""
    torch = get_torch()
    crop = torch.tensor([left, top, right, bottom], dtype=corners.dtype, device=corners.device)
    sides = (torch.min(corners[:, 2:], crop[2:]) - torch.max(corners[:, :2], crop[:2])).clamp(min=0)
    shared = sides[:, 0] * sides[:, 1]
    areas = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])
    area = (crop[2] - crop[0]) * (crop[3] - crop[1])
    return (shared / (areas + area - shared)).max()


def _are_good(tries: CropMove, overlap: Floats, targets: Targets) -> Bools:
    """Which tries (tries, samples) overlap enough with some object whose middle is inside."""
    good = np.zeros(tries.top.shape, dtype=np.bool_)
    owners = targets.owners
    if targets.boxes is None or not len(owners):
        return good
    of_each = CropMove(
        tries.top[:, owners], tries.left[:, owners], tries.height[:, owners], tries.width[:, owners]
    )
    enough = _are_inside(of_each, targets.boxes)
    enough &= _overlaps(of_each, targets.boxes) >= overlap[owners]
    with_objects = np.flatnonzero(targets.counts)
    starts = targets.offsets[with_objects]
    good[:, with_objects] = np.logical_or.reduceat(enough, starts, axis=1)
    return good & (tries.height > 0)


def _are_inside(crop: CropMove, boxes: Places) -> Bools:
    """Whether the middle of each box is inside its crop, not on the border."""
    left, top, right, bottom = boxes.T
    across, down = 0.5 * (left + right), 0.5 * (top + bottom)
    inside: Bools = (crop.left < across) & (across < crop.left + crop.width)
    inside &= (crop.top < down) & (down < crop.top + crop.height)
    return inside


def _overlaps(crop: CropMove, boxes: Places) -> Floats:
    """Intersection over union of each box with its crop."""
    left, top, right, bottom = boxes.T.astype(np.float64)
    shared_width = np.minimum(right, crop.left + crop.width) - np.maximum(left, crop.left)
    shared_height = np.minimum(bottom, crop.top + crop.height) - np.maximum(top, crop.top)
    shared = np.maximum(shared_width, 0) * np.maximum(shared_height, 0)
    joined = (right - left) * (bottom - top) + crop.height * crop.width - shared
    overlaps: Floats = shared / np.where(joined > 0, joined, np.inf)
    return overlaps


def _move_along(crop: CropMove, cropped: Bools, targets: Targets, sizes: Sizes) -> Targets:
    owners = targets.owners
    moved = move_targets((crop,), targets, sizes)
    if targets.boxes is None or moved.boxes is None:
        return moved
    of_each = CropMove(crop.top[owners], crop.left[owners], crop.height[owners], crop.width[owners])
    outside = cropped[owners] & ~_are_inside(of_each, targets.boxes)
    return moved.moved(np.where(outside[:, None], np.float32(0), moved.boxes), moved.keypoints)


def _cut(sides: Floats) -> Ints:
    return sides.astype(np.int64)
