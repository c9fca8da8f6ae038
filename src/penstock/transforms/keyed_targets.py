"""The boxes, keypoints, masks and labels of one sample in a call with a key.

torchvision's classes become `Targets`, which move as the loader moves them, and back again.
Objects that a step drops are dropped from all of them alike.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import TransformError, TransformTypeError
from penstock.transforms.inputs import BOXES, KEYPOINTS, MASK, TENSOR, find_labels, kind_of, plain
from penstock.transforms.targets import Targets, read_targets

_ROWS = "number of the object"


@dataclass(frozen=True, slots=True)
class KeyedTargets:
    """What follows the image of a sample, each by its place among the values."""

    objects: Targets | None  # of a batch of one
    boxes: int | None
    keypoints: int | None
    labels: int | None
    masks: dict[int, Any]

    @staticmethod
    def find(name: str, sample: Any, values: Sequence[Any], size: tuple[int, int]) -> KeyedTargets:
        """All targets of a sample whose image has a size."""
        boxes = _only(name, values, BOXES)
        keypoints = _only(name, values, KEYPOINTS)
        masks = {place: value for place, value in enumerate(values) if kind_of(value) == MASK}
        for place in (boxes, keypoints):
            if place is not None and tuple(values[place].canvas_size) != size:
                raise TransformError(
                    f"{name}: {type(values[place]).__name__} are for an image of "
                    f"{values[place].canvas_size}, and the image is {size}. They must agree."
                )
        objects = _objects(name, values, boxes, keypoints)
        labels = None if objects is None else _labels(sample, values)
        return KeyedTargets(objects, boxes, keypoints, labels, masks)

    def fill_in(self, values: Sequence[Any], size: tuple[int, int]) -> list[Any]:
        """The values of a sample, with targets where they are now, in an image of this size."""
        filled = list(values)
        for place, mask in self.masks.items():
            filled[place] = mask
        if self.objects is None:
            return filled
        torch, wrap = sys.modules["torch"], sys.modules["torchvision.tv_tensors"].wrap
        rows = torch.from_numpy(self.objects.extras[_ROWS].copy())
        if self.boxes is not None:
            given = values[self.boxes]
            moved = torch.from_numpy(np.array(self.objects.formatted_boxes())).to(given.dtype)
            form = type(given.format)[self.objects.format.name]
            filled[self.boxes] = wrap(moved, like=given, format=form, canvas_size=size)
        if self.keypoints is not None:
            given = values[self.keypoints]
            places = np.array(self.objects.keypoints)[..., :2].reshape(len(rows), *given.shape[1:])
            moved = torch.from_numpy(places).to(given.dtype)
            filled[self.keypoints] = wrap(moved, like=given, canvas_size=size)
        self._drop(filled, rows, values, wrap)
        return filled

    def _drop(self, filled: list[Any], rows: Any, values: Sequence[Any], wrap: Any) -> None:
        """Leave out the labels and masks of objects that are not there any more."""
        place = self.boxes if self.boxes is not None else self.keypoints
        count = 0 if place is None else len(values[place])
        if len(rows) == count:
            return
        if self.labels is not None and len(values[self.labels]) == count:
            filled[self.labels] = values[self.labels][rows]
        for place, mask in self.masks.items():
            if mask.ndim == 3 and len(mask) == count:
                filled[place] = wrap(plain(mask)[rows], like=mask)


def _only(name: str, values: Sequence[Any], kind: int) -> int | None:
    places = [place for place, value in enumerate(values) if kind_of(value) == kind]
    if len(places) > 1:
        raise TransformTypeError(
            f"{name}: {len(places)} values of type {type(values[places[0]]).__name__} in the "
            "sample; a call with a key takes one. Join them."
        )
    return places[0] if places else None


def _objects(
    name: str, values: Sequence[Any], boxes: int | None, keypoints: int | None
) -> Targets | None:
    if boxes is None and keypoints is None:
        return None
    counts = {len(values[place]) for place in (boxes, keypoints) if place is not None}
    if len(counts) > 1:
        raise TransformError(
            f"{name}: {len(values[boxes or 0])} boxes and {len(values[keypoints or 0])} rows of "
            "keypoints; in a call with a key they belong together. Give as many of both."
        )
    count = counts.pop()
    given: dict[str, Any] = {"extras": {_ROWS: np.arange(count)}, "where": name}
    whole = None
    if boxes is not None:
        tensor = values[boxes]
        given["boxes"] = plain(tensor).cpu().numpy()
        given["format"] = tensor.format.name
        if not tensor.dtype.is_floating_point:
            whole = np.ones(1, dtype=np.bool_)
    if keypoints is not None:
        given["keypoints"] = plain(values[keypoints]).cpu().numpy().reshape(count, -1, 2)
    targets = read_targets([0, count], **given)
    return (
        targets
        if whole is None
        else Targets(
            targets.offsets,
            targets.boxes,
            None,
            targets.keypoints,
            targets.extras,
            targets.format,
            whole,
        )
    )


def _labels(sample: Any, values: Sequence[Any]) -> int | None:
    """Where the labels of objects are, by the names that torchvision looks for."""
    try:
        found = find_labels("default", sample)
    except (TransformError, IndexError):
        return None
    places = [place for place, value in enumerate(values) if value is found]
    return places[0] if places and kind_of(found) == TENSOR else None
