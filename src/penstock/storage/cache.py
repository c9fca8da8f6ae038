"""A cache of blocks on a disk: named by their object, and checked before they are used."""

from __future__ import annotations

import errno
import hashlib
import os
import struct
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from penstock._core import checksum
from penstock.printable import printable
from penstock.storage.cache_folder import BLOCK_MAGIC, CacheFolder
from penstock.storage.cache_maps import MappedBlock, MappedBlocks, note_use
from penstock.storage.counts import Counter

_HEAD = struct.Struct("<8sQI20s")  # magic, bytes, checksum, name
SPARE_BYTES = 64  # readable after a block, for decoders that look a little ahead


class CachedPart(NamedTuple):
    """A part of a block, with a checksum of its own."""

    name: str
    block_bytes: int
    start: int
    size: int
    crc: int


class BlockCache:
    """Blocks of objects, by name. Damage is found and counted; a disk that refuses ends caching."""

    def __init__(self, parent: str, limit: int, counter: Counter | None = None) -> None:
        self._folder = CacheFolder(parent, limit)
        self._maps = MappedBlocks()
        self._counter = counter or Counter()
        self._refused = False

    @property
    def path(self) -> str:
        """The folder that the blocks are in."""
        return self._folder.path

    @property
    def limit(self) -> int:
        """The most bytes that its files ever take."""
        return self._folder.limit

    def get(
        self, name: str, size: int | None = None, crc: int | None = None
    ) -> npt.NDArray[np.uint8] | None:
        """Return a block, followed in memory by spare bytes; None if it is not there or damaged."""
        try:
            file = os.open(
                self._folder.place(f"{name}.block"), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
            )
        except OSError:
            self._counter.add(cache_misses=1)
            return None
        try:
            found = _read_block(file, name, size, crc)
            if found is not None:
                note_use(file)
        except OSError:
            found = None
        finally:
            os.close(file)
        if found is None:
            self._counter.add(cache_damaged=1, cache_misses=1)
            self._folder.remove(name)
            return None
        self._counter.add(cache_hits=1, cache_bytes_read=len(found))
        return found

    def lend(self, wanted: Sequence[CachedPart]) -> list[MappedBlock | None]:
        """Return the mapped block of each part, which is checked; None where there is none.

        Nothing is copied, so whoever reads there asks `check_lent` afterwards. Spare bytes follow
        each part. Each that is there counts as a hit; what is not there counts when the block is
        asked for.
        """
        self._maps.drop_removed()
        found = self._maps.get([one.name for one in wanted])
        mapped: dict[str, MappedBlock | None] = {}  # only now
        bytes_read = 0
        for row, (one, block) in enumerate(zip(wanted, found, strict=True)):
            if block is None or block.right.get(one.start) != (one.size, one.crc):
                block = self._look(one, block or mapped.get(one.name))  # noqa: PLW2901
                found[row] = mapped[one.name] = block
            if block is not None:
                bytes_read += one.size
        hits = len(found) - found.count(None)
        self._counter.add(cache_hits=hits, cache_bytes_read=bytes_read)
        return found

    def _look(self, wanted: CachedPart, block: MappedBlock | None) -> MappedBlock | None:
        """Return the block of a part, which nobody has checked yet, if the part is right."""
        name, block_bytes, start, size, crc = wanted
        path = self._folder.place(f"{name}.block")
        try:
            block = block or self._map(path, name, block_bytes)
        except FileNotFoundError:
            return None
        except OSError:
            block = None
        fits = start + size <= block_bytes
        if block is not None and fits and checksum(block.part(start, size)) == crc:
            block.right[start] = size, crc
            return block
        self._counter.add(cache_damaged=1)
        self._maps.drop(name)
        self._folder.remove(name)
        return None

    def _map(self, path: str, name: str, block_bytes: int) -> MappedBlock | None:
        """Map a block; None if it is not all there."""
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            told = _read_head(file, name)
            if told is None or told[0] != block_bytes:
                return None
            note_use(file)
            return self._maps.add(name, path, file, _HEAD.size, SPARE_BYTES)
        finally:
            os.close(file)

    def put(self, name: str, content: memoryview, crc: int | None = None) -> None:
        """Keep a block, if there is room; no error if not."""
        if self._refused:
            self._counter.add(cache_not_kept=1)
            return
        crc = checksum(content) if crc is None else crc
        head = _HEAD.pack(BLOCK_MAGIC, len(content), crc, bytes.fromhex(name))
        size = len(head) + len(content)
        try:
            reserved = self._folder.reserve(name, size)
            if reserved is None:
                self._counter.add(cache_not_kept=1)
                return
            try:
                _write_all(reserved.file, head, content)
                self._folder.commit(reserved)
            except BaseException:
                self._folder.give_up(reserved)
                raise
            finally:
                os.close(reserved.file)
        except OSError as error:
            self._counter.add(cache_not_kept=1)
            self._stop(error)

    def _stop(self, error: OSError) -> None:
        """Go on without keeping more; what is there is still read."""
        if self._refused:
            return
        self._refused = True
        full = "its disk is full" if error.errno in {errno.ENOSPC, errno.EDQUOT} else str(error)
        warnings.warn(
            f"cache={printable(self._folder.path)!r}: nothing more is kept there, for {full}. "
            "Batches are right, but are read from the store again. Free space, or lower "
            "cache_limit.",
            stacklevel=2,
        )


def block_name(*parts: object) -> str:
    """Return the name of a block: of which object, and which part of it."""
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:40]


def _read_block(
    file: int, name: str, size: int | None, crc: int | None
) -> npt.NDArray[np.uint8] | None:
    told = _read_head(file, name)
    if told is None:
        return None
    length, stored_crc = told
    if (size is not None and size != length) or (crc is not None and crc != stored_crc):
        return None
    content = _read_bytes(file, _HEAD.size, length)
    return content if content is not None and checksum(content) == stored_crc else None


def _read_head(file: int, name: str) -> tuple[int, int] | None:
    """Return length and checksum of a block; None if this is not all of one."""
    head = os.read(file, _HEAD.size)
    if len(head) != _HEAD.size:
        return None
    magic, length, crc, stored_name = _HEAD.unpack(head)
    there = os.fstat(file).st_size - _HEAD.size
    if magic != BLOCK_MAGIC or stored_name.hex() != name or length != there:
        return None
    return length, crc


def _read_bytes(file: int, start: int, size: int) -> npt.NDArray[np.uint8] | None:
    memory = np.empty(size + SPARE_BYTES, dtype=np.uint8)
    memory[size:] = 0
    view, done = memory.data, 0
    while done < size:
        got = os.preadv(file, [view[done:size]], start + done)
        if not got:
            return None
        done += got
    content: npt.NDArray[np.uint8] = memory[:size]
    return content


def _write_all(file: int, head: bytes, content: memoryview) -> None:
    for piece in (memoryview(head), content):
        done = 0
        while done < len(piece):
            done += os.write(file, piece[done:])
