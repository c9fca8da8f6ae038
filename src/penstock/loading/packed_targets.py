"""The objects in the images of a packed data set, read from its columns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import PackError
from penstock.geometry import Ints
from penstock.packing.columns import FixedColumn, VariableColumn
from penstock.packing.read import PackFile
from penstock.packing.shards import PackSet
from penstock.transforms.targets import Targets, read_targets

BOXES, BOX_LABELS, KEYPOINTS, IMAGE_ID = "boxes", "box_labels", "keypoints", "image_id"
_LARGEST_ID = 1 << 24


class PackedTargets:
    """Boxes, their labels as they are stored, keypoints, and other columns with a row for each."""

    def __init__(self, packed: PackSet) -> None:
        self._packed = packed

    @staticmethod
    def are_in(packed: PackSet) -> bool:
        """Whether the data set has boxes or keypoints."""
        return any(
            column.name in {BOXES, KEYPOINTS} and column.kind == "ragged"
            for column in packed.schema
        )

    def of(self, indices: Ints, extras: tuple[str, ...] = ()) -> Targets:
        """Return what these samples carry, with these columns that are `per_object`."""
        numbers, places = self._packed.locate_all(indices)
        counts = np.zeros(len(indices), dtype=np.int64)
        parts: list[tuple[Ints, dict[str, npt.NDArray[Any]]]] = []
        for number in np.unique(numbers).tolist():
            here = np.flatnonzero(numbers == number)
            file = self._packed.files[number]
            counts[here], columns = self._read(file, places[here], (*self._names, *extras))
            parts.append((here, columns))
        return _in_order(parts, counts, self._packed.path)

    def per_object(self, name: str) -> bool:
        """Whether a column has a row for each object."""
        first = self._first
        return first is not None and all(
            isinstance(reader := file.columns.get(name), VariableColumn)
            and reader.column.kind == "ragged"
            and isinstance(objects := file.columns[first], VariableColumn)
            and reader.same_counts(objects)
            for file in self._packed.files
        )

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of images' labels, in their order, if there are any."""
        return self._packed.table("classes")

    @property
    def box_classes(self) -> tuple[str, ...] | None:
        """Names of boxes' labels, in their order, if there are any."""
        return self._packed.table("box_classes")

    @property
    def box_class_ids(self) -> Ints | None:
        """The number that a detection model gets for each label; empty for one more than it.

        None in a data set without labels of boxes; PackError where nothing says what they count
        from.
        """
        if all(column.name != BOX_LABELS for column in self._packed.schema):
            return None
        texts = self._packed.table("box_class_ids")
        if texts is None:
            raise PackError(
                f"{self._packed.path}: packed by an earlier version, which did not say whether "
                "labels of boxes count from 0 or from 1. Pack the data set again, or leave boxes "
                "out with targets='labels'."
            )
        names = self.box_classes or ()
        if len(texts) != len(names) or not all(map(_is_id, texts)):
            raise PackError(
                f"{self._packed.path}: box_class_ids must be numbers from 1 on, one for each of "
                f"{len(names):,} classes, got {str(texts)[:60]}. Repack it."
            )
        return np.array([int(text) for text in texts], dtype=np.int64)

    def image_ids(self, indices: Ints) -> Ints:
        """Return the data set's own numbers of these samples, or their positions."""
        if all(column.name != IMAGE_ID for column in self._packed.schema):
            return indices
        numbers, places = self._packed.locate_all(indices)
        ids = np.empty(len(indices), dtype=np.int64)
        for number in np.unique(numbers).tolist():
            reader = self._packed.files[number].columns[IMAGE_ID]
            if (
                not isinstance(reader, FixedColumn)
                or reader.values.ndim != 1
                or reader.values.dtype.kind not in "biu"
            ):
                raise PackError(f"{self._packed.path}: image_id must be a number. Repack it.")
            here = numbers == number
            ids[here] = reader.values[places[here]]
        return ids

    @cached_property
    def _first(self) -> str | None:
        """The column whose rows are objects."""
        there = {column.name for column in self._packed.schema if column.kind == "ragged"}
        return next((name for name in (BOXES, KEYPOINTS) if name in there), None)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Columns that every loader delivers, that of the objects first."""
        first = self._first
        if first is None:
            return ()
        there = [column.name for column in self._packed.schema]
        rest = [n for n in (BOX_LABELS, KEYPOINTS) if n in there and n != first]
        for name in rest:
            if not self.per_object(name):
                raise PackError(
                    f"{self._packed.path}: {name} must have one row for each of {first}. Repack it."
                )
        return (first, *rest)

    def _read(
        self, file: PackFile, places: Ints, names: tuple[str, ...]
    ) -> tuple[Ints, dict[str, npt.NDArray[Any]]]:
        columns: dict[str, npt.NDArray[Any]] = {}
        counts: Ints = np.zeros(len(places), dtype=np.int64)
        for name in names:
            reader = file.columns[name]
            assert isinstance(reader, VariableColumn)  # noqa: S101  shards have one schema
            counts, columns[name] = reader.rows(places)
        file.check_unchanged()
        return counts, columns


def _is_id(text: str) -> bool:
    # By its length first: Python refuses to read numbers of thousands of digits.
    return text.isdecimal() and len(text) <= 8 and 1 <= int(text) <= _LARGEST_ID


def _in_order(
    parts: list[tuple[Ints, dict[str, npt.NDArray[Any]]]], counts: Ints, where: str
) -> Targets:
    """Join what came from several files, in the order of the samples."""
    rows = np.concatenate([here for here, _ in parts]) if parts else np.zeros(0, np.int64)
    names = parts[0][1] if parts else ()
    joined = {name: np.concatenate([columns[name] for _, columns in parts]) for name in names}
    offsets = np.concatenate([[0], np.cumsum(counts[rows])])
    extras = {k: v for k, v in joined.items() if k not in {BOXES, BOX_LABELS, KEYPOINTS}}
    targets = read_targets(
        offsets,
        boxes=joined.get(BOXES),
        labels=joined.get(BOX_LABELS),
        keypoints=joined.get(KEYPOINTS),
        extras=extras,
        where=where,
    )
    return targets if len(parts) < 2 else targets.pick(np.argsort(rows))
