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
from penstock.transforms.targets import Targets
from penstock.transforms.values import Element


class Delivery(Protocol):
    """Makes the pair that iterating yields."""

    def deliver(self, batch: Batch) -> tuple[Any, Any] | None:
        """Return images and what goes with them, or None if every sample was left out."""
        ...


@dataclass(frozen=True, slots=True)
class LabelDelivery:
    """Images in one array, and a label for each."""

    labels: Labels

    def deliver(self, batch: Batch) -> tuple[Any, Any] | None:
        """Return images and labels."""
        good = batch.good
        if not len(good):
            return None
        labels = self.labels[batch.files[good]]
        images = _finish(batch.take_images(), batch.output)
        return images, label_tensor(labels) if batch.output.library == "torch" else labels


@dataclass(frozen=True, slots=True)
class TargetDelivery:
    """Images, and what they carry: a dictionary each, or `padded` to one of arrays.

    Images of different sizes come as a list; padded, with black to the right of and below them,
    and `sizes` says (height, width) of each.
    """

    image_ids: Callable[[Ints], Ints]
    padded: bool

    def deliver(self, batch: Batch) -> tuple[Any, Any] | None:
        """Return images and targets."""
        good = batch.good
        if not len(good):
            return None
        ids, targets = self.image_ids(batch.files[good]), batch.take_targets()
        images, output = batch.take_images(), batch.output
        if not self.padded:
            return _finish(images, output), list_targets(targets, ids, _library(output))
        sizes = _sizes_of(images, output)
        together = _pad(images, sizes, output) if isinstance(images, list) else images
        return _finish(together, output), self._padded_targets(targets, ids, sizes, output)

    def _padded_targets(
        self, targets: Targets, ids: Ints, sizes: Ints, output: OutputOptions
    ) -> dict[str, Any]:
        columns = pad_targets(targets, ids, _library(output))
        return columns | {"sizes": label_tensor(sizes) if output.library == "torch" else sizes}


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
