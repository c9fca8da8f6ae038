"""Where a loader gets the objects of its images from: boxes, their labels, keypoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from penstock.data.column_source import ColumnSource
from penstock.errors import LoaderError, PackError
from penstock.geometry import Ints
from penstock.packing.items import Column
from penstock.sources import Source
from penstock.transforms.targets import Targets, read_targets

BOXES, BOX_LABELS, KEYPOINTS, IMAGE_ID = "boxes", "box_labels", "keypoints", "image_id"
# Names of numbers that belong to no class, as in the categories of torchvision's weights.
BACKGROUND, UNUSED = "__background__", "N/A"
_LARGEST_ID = 1 << 24


class StoredTargets:
    """Boxes, their labels as they are stored, keypoints, and other columns with a row for each."""

    def __init__(self, source: ColumnSource) -> None:
        self._source = source
        self._columns = {column.name: column for column in source.schema}

    def of(self, indices: Ints, extras: tuple[str, ...] = ()) -> Targets:
        """Return the targets of these samples, with these further columns that are `per_object`."""
        names = (*self._names, *extras)
        counts, rows = self._source.rows([self._columns[name] for name in names], indices)
        return read_targets(
            np.concatenate([[0], np.cumsum(counts)]),
            boxes=rows.get(BOXES),
            labels=rows.get(BOX_LABELS),
            keypoints=rows.get(KEYPOINTS),
            extras={name: rows[name] for name in extras},
            where=self._source.title,
        )

    def per_object(self, name: str) -> bool:
        """Whether a column has a row for each object."""
        first, column = self._first, self._columns.get(name)
        if first is None or column is None or column.kind != "ragged":
            return False
        return self._source.same_counts(column, self._columns[first])

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the images' labels, in the order of the labels, if there are any."""
        return self._source.table("classes")

    @property
    def box_classes(self) -> tuple[str, ...] | None:
        """Names of the boxes' labels, in the order of the labels, if there are any."""
        return self._source.table("box_classes")

    @property
    def box_class_ids(self) -> Ints | None:
        """The number that a detection model gets for each label; empty if it is the label plus one.

        None in a data set without labels of boxes; PackError if nothing says whether they count
        from 0 or from 1.
        """
        if BOX_LABELS not in self._columns:
            return None
        texts = self._source.table("box_class_ids")
        if texts is None:
            raise PackError(
                f"{self._source.title}: packed by an earlier version, which did not say whether "
                "labels of boxes count from 0 or from 1. Pack the data set again, or leave boxes "
                "out with targets='labels'."
            )
        names = self.box_classes or ()
        if len(texts) != len(names) or not all(map(_is_id, texts)):
            raise PackError(
                f"{self._source.title}: box_class_ids must be numbers from 1 on, one for each of "
                f"{len(names):,} classes, got {str(texts)[:60]}. Repack it."
            )
        return np.array([int(text) for text in texts], dtype=np.int64)

    def image_ids(self, indices: Ints) -> Ints:
        """Return the data set's own numbers of these samples, or their positions."""
        column = self._columns.get(IMAGE_ID)
        if column is None:
            return indices
        if column.kind != "fixed" or column.shape or np.dtype(column.dtype).kind not in "biu":
            raise PackError(f"{self._source.title}: image_id must be a number. Repack it.")
        ids: Ints = self._source.values(column, indices)
        return ids.astype(np.int64)

    @cached_property
    def _first(self) -> str | None:
        """The column whose rows are objects."""
        there = {name for name, column in self._columns.items() if column.kind == "ragged"}
        return next((name for name in (BOXES, KEYPOINTS) if name in there), None)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Columns that every loader delivers, that of the objects first."""
        first = self._first
        if first is None:
            return ()
        return (
            first,
            *(n for n in (BOX_LABELS, KEYPOINTS) if n in self._columns and n != first),
        )


def stored_targets(source: Source) -> StoredTargets | None:
    """Return the objects of a data set's images, if it has boxes or keypoints."""
    if not isinstance(source, ColumnSource) or not has_objects(source.schema):
        return None
    return StoredTargets(source)


def has_objects(schema: Sequence[Column]) -> bool:
    """Whether a data set with these columns has boxes or keypoints."""
    return any(c.name in {BOXES, KEYPOINTS} and c.kind == "ragged" for c in schema)


