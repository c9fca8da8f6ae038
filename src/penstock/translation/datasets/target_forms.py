"""What stands beside an image in a sample, put together for each one when its batch is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.sources.source import Labels
from penstock.translation.tracing.values import (
    Column,
    Known,
    Named,
    Tensors,
    UnfollowableError,
    Value,
)

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
