"""Torchvision's CocoDetection and VOCDetection as files and what stands beside each image.

In `wrap_dataset_for_transforms_v2` boxes follow the image; as they are, annotations do not.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from penstock.transforms.targets import Targets
from penstock.translation.datasets.coco import coco_paths, load_coco, read_wrapped_coco
from penstock.translation.datasets.samples import IMAGE, LABEL, Samples
from penstock.translation.datasets.target_forms import RawTargets, TargetForm
from penstock.translation.datasets.voc import load_voc, read_wrapped_voc
from penstock.translation.tracing.values import UnfollowableError
from penstock.translation.transforms.identify import describe, full_name, is_exactly

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
