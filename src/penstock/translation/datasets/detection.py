"""Torchvision's CocoDetection and VOCDetection: files, and the target beside each image.

In `wrap_dataset_for_transforms_v2` boxes follow the image; without it, annotations stay as they
are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from penstock.errors import TransformError
from penstock.transforms.targets import BoxFormat, Targets, read_targets
from penstock.translation.datasets.contents import DatasetContents, TargetForm
from penstock.translation.tracing.values import UnfollowableError
from penstock.translation.transforms.identify import describe, full_name, imported, is_exactly

_WRAPPER = "torchvision.tv_tensors._dataset_wrapper.VisionDatasetTVTensorWrapper"
_COCO = "torchvision.datasets.coco.CocoDetection"
_CAPTIONS = "torchvision.datasets.coco.CocoCaptions"
_VOC = "torchvision.datasets.voc.VOCDetection"
_STANDARD = "torchvision.datasets.vision.StandardTransform"
_FOLLOWING = ("boxes", "labels")  # keys of a target whose values follow the image
_COCO_KEYS = frozenset({"image_id", *_FOLLOWING})
_VOC_SIDES = ("xmin", "ymin", "xmax", "ymax")


def is_detection(dataset: Any) -> bool:
    """Whether it is one of torchvision's own Datasets with boxes, not of a derived class."""
    is_wrapped = _WRAPPER in map(full_name, type(dataset).__mro__)
    return is_wrapped or is_exactly(dataset, _COCO, _CAPTIONS, _VOC)


def read_detection(dataset: Any) -> DatasetContents:
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
        return _contents(inner, _coco_paths(inner), transforms, *_read_wrapped_coco(inner, keys))
    if is_exactly(inner, _VOC):
        return _contents(inner, tuple(inner.images), transforms, *_read_wrapped_voc(inner, keys))
    raise UnfollowableError(f"what {type(inner).__name__} holds is not known")


def _read_raw(dataset: Any) -> DatasetContents:
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
    paths = tuple(dataset.images) if is_voc else _coco_paths(dataset)
    load, python = partial(_load_voc if is_voc else _load_coco, dataset), "the annotation"
    if target_transform is not None:
        python += f", target_transform={describe(target_transform)}"

    def build(position: int, moved: Mapping[str, Any]) -> Any:
        del moved
        target = load(position)
        return target if target_transform is None else target_transform(target)

    return _contents(dataset, paths, transform, None, TargetForm(build, python))


def _contents(
    dataset: Any, paths: tuple[str, ...], step: Any, targets: Targets | None, form: TargetForm
) -> DatasetContents:
    return DatasetContents(
        title=type(dataset).__qualname__,
        paths=paths,
        labels=np.arange(len(paths)),
        classes=None,
        modes=("RGB",),
        steps=() if step is None else (step,),
        targets=targets,
        target_form=form,
    )


def _coco_paths(dataset: Any) -> tuple[str, ...]:
    images = dataset.coco.loadImgs(dataset.ids)
    return tuple(os.path.join(dataset.root, image["file_name"]) for image in images)


def _load_coco(dataset: Any, position: int) -> Any:
    """The annotations of an image, as the Dataset reads them."""
    return dataset._load_target(dataset.ids[position])  # noqa: SLF001  it has no other way


