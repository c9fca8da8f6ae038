"""Torchvision's VOCDetection: annotations from XML files, and in its wrapper whole-number boxes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from penstock.errors import TransformError
from penstock.transforms.targets import Targets, read_targets
from penstock.translation.datasets.target_forms import WrappedVoc
from penstock.translation.tracing.values import UnfollowableError
from penstock.translation.transforms.identify import imported

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
