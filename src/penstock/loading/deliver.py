"""What a training loop gets of a batch: images, and labels or targets beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from penstock.geometry import Ints
from penstock.loading.batch import Batch
from penstock.loading.collate import list_targets, pad_targets
from penstock.loading.options import OutputOptions
from penstock.loading.to_torch import image_tensor, label_tensor
from penstock.sources import Labels
from penstock.transforms.values import Element


class Delivery(Protocol):
    """Makes the pair that iterating yields."""

    def deliver(self, batch: Batch) -> tuple[Any, Any] | None:
        """Return images and what goes with them, or None if every sample was left out."""
        ...


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
        images = _finish(batch.take_images(), batch.output)
        return images, _to_library(labels, batch.output)


@dataclass(frozen=True, slots=True)
class TargetDelivery:
    """Images, and what they carry: a dictionary each, or `padded` to one of arrays.

    Images of different sizes come as a list; padded, with black to the right of and below them,
    and `sizes` says (height, width) of each. `masks`, if wanted, has one for each object.
    """

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
            return _finish(images, output), each
        sizes = _sizes_of(images, output)
        together = _pad(images, sizes, output) if isinstance(images, list) else images
        columns = pad_targets(targets, ids, _library(output))
        columns |= {"sizes": _to_library(sizes, output)}
        if masks is not None:
            columns["masks"] = _to_library(_pad_masks(masks, sizes), output)
        return _finish(together, output), columns


@dataclass(frozen=True, slots=True)
class LabelMapDelivery:
    """Images, and a mask of class numbers for each, int64.

    Where sizes differ both come as lists; or `padded`, with black and with `fill` to the right of
    and below them.
    """

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
            return _finish(images, output), [_to_library(mask, output) for mask in masks]
        together = np.stack(masks) if isinstance(masks, list) else masks
        return _finish(images, output), _to_library(together, output)


def _to_library(values: npt.NDArray[Any], output: OutputOptions) -> Any:
    return label_tensor(values) if output.library == "torch" else values


def _pad_masks(masks: list[npt.NDArray[np.uint8]], sizes: Ints) -> npt.NDArray[np.uint8]:
    most = max(len(stack) for stack in masks)
    height, width = sizes.max(axis=0)
    together = np.zeros((len(masks), most, height, width), dtype=np.uint8)
    for target, stack in zip(together, masks, strict=True):
        target[: len(stack), : stack.shape[1], : stack.shape[2]] = stack
    return together


def _library(output: OutputOptions) -> Any:
    return output.library


def _finish(images: Any, output: OutputOptions) -> Any:
    if output.library != "torch":
        return images
    is_bfloat16 = output.element == Element.BFLOAT16
    if isinstance(images, list):
        return [image_tensor(image, is_bfloat16=is_bfloat16) for image in images]
    return image_tensor(images, is_bfloat16=is_bfloat16)


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
