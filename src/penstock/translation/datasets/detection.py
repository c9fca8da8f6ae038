"""Torchvision's CocoDetection and VOCDetection as files and what stands beside each image.

In `wrap_dataset_for_transforms_v2` boxes follow the image; as they are, annotations do not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from penstock.errors import TransformError
from penstock.transforms.targets import BoxFormat, Targets, read_targets
from penstock.translation.datasets.samples import (
    IMAGE,
    LABEL,
    RawTargets,
    Samples,
    TargetForm,
    WrappedCoco,
    WrappedVoc,
)
from penstock.translation.tracing.values import UnfollowableError
from penstock.translation.transforms.identify import describe, full_name, imported, is_exactly

_WRAPPER = "torchvision.tv_tensors._dataset_wrapper.VisionDatasetTVTensorWrapper"
_COCO = "torchvision.datasets.coco.CocoDetection"
_CAPTIONS = "torchvision.datasets.coco.CocoCaptions"
_VOC = "torchvision.datasets.voc.VOCDetection"
_STANDARD = "torchvision.datasets.vision.StandardTransform"


def is_detection(dataset: Any) -> bool:
    """Whether it is one of torchvision's own Datasets with boxes, not a class made from one."""
    is_wrapped = _WRAPPER in map(full_name, type(dataset).__mro__)
    return is_wrapped or is_exactly(dataset, _COCO, _CAPTIONS, _VOC)


def read_detection(dataset: Any) -> Samples:
    """Return what is in it; UnfollowableError says why that is not known."""
    inner = getattr(dataset, "_dataset", None)
    if inner is None:
        return _read_raw(dataset)
    transforms = dataset.transforms
    if is_exactly(transforms, _STANDARD):
        raise UnfollowableError(
            f"transform= leaves boxes where they were. Give {type(inner).__name__} transforms=, "
            "for both"
        )
    keys = dataset._target_keys  # noqa: SLF001  torchvision has no other way to ask
    if is_exactly(inner, _COCO):
        return _samples(inner, coco_paths(inner), transforms, *read_wrapped_coco(inner, keys))
    if is_exactly(inner, _VOC):
        return _samples(inner, tuple(inner.images), transforms, *read_wrapped_voc(inner, keys))
    raise UnfollowableError(f"what {type(inner).__name__} holds is not known")


def _read_raw(dataset: Any) -> Samples:
    """Without the wrapper: annotations as they are, and transforms that images go through alone."""
    transform = target_transform = None
    if is_exactly(dataset.transforms, _STANDARD):
        transform = dataset.transforms.transform
        target_transform = dataset.transforms.target_transform
    elif dataset.transforms is not None:
        raise UnfollowableError(
            "what transforms= makes of an annotation is not known, since boxes do not follow the "
            "image. Wrap it: wrap_dataset_for_transforms_v2(dataset); or give transform="
        )
    is_voc = is_exactly(dataset, _VOC)
    paths = tuple(dataset.images) if is_voc else coco_paths(dataset)
    load, python = partial(load_voc if is_voc else load_coco, dataset), "the annotation"
    if target_transform is not None:
        python += f", target_transform={describe(target_transform)}"
    return _samples(dataset, paths, transform, None, RawTargets(load, target_transform, python))


def _samples(
    dataset: Any, paths: tuple[str, ...], step: Any, targets: Targets | None, form: TargetForm
) -> Samples:
    return Samples(
        title=type(dataset).__qualname__,
        paths=paths,
        labels=np.arange(len(paths)),
        classes=None,
        modes=("RGB",),
        steps=() if step is None else (step,),
        template=(IMAGE, LABEL),
        targets=targets,
        form=form,
    )


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


_SIDES = ("xmin", "ymin", "xmax", "ymax")
_DEFAULT_KEYS = frozenset({"boxes", "labels"})


def load_voc(dataset: Any, position: int) -> Any:
    """Return the annotation as the Dataset reads it."""
    module = imported("torchvision.datasets.voc")
    return dataset.parse_voc_xml(module.ET_parse(dataset.annotations[position]).getroot())


def read_wrapped_voc(dataset: Any, target_keys: Any) -> tuple[Targets, WrappedVoc]:
    """Return what objects there are, and the form that the wrapper gives them."""
    classes = imported("torchvision.tv_tensors._dataset_wrapper").VOC_DETECTION_CATEGORY_TO_IDX
    boxes, labels, counts = [], [], []
    for position, path in enumerate(dataset.annotations):
        objects = load_voc(dataset, position)["annotation"]["object"]
        if not objects:
            raise UnfollowableError(f"{path} has no objects, at which torchvision's wrapper stops")
        counts.append(len(objects))
        try:
            boxes += [[int(each["bndbox"][side]) for side in _SIDES] for each in objects]
            labels += [classes[each["name"]] for each in objects]
        except (KeyError, TypeError, ValueError) as error:
            why = f"{path}: torchvision's wrapper stops at {type(error).__name__}: {error}"
            raise UnfollowableError(why) from error
    try:
        targets = read_targets(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            boxes=boxes,
            labels=labels,
            where="VOCDetection",
        )
    except TransformError as error:
        raise UnfollowableError(str(error).rstrip(".")) from error
    keys = _DEFAULT_KEYS if target_keys is None else frozenset(target_keys)
    if target_keys == "all":
        keys = _DEFAULT_KEYS | {"annotation"}
    whole = np.ones(len(counts), dtype=np.bool_)
    form = WrappedVoc(partial(load_voc, dataset), keys)
    return replace(targets, whole=whole), form
