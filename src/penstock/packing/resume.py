"""Whether the source of an interrupted pack is still what it was.

A resumed pack gives the file that a new one would give now, or it is refused:
what is dealt with, in finished shards too, is compared with what the journals say of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from penstock.errors import PackError
from penstock.packing import disk
from penstock.packing.items import PackItem, PackSource
from penstock.packing.journal import Done, RowCodec, Span, read_done, storable
from penstock.packing.origin import what_changed
from penstock.packing.read import PackFile
from penstock.packing.recover import read_matching_start
from penstock.packing.stream import Stream
from penstock.packing.write import JOURNAL_SUFFIX


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """Compares a source with the journals of its pack; any difference is a PackError."""

    target: str
    source: PackSource
    stream: Stream  # of the source
    settings_digest: bytes
    read: Callable[[bytes | os.PathLike[str]], bytes]  # an image file
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

    def shard(self, path: str, span: Span) -> None:
        """Compare the samples of a finished shard, which its journal outlives for this."""
        items = self.stream.items(span.start, span.stop)
        try:
            with disk.reopen(path + JOURNAL_SUFFIX) as journal:
                start = read_matching_start(journal, self.settings_digest, journal.name)
                stored = self.samples(self._done([path]), items, span.start)
        except FileNotFoundError:
            start, stored = None, 0
        if start is None or start.span != span or stored != len(PackFile(path)):
            raise PackError(
                f"{path}: {path}{JOURNAL_SUFFIX} does not say what it was made from. "
                f"Start over: {self.start_over}."
            )
        more = next(items, None)
        if more is not None:
            raise self._changed(f"{storable(more.name)} comes after what was the last sample")

    def length(self, paths: Sequence[str], length: int) -> None:
        """Compare the number of samples, since the boundaries of shards depend on it."""
        for path in paths:
            if os.path.lexists(path + JOURNAL_SUFFIX):
                break
        else:
            return
        with disk.reopen(path + JOURNAL_SUFFIX) as journal:
            start = read_matching_start(journal, self.settings_digest, journal.name)
        if start is None or start.span.length in {None, length}:
            return
        self.samples(self._done(paths), self.source.items(), 0)
        raise self._changed(
            f"it had {start.span.length:,} samples and has {length:,} now, "
            "so that each shard would get others"
        )

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
