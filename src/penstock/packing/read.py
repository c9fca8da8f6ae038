"""Opening one packed file: header, footer and directory are read, the rest is mapped."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import PackError
from penstock.packing.format import (
    ENTRY_BYTES,
    FLAG_LOSSY,
    HEADER_BYTES,
    RECORD_ZLIB,
    RESTORES,
    STORAGES,
    SYSTEM_COLUMNS,
    TABLE,
    TAIL_BYTES,
    Entry,
    Header,
    Tail,
    id_of,
)
from penstock.packing.items import Column
from penstock.packing.read_column import Bytes, ColumnReader, FixedColumn, open_column, require
from penstock.regular_file import open_regular

MOST_SIDE = 2**31 - 1  # what the core can count


@dataclass(frozen=True, slots=True)
class Sample:
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


class PackFile:
    """One packed file. Opening takes the same short time for any number of samples.

    `system` holds the file's own columns (offset, size, height ...), `columns` the user's,
    `tables` what is said once for all samples (classes ...).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.header, self._map = _open_map(self.path)
        last = self._map[-TAIL_BYTES:].tobytes()
        self.tail = Tail.from_bytes(last, len(self._map), self.path)
        self.entries = self._read_directory()
        readers: tuple[dict[str, ColumnReader], ...] = ({}, {}, {})
        for entry in self.entries:
            readers[entry.role][entry.column.name] = open_column(self._map, entry, self.path)
        self.system, self.columns, self.tables = readers
        for column in SYSTEM_COLUMNS:
            require(self.system, column, len(self), self.path)

    def _read_directory(self) -> tuple[Entry, ...]:
        tail = self.tail
        start = tail.directory_offset
        raw = self._map[start : start + tail.directory_bytes].tobytes()
        if zlib.crc32(raw) != tail.directory_crc:
            raise PackError(f"{self.path}: the directory of columns is damaged. Copy it again.")
        if not id_of(raw) == tail.file_id == self.header.file_id:
            raise PackError(
                f"{self.path}: header and footer belong to different files. Copy it again."
            )
        entries: dict[tuple[int, str], Entry] = {}
        place = tail.records_end
        for number in range(tail.columns):
            where = f"{self.path}, column {number}"
            entry = Entry.from_bytes(raw[number * ENTRY_BYTES :][:ENTRY_BYTES], where)
            place = entry.check_places(place, start, where)
            if entry.role != TABLE and entry.count != tail.samples:
                raise PackError(f"{where}: {entry.count:,} values for {tail.samples:,} samples.")
            if (entry.role, entry.column.name) in entries:
                raise PackError(f"{where}: the name {entry.column.name!r} comes twice.")
            entries[entry.role, entry.column.name] = entry
        if place != start:
            raise PackError(f"{self.path}: {start - place:,} bytes belong to no column.")
        return tuple(entries.values())

    def __len__(self) -> int:
        return self.tail.samples

    @property
    def lossy(self) -> bool:
        """Whether images were re-encoded on request when this file was packed."""
        return bool(self.header.flags & FLAG_LOSSY)

    @property
    def schema(self) -> tuple[Column, ...]:
        """The user's columns."""
        return tuple(reader.column for reader in self.columns.values())

    @property
    def file_bytes(self) -> int:
        """Size of the file."""
        return len(self._map)

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

    def sample(self, index: int) -> Sample:
        """Return what the index says of a sample, or raise PackError if that cannot be."""
        if not 0 <= index < len(self):
            raise IndexError(f"{self.path}: sample {index:,} of {len(self):,}")
        row: dict[str, Any] = {
            column.name: int(self.facts(column.name)[index]) for column in SYSTEM_COLUMNS[:-2]
        }
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
        return Sample(index=index, name=self.name(index), note=note, **row)

    def record(self, index: int) -> bytes:
        """Return the stored bytes of a sample, checked against their checksum."""
        sample = self.sample(index)
        data = self.stored(sample.offset, sample.size).tobytes()
        if zlib.crc32(data) != sample.crc:
            raise PackError(
                f"{self.path}: sample {index:,} ({sample.name}) is damaged: "
                "its checksum does not match. Copy the file again, or repack."
            )
        return data

    def stored(self, offset: int, size: int) -> Bytes:
        """Return bytes of the file as they are."""
        return self._map[offset : offset + size]


def _open_map(path: str) -> tuple[Header, Bytes]:
    try:
        with open_regular(path) as file:
            header = Header.from_bytes(file.read(HEADER_BYTES), path)
            return header, np.asarray(np.memmap(file, np.uint8, "r"))
    except PackError:
        raise
    except OSError as error:
        raise PackError(f"{path}: cannot be opened ({error.strerror or error}).") from error
