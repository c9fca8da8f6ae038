"""A data set in any layout that `pack` reads, without packing: the same batches, slower.

Where every sample has a file of its own, the core reads the files; otherwise, the bytes of a sample
are read from the place that its layout gives. Images are never kept in memory.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock.data.column_source import ColumnSource
from penstock.errors import DecodeError, PackError, SourceError
from penstock.geometry import Ints
from penstock.limits import limits_in_force, using
from penstock.packing.columns import check_schema, decode_text, encode_value
from penstock.packing.datasets import LayoutSource
from penstock.packing.format import element_type
from penstock.packing.items import MASKS, Column, ImageData, PackItem, box_class_ids_of
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.sources import Source

# The most memory for remembered columns, so that a sample is parsed once per batch.
_MOST_KEPT_BYTES = 1 << 26
_BYTES_PER_SAMPLE = 512  # what an entry takes beside its values


@dataclass(frozen=True, slots=True)
class KeptFacts:
    """What is remembered of a sample: all but its image and masks."""

    name: str
    path: str | None  # of its file, if it has one of its own
    columns: Mapping[str, Any]

    @property
    def size_bytes(self) -> int:
        """About what it takes in memory."""
        values = self.columns.values()
        arrays = sum(value.nbytes for value in values if isinstance(value, np.ndarray))
        texts = sum(len(value) for value in values if isinstance(value, (bytes, str)))
        return _BYTES_PER_SAMPLE + arrays + texts


class UnpackedSource(ColumnSource):
    """The samples of a layout; it is also a `PackSource`, so that `pack` takes it, too."""

    def __init__(self, layout: LayoutSource) -> None:
        check_schema(layout.columns)
        self.layout = layout
        self.opened_by: Callable[[], Source] | None = None  # what opens the same data again
        self.title = layout.title
        self._limits = limits_in_force()
        self._length = layout.length or 0
        ids = box_class_ids_of(layout)
        self._tables = {
            "classes": layout.classes,
            "box_classes": layout.box_classes,
            "box_class_ids": None if ids is None else tuple(map(str, ids)),
        }
        self._lock = threading.Lock()
        self._kept: dict[int, KeptFacts] = {}  # the oldest first
        self._kept_bytes = 0
        self._stamps = [_stamp(file) for file in layout.files]

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns that every sample has."""
        return self.layout.columns

    @property
    def columns(self) -> tuple[Column, ...]:
        """The same, as `pack` asks for them."""
        return self.layout.columns

    @property
    def length(self) -> int | None:
        """Number of samples, as `pack` asks for it."""
        return self._length

    @property
    def box_class_ids(self) -> tuple[int, ...] | None:
        """The number that detection models get for each class of boxes, for `pack`."""
        return self.layout.box_class_ids

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the samples from position `start` on, for `pack`."""
        return self.layout.items(start)

    def describe(self) -> str:
        """Return one line: what, how many images, which classes."""
        return self.layout.describe()

    def table(self, name: str) -> tuple[str, ...] | None:
        """Return a list about the whole data set: classes, box_classes or box_class_ids."""
        return self._tables[name]

    def __len__(self) -> int:
        return self._length

    def open(self, index: int) -> BinaryIO:
        """Open one sample's image file for reading."""
        data = self._read(index).data
        return io.BytesIO(data) if isinstance(data, bytes) else open_regular(_path_of(data))

    def name(self, index: int) -> str:
        """Return the data set and the name of the sample in it; its number if that is unknown."""
        try:
            return printable(f"{self.title}: {self.file_name(index)}")
        except SourceError:
            return f"{self.title}: sample {index:,}"

    def files(self) -> tuple[str, ...]:
        """Return the files that hold many samples each; none where each has its own."""
        return self.layout.files

    def file_name(self, index: int) -> str:
        """Return the name that a sample's file has in the data set."""
        return self._facts(index).name

    def values(self, column: Column, indices: Ints) -> Any:
        """Return the values of these samples, in memory of their own."""
        found = [self._value(column, index) for index in indices.tolist()]
        if column.kind == "fixed":
            dtype = element_type(column)
            return np.array(found, dtype).reshape(len(found), *column.shape)
        return found

    def rows(
        self, columns: Sequence[Column], indices: Ints
    ) -> tuple[Ints, dict[str, npt.NDArray[Any]]]:
        """Return how many rows each sample has in these ragged columns, and all rows by column."""
        counts: Ints = np.zeros(len(indices), dtype=np.int64)
        rows: dict[str, npt.NDArray[Any]] = {}
        for column in columns:
            found = [self._value(column, index) for index in indices.tolist()]
            lengths = np.array([len(value) for value in found], dtype=np.int64)
            if rows and not np.array_equal(lengths, counts):
                odd = int(indices[np.flatnonzero(lengths != counts)[0]])
                raise SourceError(
                    f"{self.name(odd)}: {column.name} must have one row for each of "
                    f"{columns[0].name}."
                )
            empty: npt.NDArray[Any] = np.zeros((0, *column.shape), element_type(column))
            counts, rows[column.name] = lengths, np.concatenate([empty, *found])
        return counts, rows

    def same_counts(self, column: Column, other: Column) -> bool:
        """Whether every sample has as many rows in one ragged column as in the other.

        Reads the data set up to the first sample that has not.
        """
        return all(
            len(self._value(column, index)) == len(self._value(other, index))
            for index in range(len(self))
        )

    def masks(self, index: int) -> npt.NDArray[np.uint8]:
        """Return the bytes of a sample's column of masks."""
        try:
            item = self._read(index, masks=True)
            stored = encode_value(MASKS, item.columns[MASKS.name])
        except (SourceError, PackError) as error:
            raise DecodeError(str(error).removesuffix(".")) from error
        return np.frombuffer(stored, np.uint8)

    def image_size(self, index: int) -> tuple[int, int]:
        """Return the height and width that the image's header says."""
        try:
            with self.open(index) as file, PIL.Image.open(file) as image:
                return image.height, image.width
        except (OSError, SyntaxError, ValueError) as error:
            raise DecodeError(f"its size cannot be read ({error})") from error

    def check_unchanged(self, indices: Ints) -> None:  # noqa: ARG002 (any change is one too many)
        """Raise if a file that holds many samples was changed: they begin elsewhere now."""
        for file, stamp in zip(self.layout.files, self._stamps, strict=True):
            if _stamp(file) != stamp:
                raise SourceError(
                    f"{printable(file)}: was changed or replaced while it was read. Make a new "
                    "Loader."
                )

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the data anew wherever this is unpickled or copied to."""
        if self.opened_by is None:
            raise SourceError(
                f"{self.title}: cannot be pickled, as it is not known how to open it again. "
                "Give the path to whoever needs the data, or pack it."
            )
        return _open_again, (self.opened_by, self._facts_of_all())

    def _facts_of_all(self) -> tuple[Any, ...]:
        """What is the same as long as nobody changes the data."""
        return self._length, self._tables, self._stamps

    def check_same(self, facts: tuple[Any, ...]) -> None:
        """Raise unless this is what another process has opened."""
        if self._facts_of_all() != facts:
            raise SourceError(f"{self.title}: was changed since it was opened. Open it again.")

    def _value(self, column: Column, index: int) -> Any:
        """Return a value exactly as `pack` stores it."""
        facts = self._facts(index)
        try:
            stored = encode_value(column, facts.columns[column.name])
        except PackError as error:
            raise SourceError(f"{printable(f'{self.title}: {facts.name}')}: {error}.") from error
        if column.kind == "bytes":
            return stored
        if column.kind == "text":
            return decode_text(stored)
        values = np.frombuffer(stored, element_type(column)).copy()
        return values.reshape(column.shape if column.kind == "fixed" else (-1, *column.shape))

    def _facts(self, index: int) -> KeptFacts:
        with self._lock:
            kept = self._kept.get(index)
        return self._keep(index, self._read(index)) if kept is None else kept

    def _read(self, index: int, *, masks: bool = False) -> PackItem:
        with using(self._limits):
            item = self.layout.at(index, masks=masks)
        self._keep(index, item)
        return item

    def _keep(self, index: int, item: PackItem) -> KeptFacts:
        path = None if isinstance(item.data, bytes) else _path_of(item.data)
        columns = {name: value for name, value in item.columns.items() if name != MASKS.name}
        kept = KeptFacts(item.name, path, columns)
        with self._lock:
            before = self._kept.pop(index, None)
            self._kept_bytes += kept.size_bytes - (0 if before is None else before.size_bytes)
            self._kept[index] = kept
            while self._kept_bytes > _MOST_KEPT_BYTES and len(self._kept) > 1:
                self._kept_bytes -= self._kept.pop(next(iter(self._kept))).size_bytes
        return kept


class UnpackedFiles(UnpackedSource):
    """The samples of a layout in which each has an image file of its own."""

    def paths(self, indices: Ints) -> list[str]:
        """Return the absolute paths of these samples' image files."""
        facts = [self._facts(index) for index in indices.tolist()]
        return [os.path.abspath(fact.path or "") for fact in facts]


def open_unpacked(layout: LayoutSource, how_to_pack: str) -> UnpackedSource:
    """Return a layout's samples for reading in any order; SourceError where that cannot be done."""
    if layout.sequential:
        raise SourceError(
            f"{layout.title}: {layout.sequential}, so that samples cannot be read in any order. "
            f"{how_to_pack}"
        )
    first = layout.at(0, masks=False).data if layout.length else b""
    return UnpackedSource(layout) if isinstance(first, bytes) else UnpackedFiles(layout)


def _open_again(opened_by: Callable[[], Source], facts: tuple[Any, ...]) -> Source:
    source = opened_by()
    if isinstance(source, UnpackedSource):
        source.check_same(facts)
    return source


def _stamp(file: str) -> tuple[int, ...]:
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ino


def _path_of(data: ImageData) -> str:
    assert isinstance(data, os.PathLike)  # noqa: S101  layouts are read from this machine's disks
    return os.fspath(data)
