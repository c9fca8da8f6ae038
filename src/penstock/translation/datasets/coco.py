"""Torchvision's CocoDetection in its wrapper: boxes, labels, and what else was asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from penstock.errors import TransformError
from penstock.transforms.targets import BoxFormat, Targets, read_targets
from penstock.translation.datasets.target_forms import WrappedCoco
from penstock.translation.tracing.values import UnfollowableError

_DEFAULT_KEYS = frozenset({"image_id", "boxes", "labels"})


def coco_paths(dataset: Any) -> tuple[str, ...]:
    """Return the files of the images, in the Dataset's order."""
    images = dataset.coco.loadImgs(dataset.ids)
    return tuple(os.path.join(dataset.root, image["file_name"]) for image in images)


def load_coco(dataset: Any, position: int) -> Any:
    """Return the annotations of an image, as the Dataset reads them."""
    return dataset._load_target(dataset.ids[position])  # noqa: SLF001  it has no other way


def read_wrapped_coco(dataset: Any, target_keys: Any) -> tuple[Targets, WrappedCoco]:
    """Return what objects there are, and the form that the wrapper gives them."""
    keys = _read_keys(target_keys)
    objects = [load_coco(dataset, position) for position in range(len(dataset.ids))]
    _check_keys(dataset, objects, keys)
    return _read_objects(objects), WrappedCoco(tuple(dataset.ids), tuple(objects), keys)


def _read_keys(given: Any) -> frozenset[str]:
    if given is None:
        return _DEFAULT_KEYS
    if given == "all" or "masks" in given:
        raise UnfollowableError(
            f"target_keys are {given!r}; masks are not followed here. Leave them out, or pack the "
            "data set with its masks"
        )
    return frozenset(given)


def _check_keys(dataset: Any, objects: list[Any], keys: Iterable[str]) -> None:
    needed = {"bbox", "category_id"} | set(keys) - {"boxes", "labels", "image_id"}
    for image_id, of_image in zip(dataset.ids, objects, strict=True):
        for annotation in of_image:
            for key in sorted(needed - annotation.keys()):
                raise UnfollowableError(f"an annotation of image {image_id} has no {key!r}")


def _read_objects(objects: list[Any]) -> Targets:
    counts = [len(of_image) for of_image in objects]
    together = [each for of_image in objects for each in of_image]
    try:
        targets = read_targets(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            boxes=np.array([each["bbox"] for each in together], np.float32).reshape(-1, 4),
            format="XYWH",
            labels=np.array([each["category_id"] for each in together], np.int64),
            where="CocoDetection",
        )
    except (TransformError, TypeError, ValueError) as error:
        raise UnfollowableError(str(error).rstrip(".")) from error
    return replace(targets, format=BoxFormat.XYXY, whole=np.array([*map(_are_whole, objects)]))


def _are_whole(objects: list[Any]) -> bool:
    """Whether torch makes int64 of an image's boxes: not one number is written with a point."""
    sides = [side for each in objects for side in each["bbox"]]
    return bool(sides) and all(isinstance(side, int) for side in sides)
