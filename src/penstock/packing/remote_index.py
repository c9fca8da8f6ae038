"""The index of a packed file in a store: read column by column, each checked when it is read.

Of a large file, most of the index is about names, about files as they were before packing, and
about the parts of records, none of which training usually looks at. Such columns are read when
somebody asks for them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from penstock._core import checksum
from penstock.errors import PackError
from penstock.packing.columns import Bytes, ColumnReader, open_column
from penstock.packing.format import SYSTEM, Entry
from penstock.packing.pack_index import SUFFIX_BYTES, index_range
from penstock.storage.cache import BlockCache, block_name
from penstock.storage.remote_object import RemoteObject

# An index up to here is read as a whole: what could be left out takes no longer than an answer.
_WHOLE_BYTES = 1 << 18
_WORD_BYTES = 8  # columns are looked at as words of up to this size

_PARTS = frozenset({"parts", "part_rows", "rows_around"})  # for whoever reads rows of images
_ORIGINALS = frozenset({"name", "note", "restores", "original_size", "original_crc"})


class RemoteIndex:
    """The bytes of an index, as far as they have been read.

    `end` are the last bytes of the file: all of the index if it is small or, for whoever needs all
    of it, `whole`.
    """

    def __init__(
        self, remote: RemoteObject, cache: BlockCache | None, path: str, *, whole: bool
    ) -> None:
        self._remote, self._cache, self._path = remote, cache, path
        self._lock = threading.Lock()
        self._read: dict[tuple[int, int], Bytes] = {}
        self.end: Bytes = np.frombuffer(remote.open_end(SUFFIX_BYTES), np.uint8)
        begin, stop = index_range(remote.size, bytes(self.end), path)
        self.is_whole = begin == stop or whole or stop - begin <= _WHOLE_BYTES
        if self.is_whole and begin < stop:
            self.end = np.concatenate([*self._get([(begin, stop)]), self.end])

    def first_needed(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the columns to read at once."""
        if self.is_whole:
            return list(entries)
        later = _PARTS | _ORIGINALS
        return [one for one in entries if one.role != SYSTEM or one.column.name not in later]

    def needed_for_rows(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the columns that say where the rows of images lie in their records."""
        return [one for one in entries if one.role == SYSTEM and one.column.name in _PARTS]

    def load(self, entries: Sequence[Entry]) -> None:
        """Read columns that have not been read; PackError unless each has its checksums."""
        with self._lock:
            spans = {
                span: (entry, crc)
                for entry in entries
                for span, crc in _spans(entry)
                if span not in self._read
            }
            for span, content in zip(spans, self._get(list(spans)), strict=True):
                entry, crc = spans[span]
                if checksum(content) != crc:
                    raise PackError(
                        f"{self._path}: column {entry.column.name!r} is damaged: its checksum does "
                        "not match. Upload the file again, or repack."
                    )
                self._read[span] = content

    def open_column(self, entry: Entry) -> ColumnReader:
        """Return the reader of a column, which is read now if it has not been."""
        self.load([entry])
        return open_column(self.stored, entry, self._path)

    def stored(self, offset: int, size: int) -> Bytes:
        """Return bytes of the index as they are; what `load` has not read is asked for."""
        found = self._read.get((offset, offset + size))
        return self._get([(offset, offset + size)])[0] if found is None else found

    def _get(self, spans: list[tuple[int, int]]) -> list[Bytes]:
        """Return bytes from the end that is there, from the cache, or from the store."""
        first = self._remote.size - len(self.end)
        found: dict[tuple[int, int], Bytes] = {}
        for begin, stop in spans:
            if begin >= first or begin == stop:
                found[begin, stop] = self.end[max(0, begin - first) :][: stop - begin]
            elif self._cache is not None:
                kept = self._cache.get(self._name(begin, stop), stop - begin)
                if kept is not None:
                    found[begin, stop] = kept
        missing = [span for span in spans if span not in found]
        if missing:
            for span, content in zip(missing, self._remote.read(missing), strict=True):
                if self._cache is not None:
                    self._cache.put(self._name(*span), content)
                found[span] = _in_words(np.frombuffer(content, np.uint8))
        return [found[span] for span in spans]

    def _name(self, begin: int, stop: int) -> str:
        remote = self._remote
        return block_name(remote.address.text, remote.identity, remote.size, "index", begin, stop)


class ColumnsOnDemand(Mapping[str, ColumnReader]):
    """Columns by name, each read when it is first asked for."""

    def __init__(self, entries: Mapping[str, Entry], index: RemoteIndex) -> None:
        self._entries, self._index = entries, index
        self._opened: dict[str, ColumnReader] = {}

    def __getitem__(self, name: str) -> ColumnReader:
        found = self._opened.get(name)
        if found is None:
            found = self._opened.setdefault(name, self._index.open_column(self._entries[name]))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _spans(entry: Entry) -> list[tuple[tuple[int, int], int]]:
    """Return the bytes of a column, begin and end, with their checksums."""
    places = (
        (entry.offset, entry.size, entry.crc),
        (entry.values_offset, entry.values_bytes, entry.values_crc),
    )
    return [((offset, offset + size), crc) for offset, size, crc in places]


def _in_words(content: Bytes) -> Bytes:
    """Return the same bytes where they can be looked at as words."""
    return content if content.ctypes.data % _WORD_BYTES == 0 else content.copy()
