"""Blocks of a cache that are read where they lie: mapped, so that nothing is copied.

A part of a block is checked when it is first used. After that it is right until somebody writes to
the file, which its time of change tells, or cuts it short, which cpp/base/map_guard.h notices: so
whoever has used parts asks `check_lent` before he relies on what he made of them.

A block that another process has removed takes its space on the disk as long as it is mapped, so
those are looked for every few seconds.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import MappedFile
from penstock.errors import StorageError
from penstock.printable import printable

Bytes = npt.NDArray[np.uint8]
Stamp = tuple[int, int, int]  # of a file: which one, its size, and when it was written to

_PAGE_BYTES = 4096  # or a multiple of it
_MOST = 16_384  # the kernel allows four times as many mappings
_LOOK_S = 5.0
_NOTED_S = 60.0  # near enough for what goes first


class LentBytes(np.ndarray[Any, Any]):
    """A part of a mapped block, or a copy of one, which knows the block."""

    block: MappedBlock


@dataclass(slots=True, eq=False)
class MappedBlock:
    """A file of the cache; `right` has the parts that were checked, by where they begin."""

    path: str
    file: MappedFile
    stamp: Stamp
    head_bytes: int
    noted_s: float = 0.0  # when its use was noted last
    right: dict[int, tuple[int, int]] = field(default_factory=dict)  # size, checksum

    def part(self, start: int, size: int, spare_bytes: int) -> Bytes:
        """Return a part of the block; `spare_bytes` after it can be read as well."""
        whole = self.file.bytes
        begin = self.head_bytes + start
        end = begin + size
        part: Bytes = whole[begin:end]
        if end + spare_bytes > -(-len(whole) // _PAGE_BYTES) * _PAGE_BYTES:
            copied = np.zeros(size + spare_bytes, np.uint8)
            copied[:size] = part
            part = copied[:size]
        lent = part.view(LentBytes)
        lent.block = self
        return lent

    def is_as_it_was(self) -> bool:
        """Whether nobody has written to the file; one that was removed stays as it was."""
        now = stamp_of(self.path)
        return not self.file.lost and (now is None or now[0] != self.stamp[0] or now == self.stamp)


def check_lent(parts: Iterable[Bytes]) -> None:
    """Raise if a mapped block was written to since these parts of blocks were checked."""
    for block in {part.block for part in parts if isinstance(part, LentBytes)}:
        if not block.is_as_it_was():
            raise StorageError(
                f"{printable(block.path)}: somebody wrote to this file of the cache while a batch "
                "was made of it. The batch was thrown away. Go on from the last checkpoint, and "
                "let nobody but penstock write there."
            )


class MappedBlocks:
    """The blocks that this process has mapped, by path: as many as the kernel has room for."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._held: OrderedDict[str, MappedBlock] = OrderedDict()
        self._now_s = self._looked_s = time.monotonic()

    def get(self, path: str) -> MappedBlock | None:
        """Return a block that is mapped and still the file of this path, unchanged; else None."""
        with self._lock:
            found = self._held.get(path)
            if found is None:
                return None
            if found.file.lost or stamp_of(path) != found.stamp:
                del self._held[path]
                return None
            self._held.move_to_end(path)
        if self._now_s - found.noted_s > _NOTED_S:
            found.noted_s = self._now_s
            note_use(path)
        return found

    def add(self, path: str, descriptor: int, head_bytes: int) -> MappedBlock:
        """Map a file, which may be closed afterwards."""
        stamp = _stamp(os.fstat(descriptor))
        block = MappedBlock(path, MappedFile(descriptor, keep_open=False), stamp, head_bytes)
        with self._lock:
            self._held[path] = block
            self._held.move_to_end(path)
            while len(self._held) > self._most:
                self._held.popitem(last=False)
        return block

    def drop(self, path: str) -> None:
        """Forget a block."""
        with self._lock:
            self._held.pop(path, None)

    def drop_removed(self) -> None:
        """Forget blocks that somebody has removed; to be called often, for it looks seldom."""
        self._now_s = time.monotonic()
        if self._now_s - self._looked_s < _LOOK_S:
            return
        with self._lock:
            self._looked_s = self._now_s
            for path, block in list(self._held.items()):
                there = stamp_of(path)
                if there is None or there[0] != block.stamp[0]:
                    del self._held[path]


def note_use(file: str | int) -> None:
    """Set the time at which a block was used, for those used longest ago go first."""
    with suppress(OSError):
        status = os.stat(file)
        if time.time() - status.st_atime > _NOTED_S:
            os.utime(file, ns=(time.time_ns(), status.st_mtime_ns))


def stamp_of(path: str) -> Stamp | None:
    """Return what tells whether a file was changed; None if it is gone."""
    try:
        return _stamp(os.stat(path, follow_symlinks=False))
    except OSError:
        return None


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns
