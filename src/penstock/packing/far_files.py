"""Image files in a store, on their way into a packed file: fetched ahead of their turn.

Which object is meant was settled when the folder was listed: every request says so, and one that
was replaced since is an error.
"""

from __future__ import annotations

import hashlib
import struct
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.errors import DecodeError
from penstock.limits import beyond, how_to_allow
from penstock.storage.backend import Stat
from penstock.storage.folder import RemoteFolder

if TYPE_CHECKING:
    from penstock.packing.items import PackItem

AHEAD_BYTES = 64 << 20
_STAMPS = struct.Struct("<qq")


@dataclass(frozen=True, slots=True)
class FarFile:
    """An object that is an image file; `future` has its bytes if they are on their way."""

    folder: RemoteFolder
    name: str  # below the folder
    stat: Stat
    future: Future[bytes] | None = None

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.stat.size

    @property
    def stamps(self) -> tuple[int, int]:
        """Two numbers that change when the object does, as the times of a file."""
        digest = hashlib.blake2b(self.stat.identity.encode(), digest_size=_STAMPS.size).digest()
        first, second = _STAMPS.unpack(digest)
        return first, second

    def started(self) -> FarFile:
        """Return the same file, on its way; one that is too large stays where it is."""
        if beyond("record_bytes", self.size):
            return self
        return replace(self, future=self.folder.submit(self.name, self.stat))

    def read(self) -> bytes:
        """Return its bytes; DecodeError if it is too large, StorageError if they do not come."""
        if beyond("record_bytes", self.size):
            allow = how_to_allow("record_bytes", self.size)
            raise DecodeError(f"it has {self.size:,} bytes. {allow}")
        if self.future is None:
            return self.folder.read(self.name, self.stat)
        return self.folder.wait(self.name, self.future)


def fetched_ahead(items: Iterable[PackItem]) -> Iterator[PackItem]:
    """Yield items as they come, while the files in stores of those after them are fetched."""
    waiting: deque[PackItem] = deque()
    held = 0
    try:
        for item in items:
            if not isinstance(item.data, FarFile):
                yield item
                continue
            waiting.append(replace(item, data=item.data.started()))
            held += item.data.size
            most = item.data.folder.options.in_flight
            while len(waiting) > most or (held > AHEAD_BYTES and len(waiting) > 1):
                held -= _size(waiting[0])
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        for item in waiting:
            if isinstance(item.data, FarFile) and item.data.future is not None:
                item.data.future.cancel()


def _size(item: PackItem) -> int:
    return item.data.size if isinstance(item.data, FarFile) else 0
