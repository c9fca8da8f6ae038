"""Opening one packed file: header, footer and directory are read, the rest is mapped.

Somebody may write to the file, or cut it short, while it is mapped. What can no longer be read then
becomes zeros (cpp/base/map_guard.h), so `check_unchanged` must be called before anything that was
read is used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from penstock._core import MappedFile, checksum
from penstock.errors import PackError
from penstock.geometry import Ints
from penstock.packing.columns import Bytes
from penstock.packing.format import (
    HEADER_BYTES,
    SAMPLE,
    SYSTEM,
    TAIL_BYTES,
    Entry,
    Header,
    row_bytes,
)
from penstock.packing.pack_index import PackIndex, SampleFacts
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused

# A system that reads a page reads many around it, one look-up after the other: in a large index, a
# batch waits long for pages that nobody needs. What the first batches need is asked for at once.
_LARGE_INDEX_BYTES = 1 << 24
_MOST_ANNOUNCED = 1 << 12  # samples; each costs a few microseconds, also where nothing is missing
_LOOKED_UP = ("offset", "size", "storage", "height", "width", "flags")


class PackFile(PackIndex):
    """One packed file on this machine. Opening takes the same short time for any number of samples.

    Its index lies in the mapped file, and so do its records.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._file, self._stamp = _open_map(self.path)
        self._stamp_of_columns = self._stamp
        self._map: Bytes = self._file.bytes
        self._ends = self._map[:HEADER_BYTES].tobytes(), self._map[-TAIL_BYTES:].tobytes()
        self.entries: tuple[Entry, ...] = ()
        with self.watched():
            header = Header.from_bytes(self._ends[0], self.path)
            super().__init__(self._map, len(self._map), self.path)
            self._check_header(header)
        self.flags = header.flags  # version 1 has them only there
        is_large = self.file_bytes - self.tail.records_end >= _LARGE_INDEX_BYTES
        self._left_to_announce = _MOST_ANNOUNCED if is_large else 0

    def announce(self, samples: Ints) -> None:
        """Say that what the index has of these samples is needed next; of the first ones only."""
        if self._left_to_announce <= 0:
            return
        self._left_to_announce -= len(samples)
        rows = [
            entry.offset + samples * row_bytes(entry.column)
            for entry in self.entries
            if entry.column.kind == "fixed"
            and (entry.role == SAMPLE or (entry.role == SYSTEM and entry.column.name in _LOOKED_UP))
        ]
        self._file.will_need(np.concatenate(rows))

    def _check_header(self, header: Header) -> None:
        ends = (header.file_id, header.version), (self.tail.file_id, self.version)
        if ends[0] != ends[1] or (self.version > 1 and header.flags != self.tail.flags):
            raise PackError(
                f"{self.path}: header and footer belong to different files. Copy it again."
            )

    def sample(self, index: int) -> SampleFacts:
        """Return what the index says of a sample, or raise PackError if that cannot be."""
        try:
            return super().sample(index)
        except PackError:
            self.check_unchanged()
            raise

    def record(self, index: int) -> bytes:
        """Return the stored bytes of a sample, checked against their checksum."""
        sample = self.sample(index)
        data = self.stored(sample.offset, sample.size).tobytes()
        if checksum(data) != sample.crc:
            self.check_unchanged([index])
            raise PackError(
                f"{self.path}: sample {index:,} ({sample.name}) is damaged: "
                "its checksum does not match. Copy the file again, or repack."
            )
        return data

    @property
    def mapped(self) -> Bytes | None:
        """All bytes of the file; None if they are not on this machine."""
        return self._map

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
            same = all(map(self.has_checksums, self.entries))
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
