"""The index of a packed file: what its end says of its samples, of their columns and of its blocks.

Only the bytes behind the records are looked at. So they may be a mapped file, or what was read of
an object far away, in two requests: the last SUFFIX_BYTES, and what `index_range` asks for then.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import checksum
from penstock.errors import PackError
from penstock.packing.columns import (
    Bytes,
    ColumnReader,
    FixedColumn,
    open_column,
    require,
)
from penstock.packing.format import (
    BLOCK,
    BLOCK_COLUMNS,
    ENTRY_BYTES,
    FIXED_COLUMNS,
    FLAG_LOSSY,
    HEADER_BYTES,
    RECORD_ZLIB,
    RESTORES,
    SAMPLE,
    STORAGES,
    SYSTEM,
    TAIL_BYTES,
    Entry,
    Tail,
    id_of,
    system_columns,
)
from penstock.packing.items import Column

MOST_SIDE = 2**31 - 1  # what the core can count
SUFFIX_BYTES = 1 << 16  # to ask for first: the whole index of a small file, the directory of others
_CHUNK_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class SampleFacts:
    """What the index says of one image; its values are checked against the file."""

    index: int
    name: str
    offset: int
    size: int
    crc: int
    storage: str
    flags: int
    restores: str
    orientation: int
    height: int
    width: int
    original_size: int
    original_crc: int
    note: str


_FACTS = tuple(
    column.name for column in FIXED_COLUMNS if column.name in SampleFacts.__dataclass_fields__
)


def index_range(file_bytes: int, suffix: Bytes | bytes, where: str) -> tuple[int, int]:
    """Return begin and end of what is still missing of a file's index; equal if nothing is.

    `suffix` are the last bytes of the file, at least TAIL_BYTES; where they come from, `where`, is
    named by errors. What is missing lies right before them.
    """
    end = file_bytes - len(suffix)
    tail = Tail.from_bytes(bytes(suffix[-TAIL_BYTES:]), file_bytes, where)
    return min(tail.records_end, end), end


class PackIndex:
    """What a packed file says of itself. Opening takes the same time for any number of samples.

    `data` are the last bytes of the file, from the end of its records on or from further ahead.
    They are referred to, not copied.

    `system` holds the file's own columns (offset, size, height ...), `columns` the user's,
    `tables` what is said once for all samples (classes ...), `blocks` the columns of the blocks of
    records, none in version 1.

    If `data` is not `complete`, what else of the index is asked for must come from `stored`.
    """

    def __init__(self, data: Bytes, file_bytes: int, path: str, *, complete: bool = True) -> None:
        self.path = path
        self.file_bytes = file_bytes
        self._data = data
        self._start = file_bytes - len(data)  # the place of `data` in the file
        self.entries: tuple[Entry, ...] = ()
        self.tail = Tail.from_bytes(data[-TAIL_BYTES:].tobytes(), file_bytes, path)
        if complete and self._start > self.tail.records_end:
            raise PackError(
                f"{path}: its index begins at byte {self.tail.records_end:,}, but the bytes given "
                f"begin at {self._start:,}. Give all bytes that index_range asks for."
            )
        self.flags = self.tail.flags
        self.entries = self._read_directory()
        named: tuple[dict[str, Entry], ...] = ({}, {}, {}, {})
        for entry in self.entries:
            named[entry.role][entry.column.name] = entry
        self.system, self.columns, self.tables, self.blocks = map(self._open_columns, named)
        for column in system_columns(self.version):
            require(named[SYSTEM], column, len(self), path)
        if self.version > 1:
            self._check_blocks(named[BLOCK])

    @classmethod
    def from_bytes(cls, data: Bytes | bytes, file_bytes: int, path: str) -> PackIndex:
        """Open an index that was transferred: PackError unless every column has its checksum."""
        index = cls(np.frombuffer(data, np.uint8), file_bytes, path)
        for entry in index.entries:
            if not index.has_checksums(entry):
                raise PackError(
                    f"{path}: column {entry.column.name!r} is damaged: its checksum does not "
                    "match. Read it again, or repack."
                )
        return index

    def _read_directory(self) -> tuple[Entry, ...]:
        tail = self.tail
        start = tail.directory_offset
        raw = self.stored(start, tail.directory_bytes).tobytes()
        if zlib.crc32(raw) != tail.directory_crc or id_of(raw) != tail.file_id:
            raise PackError(f"{self.path}: the directory of columns is damaged. Copy it again.")
        entries: dict[tuple[int, str], Entry] = {}
        place = tail.records_end
        for number in range(tail.columns):
            where = f"{self.path}, column {number}"
            entry = Entry.from_bytes(raw[number * ENTRY_BYTES :][:ENTRY_BYTES], where, tail.version)
            place = entry.check_places(place, start, where)
            if entry.role in {SYSTEM, SAMPLE} and entry.count != tail.samples:
                raise PackError(f"{where}: {entry.count:,} values for {tail.samples:,} samples.")
            if (entry.role, entry.column.name) in entries:
                raise PackError(f"{where}: the name {entry.column.name!r} comes twice.")
            entries[entry.role, entry.column.name] = entry
        if place != start:
            raise PackError(f"{self.path}: {start - place:,} bytes belong to no column.")
        return tuple(entries.values())

    def _open_columns(self, entries: Mapping[str, Entry]) -> Mapping[str, ColumnReader]:
        return {name: open_column(self.stored, entry, self.path) for name, entry in entries.items()}

    def _check_blocks(self, entries: Mapping[str, Entry]) -> None:
        count = max((entry.count for entry in entries.values()), default=0)
        for column in BLOCK_COLUMNS:
            require(entries, column, count, f"{self.path}, blocks")
        if not min(1, len(self)) <= count <= len(self):
            raise PackError(f"{self.path}: {count:,} blocks for {len(self):,} samples.")

    def __len__(self) -> int:
        return self.tail.samples

    @property
    def version(self) -> int:
        """Version of the format."""
        return self.tail.version

    @property
    def file_id(self) -> bytes:
        """What identifies the content of the file."""
        return self.tail.file_id

    @property
    def lossy(self) -> bool:
        """Whether images were re-encoded on request when this file was packed."""
        return bool(self.flags & FLAG_LOSSY)

    @property
    def schema(self) -> tuple[Column, ...]:
        """The user's columns."""
        return tuple(entry.column for entry in self.entries if entry.role == SAMPLE)

    def table(self, name: str) -> tuple[str, ...] | None:
        """Return a table of texts, such as `classes`, or None."""
        reader = self.tables.get(name)
        if reader is None or reader.column.kind != "text":
            return None
        return tuple(reader[index] for index in range(len(reader)))

    def facts(self, name: str) -> npt.NDArray[Any]:
        """Return one of the file's own fixed columns, such as `height`, for all samples."""
        reader = self.system[name]
        if not isinstance(reader, FixedColumn):
            raise KeyError(name)
        return reader.values

    def name(self, index: int) -> str:
        """Return the original path of a sample."""
        return str(self.system["name"][index])

    def sample(self, index: int) -> SampleFacts:
        """Return what the index says of a sample, or raise PackError if that cannot be."""
        if not 0 <= index < len(self):
            raise IndexError(f"{self.path}: sample {index:,} of {len(self):,}")
        row: dict[str, Any] = {name: int(self.facts(name)[index]) for name in _FACTS}
        end, where = row["offset"] + row["size"], f"{self.path}: sample {index:,}"
        if not HEADER_BYTES <= row["offset"] <= end <= self.tail.records_end:
            raise PackError(
                f"{where} ends at byte {end:,} but records end at {self.tail.records_end:,}. "
                "The file is damaged: run penstock verify."
            )
        if row["storage"] >= len(STORAGES) or row["restores"] >= len(RESTORES):
            raise PackError(f"{where} has storage {row['storage']}, unknown to this version.")
        if row["flags"] & ~(RECORD_ZLIB if STORAGES[row["storage"]] == "raw" else 0):
            raise PackError(f"{where} has flags {row['flags']:#x}, unknown to this version.")
        if not 1 <= row["orientation"] <= 8:
            raise PackError(f"{where} has orientation {row['orientation']}; 1 to 8 are known.")
        if not (1 <= row["height"] <= MOST_SIDE and 1 <= row["width"] <= MOST_SIDE):
            raise PackError(f"{where} says it has {row['height']}x{row['width']} pixels.")
        row["storage"], row["restores"] = STORAGES[row["storage"]], RESTORES[row["restores"]]
        note = str(self.system["note"][index])
        return SampleFacts(index=index, name=self.name(index), note=note, **row)

    def stored(self, offset: int, size: int) -> Bytes:
        """Return bytes of the file as they are, of those that are there."""
        if offset < self._start and size:
            raise PackError(
                f"{self.path}: byte {offset:,} was asked for; only those from {self._start:,} on "
                "are there."
            )
        begin = max(0, offset - self._start)
        return self._data[begin : begin + size]

    def crc_of(self, offset: int, size: int) -> int:
        """Return the checksum of bytes of the file."""
        crc, end = 0, min(offset + size, self.file_bytes)
        for start in range(offset, end, _CHUNK_BYTES):
            chunk = self.stored(start, min(_CHUNK_BYTES, end - start))
            crc = checksum(chunk, crc)
        return crc

    def has_checksums(self, entry: Entry) -> bool:
        """Whether a column is what its checksums say."""
        return (
            self.crc_of(entry.offset, entry.size) == entry.crc
            and self.crc_of(entry.values_offset, entry.values_bytes) == entry.values_crc
        )
