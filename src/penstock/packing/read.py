"""Opening one packed file: header, footer and directory are read, the rest is mapped.

Somebody may write to the file, or cut it short, while it is mapped. What can no longer be read then
becomes zeros (cpp/base/map_guard.h), so `check_unchanged` must be called before anything that was
read is used.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from penstock._core import MappedFile
from penstock.errors import PackError
from penstock.packing.columns import Bytes, ColumnReader, FixedColumn, open_column, require
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
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused

MOST_SIDE = 2**31 - 1  # what the core can count
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


class PackFile:
    """One packed file. Opening takes the same short time for any number of samples.

    `system` holds the file's own columns (offset, size, height ...), `columns` the user's,
    `tables` what is said once for all samples (classes ...).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._file, self._stamp = _open_map(self.path)
        self._stamp_of_columns = self._stamp
        self._map: Bytes = self._file.bytes
        self._ends = self._map[:HEADER_BYTES].tobytes(), self._map[-TAIL_BYTES:].tobytes()
        self.entries: tuple[Entry, ...] = ()
        with self.watched():
            self._open()

    def _open(self) -> None:
        self.header = Header.from_bytes(self._ends[0], self.path)
        self.tail = Tail.from_bytes(self._ends[1], len(self._map), self.path)
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

    def sample(self, index: int) -> SampleFacts:
        """Return what the index says of a sample, or raise PackError if that cannot be."""
        if not 0 <= index < len(self):
            raise IndexError(f"{self.path}: sample {index:,} of {len(self):,}")
        try:
            return self._sample(index)
        except PackError:
            self.check_unchanged()
            raise

    def _sample(self, index: int) -> SampleFacts:
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
        return SampleFacts(index=index, name=self.name(index), note=note, **row)

    def record(self, index: int) -> bytes:
        """Return the stored bytes of a sample, checked against their checksum."""
        sample = self.sample(index)
        data = self.stored(sample.offset, sample.size).tobytes()
        if zlib.crc32(data) != sample.crc:
            self.check_unchanged([index])
            raise PackError(
                f"{self.path}: sample {index:,} ({sample.name}) is damaged: "
                "its checksum does not match. Copy the file again, or repack."
            )
        return data

    def stored(self, offset: int, size: int) -> Bytes:
        """Return bytes of the file as they are."""
        return self._map[offset : offset + size]

    def crc_of(self, offset: int, size: int) -> int:
        """Return the checksum of bytes of the file."""
        crc, end = 0, min(offset + size, len(self._map))
        for start in range(offset, end, _CHUNK_BYTES):
            chunk = self.stored(start, min(_CHUNK_BYTES, end - start))
            crc = zlib.crc32(chunk.data, crc)
        return crc

    def check_unchanged(self, indices: Sequence[int] = ()) -> None:
        """Raise PackError unless what has been read so far is what the file had when opened.

        If it was written to since, its columns and the records of the samples at `indices` must
        still match their checksums. Cheap as long as it was not.
        """
        try:
            if self._file.lost or _stamp(self._file.descriptor) != self._stamp:
                self._check_changed(indices)
        except PackError:
            raise
        except OSError as error:
            raise PackError(
                f"{self.path}: can no longer be read ({error.strerror or error}). "
                "Check the disk or network drive that it is on, and open it again."
            ) from error

    @contextmanager
    def watched(self, indices: Sequence[int] = ()) -> Iterator[None]:
        """What is read in this context is thrown away, with PackError, if the file has changed."""
        try:
            yield
        except Exception:
            self.check_unchanged(indices)
            raise
        self.check_unchanged(indices)

    def _check_changed(self, indices: Sequence[int]) -> None:
        descriptor, had = self._file.descriptor, len(self._map)
        now = _stamp(descriptor)
        if now[0] < had:
            raise PackError(
                f"{self.path}: was cut short while it was open; it had {had:,} bytes and has "
                f"{now[0]:,} now. Get it again, and open it again."
            )
        if self._file.lost:
            raise PackError(
                f"{self.path}: can no longer be read, though it has its {had:,} bytes: it was cut "
                "short for a while, or its disk or network drive failed. Open it again."
            )
        ends = (
            os.pread(descriptor, HEADER_BYTES, 0),
            os.pread(descriptor, TAIL_BYTES, had - TAIL_BYTES),
        )
        same = now[0] == had and ends == self._ends
        if same and now != self._stamp_of_columns:
            same = all(
                self.crc_of(entry.offset, entry.size) == entry.crc
                and self.crc_of(entry.values_offset, entry.values_bytes) == entry.values_crc
                for entry in self.entries
            )
        if same:
            self._stamp_of_columns = now
            same = all(self._matches(index) for index in indices)
        if not same or self._file.lost:
            raise PackError(
                f"{self.path}: was written to while it was open. Open it again; to replace a "
                "packed file that is in use, write another one and rename it."
            )

    def _matches(self, index: int) -> bool:
        crc, offset, size = (int(self.facts(name)[index]) for name in ("crc", "offset", "size"))
        return self.crc_of(offset, size) == crc


def _stamp(descriptor: int) -> tuple[int, int]:
    """Return size and time of a file, which change if it is written to."""
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns


def _open_map(path: str) -> tuple[MappedFile, tuple[int, int]]:
    try:
        with open_regular(path) as file:
            stamp = _stamp(file.fileno())
            if stamp[0] > 0:  # an empty file cannot be mapped
                return MappedFile(file.fileno()), stamp
    except OSError as error:
        raise_if_refused(error, printable(path))
        if isinstance(error, FileNotFoundError):
            raise PackError(
                f"{path}: no such file. Check the path, or make it from your data with "
                "penstock.pack."
            ) from error
        raise PackError(f"{path}: cannot be opened ({error.strerror or error}).") from error
    raise PackError(
        f"{path}: 0 bytes, too short for a packed file. It was probably cut short while copying."
    )