def _is_id(text: str) -> bool:
    # By its length first: Python refuses to read numbers of thousands of digits.
    return text.isdecimal() and len(text) <= 8 and 1 <= int(text) <= _LARGEST_ID


class TargetSource(Protocol):
    """Where the targets of samples come from."""

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the objects' labels, in the order of the numbers, if they are known."""
        ...

    def of(self, indices: Ints) -> Targets:
        """Return the targets of these samples."""
        ...

    def image_ids(self, indices: Ints) -> Ints:
        """Return the data set's own numbers of these samples, or their positions."""
        ...


@dataclass(frozen=True, slots=True)
class GivenTargets:
    """Targets that the user has in memory, one row per sample."""

    targets: Targets
    classes: tuple[str, ...] | None = None

    def of(self, indices: Ints) -> Targets:
        """Return the targets of these samples."""
        return self.targets.pick(indices)

    def image_ids(self, indices: Ints) -> Ints:
        """Return positions."""
        return indices


class DetectionTargets:
    """The objects of a data set, with the labels that detection models take.

    With `background`, 0 is the background and a class has the number that its data set gives it,
    as with COCO's category ids; without, classes are counted from 0. `extras` are the columns
    beyond boxes, labels and keypoints.
    """

    def __init__(
        self, stored: StoredTargets, *, background: bool, extras: tuple[str, ...] = ()
    ) -> None:
        self._stored = stored
        self._extras = extras
        self._ids = stored.box_class_ids
        self._background = background
        names = stored.box_classes
        self.classes = stored.classes if self._ids is None else names
        if background and names is not None and self._ids is not None:
            self.classes = _names_by_id(names, self._ids)

    def of(self, indices: Ints) -> Targets:
        """Return the targets of these samples."""
        targets = self._stored.of(indices, self._extras)
        if targets.labels is None or self._ids is None or not len(targets.labels):
            return targets
        labels, known = targets.labels, len(self._ids)
        if labels.min() < 0 or (known and labels.max() >= known):
            raise LoaderError(
                f"Loader: a box has the label {labels[(labels < 0) | (labels >= known)][0]}; "
                f"labels count from 0{f' to {known - 1}' if known else ''}. Repack the data set."
            )
        if not self._background:
            return targets
        return replace(targets, labels=self._ids[labels] if known else labels + 1)

    def image_ids(self, indices: Ints) -> Ints:
        """Return the data set's own numbers of these samples, or their positions."""
        return self._stored.image_ids(indices)


def _names_by_id(names: tuple[str, ...], ids: Ints) -> tuple[str, ...]:
    """Names in the order of ids, with the background first."""
    listed = [BACKGROUND, *[UNUSED] * int(ids.max(initial=0))]
    for name, number in zip(names, ids.tolist(), strict=True):
        listed[number] = name
    return tuple(listed)


def open_targets(
    source: Source,
    asked: Targets | str | None,
    *,
    background: bool = True,
    extras: tuple[str, ...] = (),
) -> TargetSource | None:
    """Return where a loader's targets come from; None if it delivers labels only.

    `asked` and `background` are the loader's `targets` and `background`; `extras` are columns with
    a row for each object.
    """
    if not isinstance(background, bool):
        raise LoaderError(f"Loader: background must be True or False, got {background!r}.")
    if isinstance(asked, Targets):
        if not background:
            raise LoaderError(
                "Loader: background=False numbers the classes of a data set anew, but targets= "
                "gives labels of your own, which stay as they are. Leave one of them out."
            )
        if len(asked) != len(source):
            raise LoaderError(
                f"Loader: targets are for {len(asked):,} samples, the data set has "
                f"{len(source):,}. Give one row for each."
            )
        return GivenTargets(asked)
    if asked not in (None, "list", "padded", "yolo", "labels", "none"):
        raise LoaderError(
            "Loader: targets must be 'list', 'padded', 'yolo', 'labels', 'none' or Targets, got "
            f"{asked!r}."
        )
    if asked in ("labels", "none"):
        return None
    stored = stored_targets(source)
    if stored is not None:
        counts_from_1 = background and asked != "yolo"
        return DetectionTargets(stored, background=counts_from_1, extras=extras)
    if asked is not None:
        raise LoaderError(
            f"Loader: {source.describe()} has no boxes or keypoints. Take a data set that has, or "
            "give targets=penstock.read_targets(...)."
        )
    return None
