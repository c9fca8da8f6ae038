"""Writing one packed file, so that a crash at any moment costs little and breaks nothing.

Records go to `<target>.partial`, one frame each to `<target>.journal`.
Only a complete file, on the disk, gets the target's name.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from penstock.errors import PackError
from penstock.packing import disk
from penstock.packing.column_values import check_schema, encode_value, encode_values
from penstock.packing.format import (
    FLAG_LOSSY,
    RESTORES,
    STORAGES,
    SYSTEM_COLUMNS,
    SYSTEM_ROW,
    Header,
    Tail,
    id_of,
    padding,
)
from penstock.packing.index import Tables, write_index
from penstock.packing.items import Column, PackItem
from penstock.packing.journal import (
    SKIPPED,
    STORED,
    SYNCED,
    RowCodec,
    frame_bytes,
    skipped_payload,
    start_bytes,
)
from penstock.packing.records import Record
from penstock.packing.recover import Recovered, recover, settings_digest

if TYPE_CHECKING:
    from typing_extensions import Self

PARTIAL_SUFFIX = ".partial"
JOURNAL_SUFFIX = ".journal"
SYNC_BYTES = 128 << 20  # written between two waits for the disk: what a power failure may cost


class PackWriter:
    """Writes one packed file, sample by sample; `finish` makes it valid.

    With `resume`, goes on from what a crashed writer with the same schema left behind, if anything.
    Leaving the `with` block without `finish` keeps the unfinished files for that, unless there is
    nothing in them yet.
    """

    def __init__(
        self,
        target: str,
        columns: Sequence[Column],
        tables: Tables,
        *,
        resume: bool = False,
        expected_samples: int | None = None,
        sync_bytes: int = SYNC_BYTES,
    ) -> None:
        check_schema(columns)
        tables.check()
        self._target = target
        self._columns = columns
        self._tables = tables
        self._codec = RowCodec(columns)
        self._expected_samples = expected_samples
        self._sync_bytes = sync_bytes
        self._unsynced_bytes = 0
        self._state = Recovered()
        with disk.explaining_errors(target, self._needed_bytes):
            self._journal = _open(target + JOURNAL_SUFFIX)
            self._partial = _open(target + PARTIAL_SUFFIX)
            try:
                self._start(settings_digest(columns, tables), resume=resume)
            except BaseException:
                self.close()
                if not resume:
                    self._remove_files()
                raise

    def _start(self, digest: bytes, *, resume: bool) -> None:
        if resume:
            self._state = recover(self._partial, self._journal, digest, self._codec)
        state = self._state
        disk.truncate(self._partial, state.position)
        self._partial.seek(state.position)
        if not state.journal_end:
            start = start_bytes(digest)
            disk.truncate(self._journal, 0)
            self._journal.seek(0)
            disk.write_all(self._journal, start)
            state.journal_end = len(start)
        disk.truncate(self._journal, state.journal_end)
        self._journal.seek(state.journal_end)

    @property
    def consumed(self) -> int:
        """How many samples of the source are dealt with, stored or skipped."""
        return self._state.samples + self._state.skipped

    @property
    def last_name(self) -> str | None:
        """The name of the last of them."""
        return self._state.last_name

    def add(self, item: PackItem, record: Record) -> None:
        """Store a sample; PackError, naming it, if its columns are not those declared."""
        state = self._state
        try:
            values = encode_values(self._columns, item.columns)
            name, note = map(encode_value, SYSTEM_COLUMNS[-2:], (item.name, record.note))
        except PackError as error:
            raise PackError(f"{item.name}: {error}.") from error
        system = SYSTEM_ROW.pack(
            state.position, len(record.data), zlib.crc32(record.data),
            STORAGES.index(record.storage), record.flags, RESTORES.index(record.restores),
            record.orientation, record.height, record.width,
            record.original_size, record.original_crc,
        )  # fmt: skip
        zeros = padding(len(record.data))
        with disk.explaining_errors(self._target, self._needed_bytes):
            disk.write_all(self._partial, record.data + zeros)
            self._append(STORED, self._codec.encode(system, name, note, values))
            state.position += len(record.data) + len(zeros)
            state.samples += 1
            state.last_name = item.name
            self._unsynced_bytes += len(record.data)
            if self._unsynced_bytes >= self._sync_bytes:
                self._sync()

    def skip(self, name: str, reason: str) -> None:
        """Note that a sample of the source is left out."""
        with disk.explaining_errors(self._target, self._needed_bytes):
            self._append(SKIPPED, skipped_payload(name, reason))
        self._state.skipped += 1
        self._state.last_name = name

    def finish(self) -> None:
        """Write the index and give the file its name."""
        with disk.explaining_errors(self._target, self._needed_bytes):
            self._sync()
            end = self._state.position
            disk.truncate(self._partial, end)
            with open(self._journal.name, "rb") as journal:
                entries = write_index(self._partial, end, journal, self._columns, self._tables)
            directory = b"".join(entry.to_bytes() for entry in entries)
            file_id = id_of(directory)
            tail = Tail(
                self._partial.tell(), len(directory), self._state.samples, end,
                len(entries), zlib.crc32(directory), file_id,
            )  # fmt: skip
            disk.write_all(self._partial, directory + padding(len(directory)) + tail.to_bytes())
            self._partial.seek(0)
            flags = FLAG_LOSSY if self._tables.settings else 0
            disk.write_all(self._partial, Header(flags, file_id).to_bytes())
            disk.sync(self._partial)
            self.close()
            disk.rename(self._partial.name, self._target)
            disk.remove(self._journal.name)

    def _append(self, kind: int, payload: bytes) -> None:
        disk.write_all(self._journal, frame_bytes(kind, payload))

    def _sync(self) -> None:
        disk.sync(self._partial)
        self._append(SYNCED, b"")
        disk.sync(self._journal)
        self._unsynced_bytes = 0

    def _needed_bytes(self) -> int:
        # What is written so far, projected to all samples; without a projection, as much again.
        written = self._state.position
        if not self._expected_samples or not self.consumed:
            return written
        remaining = max(self._expected_samples - self.consumed, 1)
        return -(-written * remaining // self.consumed)

    def close(self) -> None:
        """Close the files; unfinished ones stay for a resume."""
        self._partial.close()
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
        if error is not None and not self.consumed:
            self._remove_files()  # nothing to go on from: only in the way of the next try

    def _remove_files(self) -> None:
        disk.remove(self._partial.name)
        disk.remove(self._journal.name)


def _open(path: str) -> BinaryIO:
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    mode = "r+b" if os.path.exists(path) else "w+b"
    return open(path, mode, buffering=0)  # type: ignore[return-value]  # FileIO is one
