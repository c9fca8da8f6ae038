"""What a Dataset comes to: files, labels, and what happens to each image."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from penstock.sources.file_source import FileSource
from penstock.sources.path_table import PathTable
from penstock.sources.source import Labels
from penstock.transforms.targets import Targets
from penstock.translation.tracing.values import (
    Column,
    Known,
    Named,
    Tensors,
    UnfollowableError,
    Value,
)

IMAGE, LABEL = "image", "label"

Template: TypeAlias = str | tuple["Template", ...] | dict[str, "Template"]  # of one sample


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """What a Dataset holds, sample by sample, and what it does to each image."""

    title: str
    paths: tuple[str | bytes | os.PathLike[str], ...]
    labels: Labels
    classes: tuple[str, ...] | None
    modes: tuple[str, ...]  # that images are converted to on loading, one after the other
    steps: tuple[Any, ...]
    template: Template
    targets: Targets | None = None  # boxes, where the Dataset has them in place of labels
    form: TargetForm | None = None  # what stands for the label; `labels` are positions then

    def pick(self, indices: Sequence[int]) -> Samples:
        """Return some of the samples, in this order."""
        chosen = np.asarray(indices, dtype=np.int64)
        if len(chosen) and chosen.min() < 0:
            raise UnfollowableError(f"sample {chosen.min()} is asked for; they count from 0")
        return replace(
            self,
            paths=tuple(self.paths[index] for index in indices),
            labels=self.labels[chosen],
            targets=None if self.targets is None else self.targets.pick(chosen),
        )

    def one_by_one(self) -> Samples:
        """Return the same with images that may differ in size, and a target each."""
        if self.targets is not None:
            return self
        none = Targets(offsets=np.zeros(len(self.paths) + 1, dtype=np.int64))
        if self.form is not None:
            return replace(self, targets=none)
        positions = np.arange(len(self.paths))
        return replace(self, targets=none, form=PlainLabels(self.labels), labels=positions)

    def source(self) -> FileSource:
        """Return the same for a loader."""
        files = PathTable.from_paths(os.fsencode(path) for path in self.paths)
        return FileSource(self.title, os.getcwd(), files, self.labels, self.classes)


LoadTarget = Callable[[int], Any]  # from a sample's position in the Dataset, by the Dataset's code


class TargetForm(Protocol):
    """Makes the second part of a sample."""

    @property
    def python(self) -> str:
        """What runs in Python for each sample, by name; empty if nothing of weight does."""
        ...

    def form(self, position: int, moved: Mapping[str, Any]) -> Any:
        """Return it, given the sample's place in the Dataset and its boxes after all steps."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlainLabels:
    """A label each, as Python has it."""

    labels: Labels
    python: str = ""

    def form(self, position: int, moved: Mapping[str, Any]) -> Any:
        """Return the label."""
        del moved
        return self.labels[position].item()


@dataclass(frozen=True, slots=True, eq=False)
class RawTargets:
    """The annotation as the file has it, then through the user's `target_transform`."""

    load: LoadTarget
    target_transform: Callable[[Any], Any] | None
    python: str

    def form(self, position: int, moved: Mapping[str, Any]) -> Any:
        """Return the annotation."""
        del moved
        target = self.load(position)
        return target if self.target_transform is None else self.target_transform(target)


@dataclass(frozen=True, slots=True, eq=False)
class WrappedCoco:
    """The dictionary of torchvision's wrapper; an image without objects has but its number."""

    image_ids: Sequence[int]
    annotations: Sequence[Any]  # of each image
    keys: frozenset[str]
    python: str = ""

    def form(self, position: int, moved: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys that were asked for."""
        annotations = self.annotations[position]
        target: dict[str, Any] = {}
        if "image_id" in self.keys or not annotations:
            target["image_id"] = self.image_ids[position]
        if not annotations:
            return target
        target |= {key: moved[key] for key in ("boxes", "labels") if key in self.keys}
        for key in sorted(self.keys - {"image_id", "boxes", "labels"}):
            target[key] = [annotation[key] for annotation in annotations]
        return target


@dataclass(frozen=True, slots=True, eq=False)
class WrappedVoc:
    """The dictionary of torchvision's wrapper, with or without the annotation itself."""

    load: LoadTarget
    keys: frozenset[str]

    @property
    def python(self) -> str:
        """The annotation is read anew for each sample, since it is the user's to change."""
        return "parse_voc_xml" if "annotation" in self.keys else ""

    def form(self, position: int, moved: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys that were asked for."""
        target = self.load(position) if "annotation" in self.keys else {}
        return {**target, **{key: moved[key] for key in ("boxes", "labels") if key in self.keys}}


@dataclass(frozen=True, slots=True, eq=False)
class FollowedTargets:
    """What a Dataset of the user's puts beside the image: a dictionary of its own numbers."""

    target: Value
    python: str = ""

    def __post_init__(self) -> None:
        _check(self.target)

    def form(self, position: int, moved: Mapping[str, Any]) -> Any:
        """Return it, with tensors of its own."""
        del moved
        return _build(self.target, position)


def _build(value: Value, position: int) -> Any:
    match value:
        case Known():
            return value.value
        case Column():
            return value.values[position]
        case Tensors():
            return value.make(value.column.values[position])
        case Named():
            return {name: _build(item, position) for name, item in value.items.items()}
    raise AssertionError(value)  # as checked


def _check(value: Value) -> None:
    if isinstance(value, Named):
        for item in value.items.values():
            _check(item)
    elif not isinstance(value, (Known, Column, Tensors)):
        raise UnfollowableError("a target holds lists or tuples, which are not told apart here")