def _read_wrapped_coco(dataset: Any, target_keys: Any) -> tuple[Targets, TargetForm]:
    keys = _COCO_KEYS if target_keys is None else frozenset(target_keys)
    if target_keys == "all" or "masks" in keys:
        raise UnfollowableError(
            f"target_keys are {target_keys!r}; masks are not followed here. Leave them out, or "
            "pack the data set with its masks"
        )
    image_ids = tuple(dataset.ids)
    objects = [_load_coco(dataset, position) for position in range(len(image_ids))]
    _check_keys(dataset, objects, keys)
    together = [each for of_image in objects for each in of_image]
    try:
        boxes = np.array([each["bbox"] for each in together], np.float32).reshape(-1, 4)
        labels = np.array([each["category_id"] for each in together], np.int64)
    except (TypeError, ValueError) as error:
        raise UnfollowableError(str(error).rstrip(".")) from error
    whole = np.array([*map(_are_whole, objects)])
    targets = _read_targets("CocoDetection", objects, boxes, labels, whole, BoxFormat.XYWH)

    def build(position: int, moved: Mapping[str, Any]) -> dict[str, Any]:
        """The keys asked for; an image without objects has only its id."""
        annotations = objects[position]
        target: dict[str, Any] = {}
        if "image_id" in keys or not annotations:
            target["image_id"] = image_ids[position]
        if annotations:
            target |= {key: moved[key] for key in _FOLLOWING if key in keys}
            for key in sorted(keys - _COCO_KEYS):
                target[key] = [annotation[key] for annotation in annotations]
        return target

    return replace(targets, format=BoxFormat.XYXY), TargetForm(build)


def _check_keys(dataset: Any, objects: list[Any], keys: Iterable[str]) -> None:
    needed = {"bbox", "category_id"} | set(keys) - _COCO_KEYS
    for image_id, of_image in zip(dataset.ids, objects, strict=True):
        for annotation in of_image:
            for key in sorted(needed - annotation.keys()):
                raise UnfollowableError(f"an annotation of image {image_id} has no {key!r}")


def _are_whole(objects: list[Any]) -> bool:
    """Whether torch makes int64 of an image's boxes: no number is written with a point."""
    sides = [side for each in objects for side in each["bbox"]]
    return bool(sides) and all(isinstance(side, int) for side in sides)


def _load_voc(dataset: Any, position: int) -> Any:
    """The annotation as the Dataset reads it."""
    module = imported("torchvision.datasets.voc")
    return dataset.parse_voc_xml(module.ET_parse(dataset.annotations[position]).getroot())


def _read_wrapped_voc(dataset: Any, target_keys: Any) -> tuple[Targets, TargetForm]:
    classes = imported("torchvision.tv_tensors._dataset_wrapper").VOC_DETECTION_CATEGORY_TO_IDX
    boxes, labels, objects = [], [], []
    for position, path in enumerate(dataset.annotations):
        found = _load_voc(dataset, position)["annotation"]["object"]
        if not found:
            raise UnfollowableError(f"{path} has no objects, at which torchvision's wrapper stops")
        objects.append(found)
        try:
            boxes += [[int(each["bndbox"][side]) for side in _VOC_SIDES] for each in found]
            labels += [classes[each["name"]] for each in found]
        except (KeyError, TypeError, ValueError) as error:
            why = f"{path}: torchvision's wrapper stops at {type(error).__name__}: {error}"
            raise UnfollowableError(why) from error
    whole = np.ones(len(objects), dtype=np.bool_)
    targets = _read_targets("VOCDetection", objects, boxes, labels, whole, BoxFormat.XYXY)
    all_keys = (*_FOLLOWING, "annotation") if target_keys == "all" else target_keys
    keys = frozenset(_FOLLOWING if all_keys is None else all_keys)
    # The annotation is read again for each sample, since the user may change it.
    python = "parse_voc_xml" if "annotation" in keys else ""

    def build(position: int, moved: Mapping[str, Any]) -> dict[str, Any]:
        target = _load_voc(dataset, position) if "annotation" in keys else {}
        return {**target, **{key: moved[key] for key in _FOLLOWING if key in keys}}

    return targets, TargetForm(build, python)


def _read_targets(
    where: str, objects: list[Any], boxes: Any, labels: Any, whole: Any, format_: BoxFormat
) -> Targets:
    """The boxes of all images, given the objects of each."""
    offsets = np.cumsum([0, *map(len, objects)], dtype=np.int64)
    try:
        targets = read_targets(offsets, boxes=boxes, format=format_, labels=labels, where=where)
    except (TransformError, TypeError, ValueError) as error:
        raise UnfollowableError(str(error).rstrip(".")) from error
    return replace(targets, whole=whole)
