"""Batches as trainers of YOLO detectors take them: `Loader(targets="yolo")`.

One dictionary has the objects of all images in flat arrays, each with the number of its image.
docs/frameworks/yolo.md lists its keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.data.column_source import ColumnSource
from penstock.data.targets import TargetSource
from penstock.errors import LoaderError
from penstock.geometry import Ints, Sizes
from penstock.loading.batch import Batch
from penstock.loading.to_library import finish_images, to_library
from penstock.planner.plan import Plan
from penstock.rng import Draws
from penstock.sources import Source, has_paths
from penstock.transforms.crop import CenterCrop, Pad
from penstock.transforms.moves import CropMove, Move, PadMove, ResizeMove
from penstock.transforms.op import BoxOp, ImageOp
from penstock.transforms.resize import LetterBox, Resize
from penstock.transforms.targets import Targets

# What an image's pixels go through without draws, so that their places can be computed again.
_PLACING = (Resize, LetterBox, Pad, CenterCrop)


@dataclass(frozen=True, slots=True)
class YoloDelivery:
    """Images, and the objects of all of them in flat arrays, in one dictionary."""

    source: Source
    placing: tuple[ImageOp, ...] | None  # the steps that place an image's pixels, if none is drawn

    def deliver(self, batch: Batch) -> dict[str, Any] | None:
        """Return the dictionary."""
        good = batch.good
        if not len(good):
            return None
        samples, sizes, targets = batch.samples[good], batch.sizes, batch.take_targets()
        before = Sizes(sizes.height[good], sizes.width[good])
        images = batch.take_images()
        if isinstance(images, list):
            raise LoaderError(f"Batch {batch.number}: targets='yolo' needs images of one size.")
        sides = images.shape[2:] if batch.output.layout == "chw" else images.shape[1:3]
        height, width = int(sides[0]), int(sides[1])
        delivered: dict[str, Any] = {"img": finish_images(images, batch)}
        for name, column in flat_objects(targets, height, width).items():
            delivered[name] = to_library(column, batch.output)
        delivered["im_file"] = _names(self.source, samples)
        delivered["ori_shape"] = list(
            zip(before.height.tolist(), before.width.tolist(), strict=True)
        )
        delivered["resized_shape"] = [(height, width)] * len(good)
        if self.placing is not None:
            delivered["ratio_pad"] = ratio_and_pad(self.placing, before)
        return delivered


def open_yolo(source: Source, targets: TargetSource | None, plan: Plan) -> YoloDelivery:
    """Return the delivery of a loader with targets='yolo'."""
    first = None if targets is None else targets.of(np.zeros(1, dtype=np.int64))
    if first is None or first.boxes is None or first.labels is None:
        raise LoaderError(
            f"Loader: targets='yolo' needs boxes with labels, which {source.describe()} does not "
            "have. Use targets='list' for what it has."
        )
    return YoloDelivery(source, _placing_steps(plan))


def flat_objects(targets: Targets, height: int, width: int) -> dict[str, npt.NDArray[np.float32]]:
    """Return class, box and image of every object; boxes are shares of the image's sides.

    A box is the middle across, the middle down, width and height.
    """
    corners = np.zeros((0, 4)) if targets.boxes is None else targets.boxes.astype(np.float64)
    labels = np.zeros(0) if targets.labels is None else targets.labels
    near, far = corners[:, :2], corners[:, 2:]
    sides = np.array([width, height])
    boxes = np.concatenate([(near + far) / 2 / sides, (far - near) / sides], axis=1)
    return {
        "cls": labels.astype(np.float32).reshape(-1, 1),
        "bboxes": boxes.astype(np.float32),
        "batch_idx": targets.owners.astype(np.float32),
    }


def ratio_and_pad(
    steps: tuple[ImageOp, ...], sizes: Sizes
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Return where the pixels of images of `sizes` lie after these steps, which draw nothing.

    For each image ((height ratio, width ratio), (left, top)): what was at (x, y) is now at
    (x * width ratio + left, y * height ratio + top).
    """
    scale = np.ones((2, len(sizes)))  # down, across
    start = np.zeros((2, len(sizes)))  # top, left
    for number, step in enumerate(steps):
        for move in step.sample(Draws(0, 0, np.arange(len(sizes)), number), sizes):
            scale, start = _moved(move, sizes, scale, start)
            sizes = move.out_sizes(sizes)
    rows = zip(*scale.tolist(), *start.tolist(), strict=True)
    return [((down, across), (left, top)) for down, across, top, left in rows]


def _moved(
    move: Move, sizes: Sizes, scale: npt.NDArray[Any], start: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    if isinstance(move, ResizeMove):
        factor = np.stack([move.height / sizes.height, move.width / sizes.width])
        return scale * factor, start * factor
    if isinstance(move, PadMove):
        return scale, start + np.stack([move.top, move.left])
    if isinstance(move, CropMove):
        return scale, start - np.stack([move.top, move.left])
    raise LoaderError(f"targets='yolo': {type(move).__name__} has no ratio and pad.")


def _placing_steps(plan: Plan) -> tuple[ImageOp, ...] | None:
    """The steps that place pixels; None if one of them is drawn, or a function of the user's."""
    segments = plan.segments
    steps = [node.op for node in segments[0].ops if not isinstance(node.op, BoxOp)]
    is_fixed = len(segments) == 1 and all(isinstance(step, _PLACING) for step in steps)
    return tuple(steps) if is_fixed else None


def _names(source: Source, samples: Ints) -> list[str]:
    if has_paths(source):
        return source.paths(samples)
    if isinstance(source, ColumnSource):
        return [source.file_name(index) for index in samples.tolist()]
    return [source.name(index) for index in samples.tolist()]
