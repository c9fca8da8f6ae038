"""The columns of a packed file: a sample's values as the bytes that are stored, and back.

Reading, values are looked up when they are asked for, and checked then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import PackError
from penstock.geometry import Ints
from penstock.packing.format import MOST_USER_COLUMNS, Entry, check_column, element_type, row_bytes
from penstock.packing.items import Column

Bytes = npt.NDArray[np.uint8]
Read = Callable[[int, int], Bytes]


def check_schema(columns: Sequence[Column]) -> None:
    """Raise PackError for columns that cannot be stored side by side."""
    for column in columns:
        check_column(column, f"column {column.name!r}")
    if len(columns) > MOST_USER_COLUMNS:
        raise PackError(
            f"columns: {len(columns):,} are declared, at most {MOST_USER_COLUMNS:,} can be stored. "
            "Put some of them together into one column."
        )
    counts = Counter(column.name for column in columns)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise PackError(f"column {twice[0]!r}: declared twice. Rename one of them.")


def encode_values(columns: Sequence[Column], values: Mapping[str, Any]) -> list[bytes]:
    """Return the stored bytes of one sample's values, in the order of the columns."""
    if len(values) > len(columns) or any(column.name not in values for column in columns):
        declared = {column.name for column in columns}
        missing, unknown = sorted(declared - set(values)), sorted(set(values) - declared)
        raise PackError(
            f"its columns are not those declared (missing: {', '.join(missing) or 'none'}; "
            f"not declared: {', '.join(unknown) or 'none'})"
        )
    return [encode_value(column, values[column.name]) for column in columns]


def encode_value(column: Column, value: Any) -> bytes:
    """Return the stored bytes of one value; PackError, without the sample's name, if it is odd."""
    if column.kind == "bytes":
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise PackError(f"column {column.name!r} needs bytes, got {type(value).__name__}")
        return bytes(value)
    if column.kind == "text":
        return _encode_text(column, value)
    wanted = element_type(column)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:  # such as rows of different lengths
        raise PackError(f"column {column.name!r} needs {column.dtype}, got no array") from error
    if column.kind == "ragged" and array.size == 0:
        return b""
    rows_fit = column.kind == "ragged" and array.ndim >= 1 and array.shape[1:] == column.shape
    if not (rows_fit if column.kind == "ragged" else array.shape == column.shape):
        rows = "(any, " if column.kind == "ragged" else "("
        raise PackError(
            f"column {column.name!r} needs shape {rows}{', '.join(map(str, column.shape))}), "
            f"got {array.shape}"
        )
    converted: bytes = _convert(column, array, wanted).tobytes()
    return converted


def _encode_text(column: Column, value: Any) -> bytes:
    if not isinstance(value, str):
        raise PackError(f"column {column.name!r} needs str, got {type(value).__name__}")
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise PackError(
            f"column {column.name!r} cannot store {value!r} ({error.reason})"
        ) from error


def _convert(column: Column, array: np.ndarray[Any, Any], wanted: np.dtype[Any]) -> Any:
    # Floats may be rounded to a smaller float; whole numbers must come through unchanged.
    if array.dtype == wanted:
        return array
    rounds = wanted.kind == "f" and array.dtype.kind in "fiu"
    if not rounds and array.dtype.kind not in "biu":
        raise PackError(f"column {column.name!r} needs {column.dtype}, got {array.dtype}")
    with np.errstate(over="ignore"):
        converted = array.astype(wanted)
    if not rounds and not np.array_equal(converted, array):
        raise PackError(f"column {column.name!r}: {array!r} does not fit {column.dtype}")
    return converted


def decode_text(raw: bytes) -> str:
    """Return stored text; bytes that are not UTF-8 become surrogate escapes."""
    return raw.decode("utf-8", "surrogateescape")


