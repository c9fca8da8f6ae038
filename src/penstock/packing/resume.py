"""Going on with an interrupted pack: how far it had come, and whether its source is still the same.

A resumed pack gives the file that a new one would give now, or it is refused: all samples that are
dealt with, in finished shards too, are compared with what the journals say of them.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from penstock.errors import PackError
from penstock.packing import disk
from penstock.packing.format import HEADER_BYTES, SYSTEM_ROW, VERSION, aligned
from penstock.packing.index import Tables
from penstock.packing.items import Column, ImageData, PackItem, PackSource
from penstock.packing.journal import (
    JOURNAL_SUFFIX,
    SKIPPED,
    STORED,
    SYNCED,
    Done,
    Frame,
    RowCodec,
    Span,
    Start,
    read_done,
    read_frames,
    read_start,
    storable,
    what_changed,
)
from penstock.packing.parts import Block


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """Compares a source with the journals of its pack; any difference is a PackError."""

    target: str
    source: PackSource
    stream: Stream  # of the source
    settings_digest: bytes
    read: Callable[[ImageData], bytes]  # an image file
    note: Callable[[PackItem, Done], None]  # called with each sample that is what it was
    start_over: str  # what to do for that

    def samples(self, done: Iterable[Done], items: Iterator[PackItem], first: int) -> int:
        """Take as many items as are done and compare them, from number `first` of the source on.

        Returns how many of them are stored.
        """
        stored = 0
        for number, was in enumerate(done, first):
            item = next(items, None)
            if item is None:
                raise self._changed(f"sample {number:,} was {was.name}, and there is none now")
            name = storable(item.name)
            if name != was.name:
                raise self._changed(f"sample {number:,} was {was.name}, and is {name} now")
            change = what_changed(item, self.source.columns, was.origin, self.read)
            if change is not None:
                raise self._changed(f"sample {number:,} ({name}) {change}")
            stored += was.stored
            self.note(item, was)
        return stored

    def shard(self, path: str, span: Span, samples: int) -> None:
        """Compare the source of a finished shard with its journal, which is kept for this."""
        items = self.stream.items(span.start, span.stop)
        try:
            with disk.reopen(path + JOURNAL_SUFFIX) as journal:
                start = read_matching_start(journal, self.settings_digest, journal.name)
                stored = self.samples(self._done([path]), items, span.start)
        except FileNotFoundError:
            start, stored = None, 0
        if start is None or start.span != span or stored != samples:
            raise PackError(
                f"{path}: {path}{JOURNAL_SUFFIX} does not say what it was made from. "
                f"Start over: {self.start_over}."
            )
        more = next(items, None)
        if more is not None:
            raise self._changed(f"{storable(more.name)} comes after what was the last sample")

    def length(self, paths: Sequence[str], length: int) -> None:
        """Compare the number of samples, since the boundaries of shards depend on it."""
        begun = {path: span for path in paths if (span := self._span(path)) is not None}
        others = {span.length for span in begun.values()} - {None, length}
        if not others:
            return
        for path, span in begun.items():  # in which the first sample that changed may be
            items = self.stream.items(span.start, span.stop)
            self.samples(self._done([path]), items, span.start)
        raise self._changed(
            f"it had {others.pop():,} samples and has {length:,} now, "
            "so that each shard would get others"
        )

    def _span(self, path: str) -> Span | None:
        """Which samples an unfinished file is about; None if there is no journal that says so."""
        with suppress(FileNotFoundError), disk.reopen(path + JOURNAL_SUFFIX) as journal:
            start = read_matching_start(journal, self.settings_digest, journal.name)
            return None if start is None else start.span
        return None

    def _done(self, paths: Iterable[str]) -> Iterator[Done]:
        codec = RowCodec(self.source.columns)
        for path in paths:
            with suppress(FileNotFoundError), disk.reopen(path + JOURNAL_SUFFIX) as journal:
                if read_matching_start(journal, self.settings_digest, journal.name) is not None:
                    with disk.reading(journal) as buffered:
                        yield from read_done(buffered, codec)

    def _changed(self, how: str) -> PackError:
        return PackError(
            f"{self.target}: its source has changed since the pack was interrupted: {how}. Restore "
            "the source and go on with --resume (resume=True), or start over: "
            f"{self.start_over}."
        )


_NO_BLOCK = Block()


@dataclass(slots=True)
class Recovered:
    """Where an interrupted pack goes on; the defaults are those of a new one."""

    position: int = HEADER_BYTES  # in the packed file: where the next record goes
    journal_end: int = 0  # 0: there is no journal yet
    samples: int = 0
    skipped: int = 0
    block: Block = _NO_BLOCK  # that the next record may belong to
    block_crc: int = 0  # of its bytes so far


def settings_digest(columns: Sequence[Column], tables: Tables) -> bytes:
    """Return a digest of everything that a resumed pack must have in common with the first."""
    return hashlib.sha256(repr((VERSION, tuple(columns), tables)).encode()).digest()


def read_matching_start(journal: BinaryIO, digest: bytes, where: str) -> Start | None:
    """Return what a journal begins with, if anything; PackError if it is of another pack."""
    found = read_start(journal, where)
    if found is not None and found.settings_digest != digest:
        raise PackError(
            f"{where}: was begun with other columns, classes or settings. "
            "Give the same arguments again, or remove it to start over."
        )
    return found


def recover(
    partial: BinaryIO, journal: BinaryIO, start: Start, codec: RowCodec, where: str
) -> Recovered:
    """Read the journal up to its last sample whose record is whole."""
    found = read_matching_start(journal, start.settings_digest, where)
    if found is None:
        return Recovered()
    if found.span != start.span:
        raise PackError(
            f"{where}: is about other samples of the source ({found.span}) than asked for now "
            f"({start.span}). Give the same arguments again, or remove it to start over."
        )
    state = Recovered()
    # Frames up to the last sync stand for records that are on the disk; later ones are looked at.
    synced_end = max(
        (frame.end for frame in read_frames(journal) if frame.kind == SYNCED), default=0
    )
    for frame in read_frames(journal):
        if not _take(state, frame, partial, codec, trusted=frame.end <= synced_end):
            break
        state.journal_end = frame.end
    return state


def _take(
    state: Recovered, frame: Frame, partial: BinaryIO, codec: RowCodec, *, trusted: bool
) -> bool:
    if frame.kind == SKIPPED:
        state.skipped += 1
    elif frame.kind == STORED:
        system, _ = codec.decode(frame.payload)
        offset, size, crc, *_, block_crc = SYSTEM_ROW.unpack(system)
        end = offset + aligned(size)
        if end > os.fstat(partial.fileno()).st_size:
            return False
        if not trusted:
            partial.seek(offset)
            if zlib.crc32(partial.read(size)) != crc:
                return False
        state.position = end
        state.block, state.block_crc = state.block.with_record(aligned(size)), block_crc
        state.samples += 1
    return True


class Stream:
    """Reads ranges of a source's samples; one that follows the last goes on without reopening.

    Getting to the middle of a tar means reading the half before it, so that matters.
    """

    def __init__(self, source: PackSource) -> None:
        self._source = source
        self._items: Iterator[PackItem] = iter(())
        self._position = -1

    def items(self, start: int, stop: int | None) -> Iterator[PackItem]:
        """Yield the samples from `start` to before `stop`, or to the end."""
        if start != self._position:
            self._items = self._source.items(start)
            self._position = start
        for item in islice(self._items, None if stop is None else stop - start):
            self._position += 1
            yield item
