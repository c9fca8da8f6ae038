"""The objects in the images of a packed data set, read from its columns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.geometry import Ints
from penstock.packing.read import PackFile
from penstock.packing.read_column import VariableColumn
from penstock.packing.shards import PackSet
from penstock.transforms.targets import Targets, read_targets

BOXES, BOX_LABELS, KEYPOINTS, IMAGE_ID = "boxes", "box_labels", "keypoints", "image_id"


class PackedTargets:
    """Boxes, their labels, keypoints, and every other column with one row a box."""

    def __init__(self, packed: PackSet, starts: Ints) -> None:
        self._packed = packed
        self._starts = starts  # of each file's samples

    @staticmethod
    def are_in(packed: PackSet) -> bool:
        """Whether the data set has boxes or keypoints."""
        return any(column.name in {BOXES, KEYPOINTS} for column in packed.schema)

    def of(self, indices: Ints) -> Targets:
        """Return what these samples carry."""
        numbers = np.searchsorted(self._starts, indices, side="right") - 1
        counts = np.zeros(len(indices), dtype=np.int64)
        parts: list[tuple[Ints, dict[str, npt.NDArray[Any]]]] = []
        for number in np.unique(numbers).tolist():
            here = np.flatnonzero(numbers == number)
            places = indices[here] - self._starts[number]
            counts[here], columns = self._read(self._packed.files[number], places)
            parts.append((here, columns))
        return _in_order(parts, counts, self._packed.path)

    def image_ids(self, indices: Ints) -> Ints:
        """Return the data set's own numbers of these samples, or their positions."""
        if all(column.name != IMAGE_ID for column in self._packed.schema):
            return indices
        values = [self._packed.value(IMAGE_ID, index) for index in indices.tolist()]
        return np.array(values, dtype=np.int64)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Columns with as many rows as there are boxes, that one first."""
        file = self._packed.files[0]
        columns = {
            name: reader
            for name, reader in file.columns.items()
            if isinstance(reader, VariableColumn) and reader.column.kind == "ragged"
        }
        first = columns.get(BOXES) or columns.get(KEYPOINTS)
        if first is None:
            return ()
        rest = [
            name
            for name, reader in columns.items()
            if reader is not first and reader.same_counts(first)
        ]
        return (first.column.name, *rest)

    def _read(self, file: PackFile, places: Ints) -> tuple[Ints, dict[str, npt.NDArray[Any]]]:
        columns: dict[str, npt.NDArray[Any]] = {}
        counts: Ints = np.zeros(len(places), dtype=np.int64)
        for name in self._names:
            reader = file.columns[name]
            assert isinstance(reader, VariableColumn)  # noqa: S101  shards have one schema
            counts, columns[name] = reader.rows(places)
        return counts, columns


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