class FixedColumn:
    """One array over all samples, on the file's own memory."""

    def __init__(self, read: Read, entry: Entry) -> None:
        self.column = entry.column
        stored = read(entry.offset, entry.size)
        self.values: npt.NDArray[Any] = stored.view(element_type(entry.column)).reshape(
            entry.count, *entry.column.shape
        )

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Any:
        return self.values[index]


class VariableColumn:
    """Values of different lengths: ragged arrays, text or bytes."""

    def __init__(self, read: Read, entry: Entry, where: str) -> None:
        self.column = entry.column
        self._where = where
        self._offsets: npt.NDArray[np.uint64] = read(entry.offset, entry.size).view("<u8")
        self._values = read(entry.values_offset, entry.values_bytes)
        self._unit_bytes = row_bytes(entry.column)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, index: int) -> Any:
        stored = self.stored(index)
        if self.column.kind == "text":
            return decode_text(stored.tobytes())
        if self.column.kind == "bytes":
            return stored.tobytes()
        return stored.view(element_type(self.column)).reshape(-1, *self.column.shape)

    def stored(self, index: int) -> Bytes:
        """Return the bytes of one value, or raise PackError if the offsets are damaged."""
        if not 0 <= index < len(self):
            raise IndexError(f"{self._where}: value {index:,} of {len(self):,}")
        start, end = (int(offset) * self._unit_bytes for offset in self._offsets[index : index + 2])
        if not start <= end <= len(self._values):
            raise PackError(
                f"{self._where}: value {index:,} lies at bytes {start:,} to {end:,} of "
                f"{len(self._values):,}. The file is damaged: run penstock verify."
            )
        return self._values[start:end]

    def rows(self, indices: Ints, expected: Ints | None = None) -> tuple[Ints, npt.NDArray[Any]]:
        """Return how many rows each of these ragged values has, and the rows of all.

        PackError if there are not as many as `expected`, before any are gathered.
        """
        there = len(self._values) // self._unit_bytes
        first, last = self._offsets[indices], self._offsets[indices + 1]
        # Without a sign, and before any sum: both may be as large as 64 bits allow.
        if (first > last).any() or (last > there).any():
            raise PackError(f"{self._where}: offsets are damaged: run penstock verify.")
        starts = first.astype(np.int64)
        counts = last.astype(np.int64) - starts
        if expected is not None and not np.array_equal(counts, expected):
            place = int(np.flatnonzero(counts != expected)[0])
            raise PackError(
                f"{self._where}: sample {int(indices[place]):,} has {int(counts[place]):,} rows, "
                f"and needs {int(expected[place]):,}. Copy the file again, or repack."
            )
        ends = np.cumsum(counts)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
        every = self._values[: there * self._unit_bytes].view(element_type(self.column))
        return counts, every.reshape(there, *self.column.shape)[places]

    def same_counts(self, other: VariableColumn) -> bool:
        """Whether every sample has as many rows here as there."""
        return bool(np.array_equal(self._offsets, other._offsets))

    def offsets_rise(self) -> bool:
        """Whether the offsets begin at 0, never fall and end at the end of the values."""
        offsets = self._offsets
        return (
            int(offsets[0]) == 0
            and int(offsets[-1]) * self._unit_bytes == len(self._values)
            and not bool(np.any(offsets[1:] < offsets[:-1]))
        )


ColumnReader = FixedColumn | VariableColumn


def open_column(read: Read, entry: Entry, where: str) -> ColumnReader:
    """Return the reader of a column whose places have been checked.

    `read` gives bytes of the file, by their offset and size, where they lie.
    """
    if entry.column.kind == "fixed":
        return FixedColumn(read, entry)
    return VariableColumn(read, entry, f"{where}, column {entry.column.name!r}")


def require(entries: Mapping[str, Entry], column: Column, count: int, where: str) -> None:
    """Raise PackError unless a column of this name has this type and number of values."""
    found = entries.get(column.name)
    if found is None or found.column != column or found.count != count:
        got = "none" if found is None else f"{found.count:,} of {found.column}"
        raise PackError(
            f"{where}: needs {count:,} values of {column}, got {got}. The file is damaged."
        )
