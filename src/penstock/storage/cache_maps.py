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

import numpy as np
import numpy.typing as npt

from penstock._core import MappedFile, file_states
from penstock.errors import StorageError
from penstock.printable import printable

Bytes = npt.NDArray[np.uint8]

_GONE, _CHANGED = 1, 2  # of `file_states`
_MOST = 16_384  # of at most two mappings each; the kernel allows four times as many
_LOOK_S = 5.0
_NOTED_S = 60.0  # near enough for what goes first


@dataclass(slots=True, eq=False)
class MappedBlock:
    """A file of the cache; `right` has the parts that were checked, by where they begin."""

    path: str
    file: MappedFile
    head_bytes: int
    address: int  # of what follows the head
    noted_s: float = 0.0  # when its use was noted last
    right: dict[int, tuple[int, int]] = field(default_factory=dict)  # size, checksum

    def part(self, start: int, size: int) -> Bytes:
        """Return a part of the block, which is not copied."""
        begin = self.head_bytes + start
        part: Bytes = self.file.bytes[begin : begin + size]
        return part


def check_lent(blocks: Iterable[MappedBlock]) -> None:
    """Raise if one of these blocks was written to since its parts were checked."""
    asked = list(set(blocks))
    for block, state in zip(asked, file_states([block.file for block in asked]), strict=True):
        if state == _CHANGED:
            raise StorageError(
                f"{printable(block.path)}: somebody wrote to this file of the cache while a batch "
                "was made of it. The batch was thrown away. Go on from the last checkpoint, and "
                "let nobody but penstock write there."
            )


class MappedBlocks:
    """The blocks that this process has mapped, by name: as many as the kernel has room for."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._held: OrderedDict[str, MappedBlock] = OrderedDict()
        self._now_s = self._looked_s = time.monotonic()

    def get(self, names: Iterable[str]) -> list[MappedBlock | None]:
        """Return blocks that are mapped and still in their place, unchanged; None for others."""
        held = self._held
        with self._lock:
            found = [held.get(name) for name in names]
            there = {block: name for block, name in zip(found, names, strict=True) if block}
            for name in there.values():
                held.move_to_end(name)
        now_s = self._now_s
        others = set()
        states = file_states([block.file for block in there])
        for (block, name), state in zip(there.items(), states, strict=True):
            if state:
                others.add(block)
                self.drop(name)
            elif now_s - block.noted_s > _NOTED_S:
                block.noted_s = now_s
                note_use(block.path)
        return [None if block in others else block for block in found] if others else found

    def add(
        self, name: str, path: str, descriptor: int, head_bytes: int, spare_bytes: int
    ) -> MappedBlock:
        """Map a file, which may be closed afterwards; `spare_bytes` behind it can be read."""
        file = MappedFile(
            descriptor, keep_open=False, spare_bytes=spare_bytes, path=os.fsencode(path)
        )
        block = MappedBlock(path, file, head_bytes, file.address + head_bytes)
        with self._lock:
            self._held[name] = block
            self._held.move_to_end(name)
            while len(self._held) > self._most:
                self._held.popitem(last=False)
        return block

    def drop(self, name: str) -> None:
        """Forget a block."""
        with self._lock:
            self._held.pop(name, None)

    def drop_removed(self) -> None:
        """Forget blocks that somebody has removed; to be called often, for it looks seldom."""
        self._now_s = time.monotonic()
        if self._now_s - self._looked_s < _LOOK_S:
            return
        with self._lock:
            self._looked_s = self._now_s
            held = list(self._held.items())
        states = file_states([block.file for _, block in held])
        for (name, _), state in zip(held, states, strict=True):
            if state == _GONE:
                self.drop(name)


def note_use(file: str | int) -> None:
    """Set the time at which a block was used, for those used longest ago go first."""
    with suppress(OSError):
        status = os.stat(file)
        if time.time() - status.st_atime > _NOTED_S:
            os.utime(file, ns=(time.time_ns(), status.st_mtime_ns))
