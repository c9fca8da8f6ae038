"""A packed data set as a source: its samples are records in mapped files."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from penstock._core import Storage
from penstock.errors import LoaderError, PackError
from penstock.geometry import Ints
from penstock.loading.packed_targets import PackedTargets
from penstock.packing.format import HEADER_BYTES, RECORD_ZLIB, STORAGES
from penstock.packing.read import MOST_SIDE, PackFile
from penstock.packing.records import original_file
from penstock.packing.shards import PackSet
from penstock.printable import printable
from penstock.sources import Labels


@dataclass(frozen=True, slots=True)
class Records:
    """Where samples lie in memory and what the index says of them; checked against the files."""

    addresses: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    storages: npt.NDArray[np.int32]
    heights: npt.NDArray[np.int32]
    widths: npt.NDArray[np.int32]


class PackedSource:
    """The samples of a packed file, or of a folder of shards."""

    def __init__(self, packed: PackSet) -> None:
        self.packed = packed
        self.targets = PackedTargets(packed) if PackedTargets.are_in(packed) else None

    @cached_property
    def labels(self) -> Labels | None:
        """The column `label`, if there is one and its values are numbers."""
        return _labels_of(self.packed)

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Class names in the order of their labels, if the data set has classes."""
        return self.packed.table("classes")

    @property
    def box_classes(self) -> tuple[str, ...] | None:
        """Names of what boxes hold, in the order of their labels, if there are any."""
        return self.packed.table("box_classes")

    def __len__(self) -> int:
        return len(self.packed)

    def open(self, index: int) -> BinaryIO:
        """Return the sample's original file, or one with the same pixels."""
        file, place = self.packed.locate(index)
        return io.BytesIO(original_file(file, place))

    def name(self, index: int) -> str:
        """Return the file that holds the sample, and its original name."""
        file, place = self.packed.locate(index)
        return printable(f"{file.path}: sample {place:,} ({file.name(place)})")

    def files(self) -> tuple[str, ...]:
        """Return the packed files."""
        return tuple(str(file.path) for file in self.packed.files)

    def file_name(self, index: int) -> str:
        """Return the name that the sample's file had."""
        file, place = self.packed.locate(index)
        return file.name(place)

    def describe(self) -> str:
        """Return one line: what, how many images, which labels."""
        count, classes = len(self), self.classes
        images = f"{printable(self.packed.path)}: {count:,} packed image{'' if count == 1 else 's'}"
        if classes is not None:
            return f"{images} in {len(classes):,} classes"
        has_labels = any(column.name == "label" for column in self.packed.schema)
        return images if has_labels or self.targets is not None else f"{images}, no labels"

    @property
    def memory(self) -> object:
        """What must stay alive while addresses are in use."""
        return self.packed

    def check_unchanged(self, indices: Ints) -> None:
        """Raise PackError if what was read of these samples is no longer what their files have."""
        self.packed.check_unchanged(indices)

    def records(self, indices: Ints) -> Records:
        """Return where these samples lie; raises PackError for one that lies nowhere."""
        numbers, places = self.packed.locate_all(indices)
        found = np.zeros((6, len(indices)), dtype=np.int64)
        for number in np.unique(numbers).tolist():
            here = numbers == number
            found[:, here] = _look_up(self.packed.files[number], places[here])
        addresses, sizes, storages, heights, widths, flags = found
        deflated = (storages == Storage.RAW) & ((flags & RECORD_ZLIB) != 0)
        return Records(
            np.ascontiguousarray(addresses),
            np.ascontiguousarray(sizes),
            np.where(deflated, Storage.DEFLATED, storages).astype(np.int32),
            heights.astype(np.int32),
            widths.astype(np.int32),
        )


def _look_up(file: PackFile, places: Ints) -> npt.NDArray[np.int64]:
    columns = ("offset", "size", "storage", "height", "width", "flags")
    facts = np.stack([file.facts(name)[places].astype(np.int64) for name in columns])
    offset, size, storage, height, width, _ = facts
    # What is too large for int64 is negative here. A sum of the two might wrap around.
    end = file.tail.records_end
    sound = (offset >= HEADER_BYTES) & (offset <= end) & (size >= 1) & (size <= end - offset)
    sound &= (storage < len(STORAGES)) & (height >= 1) & (width >= 1)
    sound &= (height <= MOST_SIDE) & (width <= MOST_SIDE)
    if not sound.all():
        bad = int(places[np.flatnonzero(~sound)[0]])
        file.sample(bad)  # says what is wrong with it
        raise PackError(f"{file.path}: sample {bad:,} is damaged: run penstock verify.")
    facts[0] += file.stored(0, 1).ctypes.data
    return facts


def _labels_of(packed: PackSet) -> Labels | None:
    columns: list[npt.NDArray[Any]] = []
    for file in packed.files:
        reader = file.columns.get("label")
        if reader is None:
            return None
        values = getattr(reader, "values", None)
        if values is None or values.dtype.kind not in "biuf":
            raise LoaderError(
                f"{packed.path}: its labels are {reader.column.kind}, not numbers of one shape. "
                'Ask for them by name: Loader(..., columns=["label"]).'
            )
        columns.append(values)
    labels = columns[0] if len(columns) == 1 else np.concatenate(columns)
    is_class_number = labels.ndim == 1 and labels.dtype.kind != "f"
    return labels.astype(np.int64, copy=False) if is_class_number else labels
