"""Writing one packed file, so that a crash at any moment costs little and breaks nothing.

Records go to `<target>.partial`, one frame each to `<target>.journal`.
Only a complete file, on the disk, gets the target's name.
Both are files that this made itself: a link, pipe or device of that name is not written to.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import BinaryIO, final

from penstock.errors import PackError
from penstock.packing import disk
from penstock.packing.columns import check_schema, encode_value, encode_values
from penstock.packing.disk import try_lock
from penstock.packing.format import (
    FLAG_LOSSY,
    RESTORES,
    STORAGES,
    SYSTEM_ROW,
    VARIABLE_COLUMNS,
    Header,
    Tail,
    id_of,
    padding,
)
from penstock.packing.index import Tables, write_index
from penstock.packing.items import Column, PackItem
from penstock.packing.journal import (
    JOURNAL_SUFFIX,
    NO_ORIGIN,
    SKIPPED,
    START_BYTES,
    STORED,
    SYNCED,
    Done,
    Origin,
    RowCodec,
    Span,
    Start,
    frame_bytes,
    read_done,
    read_start,
    skipped_payload,
)
from penstock.packing.records import Record
from penstock.packing.resume import Recovered, recover, settings_digest

PARTIAL_SUFFIX = ".partial"
_EVERYTHING = Span()
SYNC_BYTES = 128 << 20  # written between two waits for the disk: what a power failure may cost


@final
class PackWriter:
    """Writes one packed file, sample by sample; `finish` makes it valid.

    With `resume`, goes on from what a crashed writer with the same schema left behind, if anything;
    `done` says what that is.
    Leaving the `with` block without `finish` keeps the unfinished files for that, unless there is
    nothing in them yet. With `keeps_journal`, that stays even after `finish`.
    """

    def __init__(
        self,
        target: str,
        columns: Sequence[Column],
        tables: Tables,
        *,
        resume: bool = False,
        span: Span = _EVERYTHING,
        keeps_journal: bool = False,
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
        self._keeps_journal = keeps_journal
        start = Start(settings_digest(columns, tables), span)
        with disk.explaining_errors(target, self._needed_bytes), ExitStack() as opened:
            os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
            self._journal, self._partial = _open_both(target, opened, resume=resume)
            self._start(start, resume=resume)
            opened.pop_all()

    def _start(self, start: Start, *, resume: bool) -> None:
        if resume:
            with disk.reading(self._journal) as journal:
                where = self._journal.name
                self._state = recover(self._partial, journal, start, self._codec, where)
        state = self._state
        disk.truncate(self._partial, state.position)
        self._partial.seek(state.position)
        if not state.journal_end:
            disk.truncate(self._journal, 0)
            self._journal.seek(0)
            disk.write_all(self._journal, start.to_bytes())
            state.journal_end = START_BYTES
        disk.truncate(self._journal, state.journal_end)
        self._journal.seek(state.journal_end)

    @property
    def consumed(self) -> int:
        """How many samples of the source are dealt with, stored or skipped."""
        return self._state.samples + self._state.skipped

    def done(self) -> Iterator[Done]:
        """Yield those samples, in the order of the source."""
        with disk.reading(self._journal) as journal:
            yield from read_done(journal, self._codec)

    def add(self, item: PackItem, record: Record, origin: Origin = NO_ORIGIN) -> None:
        """Store a sample; PackError, naming it, if its columns are not those declared."""
        state = self._state
        try:
            values = encode_values(self._columns, item.columns)
            own = map(encode_value, VARIABLE_COLUMNS, (item.name, record.note, record.parts))
            stored = record.data + padding(len(record.data))
            block = state.block.with_record(len(stored))
            block_crc = zlib.crc32(stored, state.block_crc if block.records > 1 else 0)
            system = SYSTEM_ROW.pack(
                state.position, len(record.data), record.crc,
                STORAGES.index(record.storage), record.flags, RESTORES.index(record.restores),
                record.orientation, record.height, record.width,
                record.original_size, record.original_crc,
                record.layout.rows, record.layout.around, block_crc,
            )  # fmt: skip
            frame = frame_bytes(STORED, origin, self._codec.encode(system, [*own, *values]))
        except PackError as error:
            raise PackError(f"{item.name}: {error}.") from error
        with disk.explaining_errors(self._target, self._needed_bytes):
            disk.write_all(self._partial, stored)
            disk.write_all(self._journal, frame)
            state.position += len(stored)
            state.block, state.block_crc = block, block_crc
            state.samples += 1
            self._unsynced_bytes += len(record.data)
            if self._unsynced_bytes >= self._sync_bytes:
                self._sync()

    def skip(self, name: str, reason: str, origin: Origin = NO_ORIGIN) -> None:
        """Note that a sample of the source is left out."""
        frame = frame_bytes(SKIPPED, origin, skipped_payload(name, reason))
        with disk.explaining_errors(self._target, self._needed_bytes):
            disk.write_all(self._journal, frame)
        self._state.skipped += 1

    def finish(self) -> None:
        """Write the index and give the file its name."""
        with disk.explaining_errors(self._target, self._needed_bytes):
            self._sync()
            end = self._state.position
            disk.truncate(self._partial, end)
            with disk.reading(self._journal) as journal:
                entries = write_index(self._partial, end, journal, self._columns, self._tables)
            directory = b"".join(entry.to_bytes() for entry in entries)
            file_id = id_of(directory)
            flags = FLAG_LOSSY if self._tables.lossy else 0
            tail = Tail(
                self._partial.tell(), len(directory), self._state.samples, end,
                len(entries), zlib.crc32(directory), file_id, flags,
            )  # fmt: skip
            disk.write_all(self._partial, directory + padding(len(directory)) + tail.to_bytes())
            self._partial.seek(0)
            disk.write_all(self._partial, Header(flags, file_id).to_bytes())
            disk.sync(self._partial)
            self._check_names()
            disk.rename(self._partial.name, self._target)
            self.close()
            if not self._keeps_journal:
                disk.remove(self._journal.name)

    def _check_names(self) -> None:
        if not disk.is_at(self._partial, self._partial.name):
            raise PackError(
                f"{self._partial.name}: was removed or replaced while it was written. Pack again."
            )
        if os.path.lexists(self._target):
            raise PackError(
                f"{self._target}: somebody else made it while it was packed; it was left as it is. "
                "Remove it and go on with --resume (resume=True), or give another name."
            )

    def _sync(self) -> None:
        disk.sync(self._partial)
        disk.write_all(self._journal, frame_bytes(SYNCED))
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

    def __enter__(self) -> PackWriter:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.close()
        if error is not None and not self.consumed:
            # Nothing to go on from: they would only be in the way of the next try.
            disk.remove(self._partial.name)
            disk.remove(self._journal.name)


def _open_both(target: str, opened: ExitStack, *, resume: bool) -> tuple[BinaryIO, BinaryIO]:
    """Open journal and unfinished file, the latter locked; new ones vanish if `opened` is left."""
    paths = target + JOURNAL_SUFFIX, target + PARTIAL_SUFFIX
    is_there = [os.path.lexists(path) for path in paths]
    if is_there[1] and not is_there[0] and not _is_empty(paths[1]):
        raise PackError(
            f"{paths[1]}: there is no {paths[0]}, so it was not left by an interrupted pack and "
            "cannot be resumed. Remove it, or give another name."
        )
    files = []
    if is_there[0]:
        with disk.reopen(paths[0]) as left:
            read_start(left, paths[0])  # somebody else's file of that name is not removed
    goes_on = resume and is_there[0]
    if not goes_on:
        disk.remove_own(paths[1])  # first: without a journal it would not be taken for ours
    for path in paths:
        if goes_on and os.path.lexists(path):
            file = disk.reopen(path)
        else:
            file = disk.create_anew(path)
            opened.callback(disk.remove, path)
        opened.enter_context(file)
        files.append(file)
    journal, partial = files
    if try_lock(partial) is False:
        raise PackError(f"{partial.name}: another process is writing it. Wait until it is done.")
    return journal, partial


def _is_empty(path: str) -> bool:
    """Whether this is what is left if a pack ends when it has just made the file."""
    found = os.lstat(path)
    return stat.S_ISREG(found.st_mode) and found.st_size == 0
