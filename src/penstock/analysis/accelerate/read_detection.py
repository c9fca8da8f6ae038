"""Torchvision's CocoDetection with boxes that follow the image, as files and targets."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from penstock.analysis.accelerate.follow_values import UnfollowableError
from penstock.analysis.accelerate.identify import full_name, is_exactly
from penstock.analysis.accelerate.samples import IMAGE, LABEL, Samples
from penstock.errors import TransformError
from penstock.transforms.targets import BoxFormat, read_targets

_WRAPPER = "torchvision.tv_tensors._dataset_wrapper.VisionDatasetTVTensorWrapper"
_COCO = "torchvision.datasets.coco.CocoDetection"
_VOC = "torchvision.datasets.voc.VOCDetection"
_STANDARD = "torchvision.datasets.vision.StandardTransform"
_KEYS = {"image_id", "boxes", "labels"}  # what the wrapper gives unless told otherwise


def is_detection(dataset: Any) -> bool:
    """Whether it is one of torchvision's Datasets with boxes."""
    return bool({full_name(base) for base in type(dataset).__mro__} & {_WRAPPER, _COCO, _VOC})


def read_detection(dataset: Any) -> Samples:
    """Return what is in it; UnfollowableError says why that is not known."""
    inner = getattr(dataset, "_dataset", None)
    if inner is None:
        raise UnfollowableError(
            "its targets are not what detectors take, and do not follow the image. "
            "Wrap it: wrap_dataset_for_transforms_v2(dataset)"
        )
    if is_exactly(inner, _VOC):
        raise UnfollowableError(
            "torchvision keeps its boxes as whole numbers and cuts them off after every step; "
            "ours are float32"
        )
    if not is_exactly(inner, _COCO):
        raise UnfollowableError(f"what {type(inner).__name__} holds is not known")
    keys = dataset._target_keys  # noqa: SLF001  torchvision has no other way to ask
    if keys is not None and set(keys) != _KEYS:
        raise UnfollowableError(f"target_keys are {keys!r}; known are {', '.join(sorted(_KEYS))}")
    if dataset.transforms is not None and is_exactly(dataset.transforms, _STANDARD):
        raise UnfollowableError(
            "transform= leaves boxes where they were. Give CocoDetection transforms=, for both"
        )
    return _read_coco(inner, dataset.transforms)


def _read_coco(dataset: Any, transforms: Any) -> Samples:
    index = dataset.coco
    images = index.loadImgs(dataset.ids)
    objects = [index.loadAnns(index.getAnnIds(image)) for image in dataset.ids]
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
    except TransformError as error:
        raise UnfollowableError(str(error).rstrip(".")) from error
    return Samples(
        title=type(dataset).__qualname__,
        paths=tuple(os.path.join(dataset.root, image["file_name"]) for image in images),
        labels=np.zeros(len(images), np.int64),
        classes=None,
        modes=("RGB",),
        steps=() if transforms is None else (transforms,),
        template=(IMAGE, LABEL),
        targets=replace(targets, format=BoxFormat.XYXY),
        image_ids=np.array(dataset.ids, np.int64),
    )
