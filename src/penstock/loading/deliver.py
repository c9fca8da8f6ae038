"""What a training loop gets of a batch: images, and labels or targets beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from penstock._core import Element
from penstock.geometry import Ints
from penstock.loading.batch import Batch
from penstock.loading.collate import list_targets, pad_targets
from penstock.loading.columns import LABEL, ColumnValues, Values
from penstock.loading.options import OutputOptions
from penstock.loading.to_torch import image_tensor, label_tensor
from penstock.sources import Labels

IMAGE = "image"  # the key of images in a batch that is a dictionary


class Delivery(Protocol):
    """Makes what iterating yields."""

    def deliver(self, batch: Batch) -> Any:
        """Return images and what goes with them, or None if every sample was left out."""
        ...


@dataclass(frozen=True, slots=True)
class ImageDelivery:
    """Images alone, of a data set without labels."""

    def deliver(self, batch: Batch) -> Any:
        """Return images."""
        return _finish(batch.take_images(), batch) if len(batch.good) else None


@dataclass(frozen=True, slots=True)
class LabelDelivery:
    """Images in one array, and a label for each; if they were mixed, one of all classes."""

    labels: Labels

    def deliver(self, batch: Batch) -> tuple[Any, Any] | None:
        """Return images and labels."""
        good = batch.good
        if not len(good):
            return None
        mixed = batch.soft_labels
        labels = self.labels[batch.files[good]] if mixed is None else mixed
        images = _finish(batch.take_images(), batch)
        return images, _to_library(labels, batch.output)


@dataclass(frozen=True, slots=True)
class ColumnDelivery:
    """Images with columns beside them: a flat tuple, or a dictionary by name.

    `targets` come right behind the images where there are some. Columns go with the sample that
    is delivered; if images were mixed, so is `label`, and the other columns stay as they are.
    """

    columns: Mapping[str, ColumnValues]
    as_dict: bool
    targets: TargetDelivery | LabelMapDelivery | None = None

    def deliver(self, batch: Batch) -> Any | None:
        """Return images, targets and columns."""
        good = batch.good
        if not len(good):
            return None
        values = {
            name: _column_to_library(column.at(batch.files[good]), batch.output)
            for name, column in self.columns.items()
        }
        if batch.soft_labels is not None:
            values[LABEL] = _to_library(batch.soft_labels, batch.output)
        delivered = None if self.targets is None else self.targets.deliver(batch)
        if self.targets is not None and delivered is not None:
            images, targets = delivered
            values = {self.targets.key: targets, **values}
        else:
            images = _finish(batch.take_images(), batch)
        return {IMAGE: images, **values} if self.as_dict else (images, *values.values())


@dataclass(frozen=True, slots=True)
class TargetDelivery:
    """Images, and what they carry: a dictionary each, or `padded` to one of arrays.

    Images of different sizes come as a list; padded, with black to the right of and below them,
    and `sizes` says (height, width) of each. `masks`, if wanted, has one for each object.
    """

    key: ClassVar[str] = "targets"

    image_ids: Callable[[Ints], Ints]
    padded: bool

    def deliver(self, batch: Batch) -> tuple[Any, Any] | None:
        """Return images and targets."""
        good = batch.good
        if not len(good):
            return None
        ids, targets = self.image_ids(batch.files[good]), batch.take_targets()
        images, masks, output = batch.take_images(), batch.take_masks(), batch.output
        if not self.padded:
            each = list_targets(targets, ids, _library(output))
            for target, stack in zip(each, masks or (), strict=masks is not None):
                target["masks"] = _to_library(stack, output)
            return _finish(images, batch), each
        sizes = _sizes_of(images, output)
        together = _pad(images, sizes, output) if isinstance(images, list) else images
        columns = pad_targets(targets, ids, _library(output))
        columns |= {"sizes": _to_library(sizes, output)}
        if masks is not None:
            columns["masks"] = _to_library(_pad_masks(masks, sizes), output)
        return _finish(together, batch), columns


@dataclass(frozen=True, slots=True)
class LabelMapDelivery:
    """Images, and a mask of class numbers for each, int64.

    Where sizes differ both come as lists; or `padded`, with black and with `fill` to the right of
    and below them.
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
            return _finish(images, batch), [_to_library(mask, output) for mask in masks]
        together = np.stack(masks) if isinstance(masks, list) else masks
        return _finish(images, batch), _to_library(together, output)


def _to_library(values: npt.NDArray[Any], output: OutputOptions) -> Any:
    return label_tensor(values) if output.library == "torch" else values


def _column_to_library(values: Values, output: OutputOptions) -> Any:
    if not isinstance(values, list):
        return _to_library(values, output)
    return [
        _to_library(value, output) if isinstance(value, np.ndarray) else value for value in values
    ]


def _pad_masks(masks: list[npt.NDArray[np.uint8]], sizes: Ints) -> npt.NDArray[np.uint8]:
    most = max(len(stack) for stack in masks)
    height, width = sizes.max(axis=0)
    together = np.zeros((len(masks), most, height, width), dtype=np.uint8)
    for target, stack in zip(together, masks, strict=True):
        target[: len(stack), : stack.shape[1], : stack.shape[2]] = stack
    return together


def _library(output: OutputOptions) -> Any:
    return output.library


def _finish(images: Any, batch: Batch) -> Any:
    output = batch.output
    if output.library != "torch":
        return images
    is_bfloat16 = output.element == Element.BFLOAT16
    if isinstance(images, list):
        return [image_tensor(image, batch.pinned, is_bfloat16=is_bfloat16) for image in images]
    return image_tensor(images, batch.pinned, is_bfloat16=is_bfloat16)


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
