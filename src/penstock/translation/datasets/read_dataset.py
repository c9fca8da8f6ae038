"""A Dataset as files, labels and the steps that each image goes through."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from penstock.sources.source import Labels
from penstock.translation.datasets.contents import (
    IMAGE,
    LABEL,
    DatasetContents,
    Nesting,
    TargetForm,
)
from penstock.translation.datasets.detection import is_detection, read_detection
from penstock.translation.tracing.follow import follow_getitem
from penstock.translation.tracing.values import (
    Column,
    Known,
    Named,
    Picture,
    Tensors,
    Tuple,
    UnfollowableError,
    Value,
)
from penstock.translation.transforms.identify import TORCH_DATA, full_name, is_exactly
from penstock.translation.transforms.pipeline import views_are_native

_TIMM_DATASET = "timm.data.dataset.ImageDataset"
_TIMM_FOLDER = "timm.data.readers.reader_image_folder.ReaderImageFolder"


def read_dataset(dataset: Any) -> DatasetContents:
    """Return what is in a Dataset; UnfollowableError says why that is not known."""
    if is_exactly(dataset, f"{TORCH_DATA}.dataset.Subset"):
        return read_dataset(dataset.dataset).pick([int(index) for index in dataset.indices])
    if is_exactly(dataset, f"{TORCH_DATA}.dataset.ConcatDataset"):
        return _join([read_dataset(part) for part in dataset.datasets])
    if is_detection(dataset):
        return read_detection(dataset)
    if is_exactly(dataset, _TIMM_DATASET):
        return _read_timm(dataset)
    name = type(dataset).__qualname__
    bases = {full_name(base) for base in type(dataset).__mro__}
    if f"{TORCH_DATA}.dataset.IterableDataset" in bases:
        raise UnfollowableError(f"{name} is iterated, so its samples have no positions to go by")
    if hasattr(dataset, "__getitems__"):
        raise UnfollowableError(f"{name} has a __getitems__ of its own, which makes whole batches")
    if not hasattr(type(dataset), "__getitem__") or not hasattr(type(dataset), "__len__"):
        raise UnfollowableError(f"{name} has no __getitem__ and __len__")
    try:
        return _read_sample(dataset, follow_getitem(dataset))
    except UnfollowableError as error:
        raise UnfollowableError(f"in __getitem__, {error}") from error


def _not_one(pictures: Sequence[Picture]) -> str:
    said = f"a sample has {len(pictures)} images"
    if len({id(picture.paths) for picture in pictures}) != 1:
        return f"{said}; one is needed"
    return f"{said} of one file. {views_are_native(len(pictures))}"


def _read_sample(dataset: Any, sample: Value) -> DatasetContents:
    leaves = list(_leaves(sample))
    pictures = [leaf for leaf in leaves if isinstance(leaf, Picture)]
    rest = [leaf for leaf in leaves if not isinstance(leaf, Picture)]
    if len(pictures) != 1:
        raise UnfollowableError(_not_one(pictures))
    picture = pictures[0]
    paths = picture.paths.values
    for path in paths:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise UnfollowableError(f"images are opened from {type(path).__name__}, not by path")
    contents = DatasetContents(
        title=type(dataset).__qualname__,
        paths=paths,
        labels=np.zeros(len(paths), np.int64),
        classes=None,
        modes=picture.modes,
        steps=picture.steps,
        nesting=_nesting(sample),
    )
    if not rest:
        return contents
    if len(rest) == 1 and _is_label(rest[0]):
        labels = _read_labels(rest[0])
        return replace(contents, labels=labels, classes=_read_classes(dataset, labels))
    return replace(
        contents,
        labels=np.arange(len(paths)),
        nesting=(IMAGE, LABEL),
        target_form=TargetForm(partial(_build_target, _target_of(sample))),
    )


def _is_label(leaf: Value) -> bool:
    return isinstance(leaf, Column) or (isinstance(leaf, Tensors) and leaf.are_labels)


def _target_of(sample: Value) -> Value:
    """The target of a sample that is an image and a target, checked."""
    if isinstance(sample, Tuple) and len(sample.items) == 2:
        image, target = sample.items
        if isinstance(image, Picture) and isinstance(target, (Named, Tensors)):
            if all(isinstance(leaf, (Known, Column, Tensors)) for leaf in _parts(target)):
                return target
            raise UnfollowableError("a target holds lists or tuples, which are not told apart here")
    raise UnfollowableError(
        "a sample is something other than an image, an image and a label, or an image and a "
        "dictionary"
    )


def _parts(target: Value) -> list[Value]:
    """What a target holds by name, dictionaries in dictionaries too."""
    if not isinstance(target, Named):
        return [target]
    return [part for item in target.items.values() for part in _parts(item)]


def _build_target(target: Value, position: int, moved: Mapping[str, Any]) -> Any:
    """The target of one sample, with tensors of its own; boxes in it do not follow the image."""
    match target:
        case Known():
            return target.value
        case Column():
            return target.values[position]
        case Tensors():
            return target.make(target.column.values[position])
        case Named():
            items = target.items.items()
            return {name: _build_target(item, position, moved) for name, item in items}
    raise AssertionError(target)  # as checked


def _leaves(sample: Value) -> list[Value]:
    if isinstance(sample, Tuple):
        return [leaf for item in sample.items for leaf in _leaves(item)]
    if isinstance(sample, Named):
        return [leaf for item in sample.items.values() for leaf in _leaves(item)]
    return [sample]


def _nesting(sample: Value) -> Nesting:
    if isinstance(sample, Tuple):
        return tuple(_nesting(item) for item in sample.items)
    if isinstance(sample, Named):
        return {name: _nesting(item) for name, item in sample.items.items()}
    return IMAGE if isinstance(sample, Picture) else LABEL


def _read_labels(leaf: Value) -> Labels:
    """Labels whose batch is an int64 or float64 tensor, as the loader makes them."""
    column = leaf.column if isinstance(leaf, Tensors) else leaf
    if not isinstance(column, Column):
        raise UnfollowableError("a label is the same for every sample")
    kinds = {full_name(type(value)) for value in column.values}
    values = column.values
    if kinds == {"torch.Tensor"}:
        if any(tuple(value.shape) or str(value.dtype) != "torch.int64" for value in values):
            raise UnfollowableError("labels are tensors of another kind than one int64")
        return np.array([int(value) for value in values], dtype=np.int64)
    if kinds <= {"builtins.int", "numpy.int64"}:
        return np.array(values, dtype=np.int64)
    if kinds <= {"builtins.float", "numpy.float64"}:
        return np.array(values, dtype=np.float64)
    listed = ", ".join(sorted(kind.removeprefix("builtins.") for kind in kinds))
    raise UnfollowableError(f"labels are {listed}; known are int, float and their 64-bit arrays")


def _read_classes(dataset: Any, labels: Labels) -> tuple[str, ...] | None:
    """Class names, if the Dataset keeps them the way torchvision does."""
    classes = getattr(dataset, "classes", None)
    if not isinstance(classes, (list, tuple)) or not all(isinstance(c, str) for c in classes):
        return None
    whole = labels.dtype == np.int64 and len(labels) > 0
    fit = whole and labels.min() >= 0 and labels.max() < len(classes)
    return tuple(classes) if fit else None


def _read_timm(dataset: Any) -> DatasetContents:
    """timm's ImageDataset; a file that cannot be opened is an error here, timm takes the next."""
    reader = dataset.reader
    if not is_exactly(reader, _TIMM_FOLDER):
        raise UnfollowableError(f"its reader is {type(reader).__name__}; known is a folder's")
    for option in ("load_bytes", "target_transform", "additional_features"):
        if getattr(dataset, option):
            raise UnfollowableError(f"{option} is given, and what comes of it is not followed")
    paths, labels = zip(*reader.samples, strict=True)
    names = sorted(reader.class_to_idx, key=reader.class_to_idx.__getitem__)
    numbered = [reader.class_to_idx[name] for name in names] == list(range(len(names)))
    return DatasetContents(
        title=type(dataset).__qualname__,
        paths=paths,
        labels=np.array(labels, dtype=np.int64),
        classes=tuple(names) if numbered else None,
        modes=(dataset.input_img_mode,) if dataset.input_img_mode else (),
        steps=() if dataset.transform is None else (dataset.transform,),
    )


def _join(parts: list[DatasetContents]) -> DatasetContents:
    first = parts[0]
    if any(part.target_form is not None for part in parts):
        raise UnfollowableError("Datasets with boxes cannot be joined here")
    for part in parts[1:]:
        same_steps = len(part.steps) == len(first.steps) and all(
            one is other for one, other in zip(part.steps, first.steps, strict=True)
        )
        if not same_steps or part.modes != first.modes or part.nesting != first.nesting:
            raise UnfollowableError("the joined Datasets do different things to their images")
        if part.labels.dtype != first.labels.dtype:
            raise UnfollowableError("the joined Datasets have labels of different types")
    same_classes = all(part.classes == first.classes for part in parts)
    return replace(
        first,
        title=f"{len(parts)} Datasets",
        paths=tuple(path for part in parts for path in part.paths),
        labels=np.concatenate([part.labels for part in parts]),
        classes=first.classes if same_classes else None,
    )
