"""What a training loop gets of a batch: images, and labels or targets beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from penstock.data.beside import Beside
from penstock.data.columns import LABEL, ColumnValues, LabelColumn, named_columns
from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.batch import Batch
from penstock.loading.options import Library, OutputOptions
from penstock.loading.to_library import (
    column_to_library,
    finish_images,
    finisher,
    to_library,
)
from penstock.loading.yolo_batch import open_yolo
from penstock.planner.plan import Plan
from penstock.transforms.targets import Targets

IMAGE = "image"  # the key of images in a batch that is a dictionary


class Delivery(Protocol):
    """Makes what iterating yields."""

    def deliver(self, batch: Batch) -> Any:
        """Return images and what goes with them, or None if every sample was left out."""
        ...


def delivery_of(beside: Beside, plan: Plan, *, as_dict: bool | Mapping[str, str]) -> Delivery:
    """Return the delivery for images with what `beside` lists.

    `as_dict` makes dictionaries; a mapping of names gives some of their keys other names.
    """
    renamed = _read_names(as_dict)
    if beside.flat:
        if renamed is not None:
            raise LoaderError(
                "Loader: targets='yolo' makes dictionaries with keys of their own. Leave out "
                "as_dict, or use targets='list' or 'padded'."
            )
        return open_yolo(beside.source, beside.targets, plan)
    targets: TargetDelivery | LabelMapDelivery | None = None
    if beside.has_label_maps and beside.masks is not None:
        targets = LabelMapDelivery(padded=beside.padded, fill=beside.masks.fill)
    elif beside.targets is not None:
        targets = TargetDelivery(beside.targets.image_ids, padded=beside.padded)
    if beside.columns or renamed is not None:
        columns = beside.columns
        if renamed is not None and beside.asked != "none":
            columns = named_columns(beside.source, columns, with_label=beside.wants_labels)
        if renamed is not None:
            _check_names(renamed, (IMAGE, *(() if targets is None else (targets.key,)), *columns))
        return ColumnDelivery(columns, renamed, targets)
    if targets is not None:
        return targets
    labels = beside.labels()
    return ImageDelivery() if labels is None else LabelDelivery(labels)


def _read_names(as_dict: object) -> Mapping[str, str] | None:
    """Return which keys of dictionaries have other names; None if batches are no dictionaries."""
    if isinstance(as_dict, bool):
        return {} if as_dict else None
    given = dict(as_dict) if isinstance(as_dict, Mapping) else {}
    if given and all(isinstance(name, str) for pair in given.items() for name in pair):
        return given
    raise LoaderError(
        "Loader: as_dict must be True, False or a dictionary from names to other names, such as "
        f"{{'image': 'pixel_values', 'label': 'labels'}}, got {as_dict!r}."
    )


def _check_names(renamed: Mapping[str, str], there: tuple[str, ...]) -> None:
    """Raise LoaderError if a new name is given to no key, or two keys would have the same one."""
    for name in renamed:
        if name not in there:
            raise LoaderError(
                f"Loader: as_dict: batches have no {name!r} to be renamed. There are "
                f"{', '.join(there)}; further columns are asked for with columns=[...]."
            )
    names = [renamed.get(name, name) for name in there]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise LoaderError(f"Loader: as_dict: two keys of a batch would be called {twice!r}.")


@dataclass(frozen=True, slots=True)
class ImageDelivery:
    """Images alone, of a data set without labels."""

    def deliver(self, batch: Batch) -> Any:
        """Return images."""
        return finish_images(batch.take_images(), batch) if len(batch.good) else None


@dataclass(frozen=True, slots=True)
class LabelDelivery:
    """Images in one array, and one label per image; after mixing, a row over all classes each."""

    labels: LabelColumn

    def deliver(self, batch: Batch) -> tuple[Any, Any] | None:
        """Return images and labels."""
        good = batch.good
        if not len(good):
            return None
        mixed = batch.soft_labels
        labels = self.labels.at(batch.samples[good]) if mixed is None else mixed
        images = finish_images(batch.take_images(), batch)
        return images, to_library(labels, batch.output)


@dataclass(frozen=True, slots=True)
class ColumnDelivery:
    """Images with columns beside them: a flat tuple, or a dictionary by name.

    `targets` come right after the images if there are any. Columns are those of the sample that
    is delivered; if images were mixed, so is `label`, and the other columns stay as they are.
    """

    columns: Mapping[str, ColumnValues]
    renamed: Mapping[str, str] | None = None  # keys with other names; None: tuples
    targets: TargetDelivery | LabelMapDelivery | None = None

    def deliver(self, batch: Batch) -> Any | None:
        """Return images, targets and columns."""
        good = batch.good
        if not len(good):
            return None
        values = {
            name: column_to_library(column.at(batch.samples[good]), batch.output)
            for name, column in self.columns.items()
        }
        if batch.soft_labels is not None:
            values[LABEL] = to_library(batch.soft_labels, batch.output)
        delivered = None if self.targets is None else self.targets.deliver(batch)
        if self.targets is not None and delivered is not None:
            images, targets = delivered
            values = {self.targets.key: targets, **values}
        else:
            images = finish_images(batch.take_images(), batch)
        if self.renamed is None:
            return (images, *values.values())
        named = {IMAGE: images, **values}
        return {self.renamed.get(name, name): value for name, value in named.items()}


@dataclass(frozen=True, slots=True)
class TargetDelivery:
    """Images and their targets: one dictionary per image or, if `padded`, one of arrays.

    Images of different sizes come as a list. If `padded`, they come as one array, filled up with
    black on the right and at the bottom, and `sizes` has the (height, width) of each. `masks`, if
    wanted, has one mask per object.
    """

    key: ClassVar[str] = "targets"

    image_ids: Callable[[Ints], Ints]
    padded: bool

    def deliver(self, batch: Batch) -> tuple[Any, Any] | None:
        """Return images and targets."""
        good = batch.good
        if not len(good):
            return None
        ids, targets = self.image_ids(batch.samples[good]), batch.take_targets()
        images, masks, output = batch.take_images(), batch.take_masks(), batch.output
        if not self.padded:
            each = list_targets(targets, ids, output.library)
            for target, stack in zip(each, masks or (), strict=masks is not None):
                target["masks"] = to_library(stack, output)
            return finish_images(images, batch), each
        sizes = _sizes_of(images, output)
        together = _pad(images, sizes, output) if isinstance(images, list) else images
        columns = pad_targets(targets, ids, output.library)
        columns |= {"sizes": to_library(sizes, output)}
        if masks is not None:
            columns["masks"] = to_library(_pad_masks(masks, sizes), output)
        return finish_images(together, batch), columns


@dataclass(frozen=True, slots=True)
class LabelMapDelivery:
    """Images, and one mask of class numbers per image, int64.

    If sizes differ, both come as lists; or `padded` on the right and at the bottom, images with
    black and masks with `fill`.
    """

    key: ClassVar[str] = "masks"

    padded: bool
    fill: int

    def deliver(self, batch: Batch) -> tuple[Any, Any] | None:
        """Return images and masks."""
        if not len(batch.good):
            return None
        images, masks, output = batch.take_images(), batch.take_label_maps(), batch.output
        if self.padded and isinstance(images, list):
            sizes = _sizes_of(images, output)
            images = _pad(images, sizes, output)
            together = np.full((len(masks), *sizes.max(axis=0)), self.fill, dtype=np.int64)
            for target, mask in zip(together, masks, strict=True):
                target[: mask.shape[0], : mask.shape[1]] = mask
            masks = together
        if isinstance(images, list):
            return finish_images(images, batch), [to_library(mask, output) for mask in masks]
        together = np.stack(masks) if isinstance(masks, list) else masks
        return finish_images(images, batch), to_library(together, output)


def _pad_masks(masks: list[npt.NDArray[np.uint8]], sizes: Ints) -> npt.NDArray[np.uint8]:
    most = max(len(stack) for stack in masks)
    height, width = sizes.max(axis=0)
    together = np.zeros((len(masks), most, height, width), dtype=np.uint8)
    for target, stack in zip(together, masks, strict=True):
        target[: len(stack), : stack.shape[1], : stack.shape[2]] = stack
    return together


def _sizes_of(images: npt.NDArray[Any] | list[npt.NDArray[Any]], output: OutputOptions) -> Ints:
    sides = slice(1, 3) if output.layout == "chw" else slice(0, 2)
    return np.array([image.shape[sides] for image in images], dtype=np.int64)


def _pad(images: list[npt.NDArray[Any]], sizes: Ints, output: OutputOptions) -> npt.NDArray[Any]:
    height, width = sizes.max(axis=0)
    shape = (3, height, width) if output.layout == "chw" else (height, width, 3)
    together = np.zeros((len(images), *shape), dtype=images[0].dtype)
    for target, image, (rows, columns) in zip(together, images, sizes.tolist(), strict=True):
        if output.layout == "chw":
            target[:, :rows, :columns] = image
        else:
            target[:rows, :columns] = image
    return together


NO_LABEL = -1  # in the places of a padded batch that no object takes


def list_targets(targets: Targets, image_ids: Ints, library: Library) -> list[dict[str, Any]]:
    """One dictionary per sample, as torchvision's detection models take them.

    `boxes` is float32 (objects, 4), or int64 where they are whole numbers, `labels` int64
    (objects,), `keypoints` float32 (objects, points, 3), extra columns go by their names, and
    `image_id` is a Python int.
    """
    finish = finisher(library)
    columns = _columns(targets)
    bounds = zip(targets.offsets[:-1].tolist(), targets.offsets[1:].tolist(), strict=True)
    listed = [
        {name: finish(column[start:end].copy()) for name, column in columns.items()}
        | {"image_id": image_id}
        for image_id, (start, end) in zip(image_ids.tolist(), bounds, strict=True)
    ]
    boxes = columns.get("boxes")
    if targets.whole is not None and boxes is not None:
        for row in np.flatnonzero(targets.whole).tolist():
            start, end = targets.offsets[row : row + 2].tolist()
            listed[row]["boxes"] = finish(boxes[start:end].astype(np.int64))
    return listed


def pad_targets(
    targets: Targets, image_ids: Ints, library: Library, most: int | None = None
) -> dict[str, Any]:
    """All samples in one array per column: (samples, most objects, ...).

    `most` is the largest number of objects in a sample, unless it is given. `counts` says how many
    objects are real; after them, labels are -1 and all else is 0. Boxes are always float32.
    """
    counts = targets.counts
    fullest = int(counts.max(initial=0))
    room = fullest if most is None else most
    if fullest > room:
        raise LoaderError(
            f"Targets are padded to {room} objects, but image {image_ids[int(counts.argmax())]} "
            f"has {fullest}. Raise the number, or leave it out."
        )
    owners = targets.owners
    places = np.arange(len(owners)) - targets.offsets[owners]
    padded: dict[str, npt.NDArray[Any]] = {"counts": counts, "image_id": image_ids}
    for name, column in _columns(targets).items():
        blank = NO_LABEL if name == "labels" else 0
        padded[name] = np.full((len(targets), room, *column.shape[1:]), blank, dtype=column.dtype)
        padded[name][owners, places] = column
    finish = finisher(library)
    return {name: finish(column) for name, column in padded.items()}


def _columns(targets: Targets) -> dict[str, npt.NDArray[Any]]:
    """Every column that is there, by the name it is delivered under."""
    named = {
        "boxes": targets.formatted_boxes(),
        "labels": targets.labels,
        "keypoints": targets.keypoints,
        **targets.extras,
    }
    return {name: column for name, column in named.items() if column is not None}
