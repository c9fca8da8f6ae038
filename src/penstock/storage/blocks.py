"""The blocks of an object: from memory, from the cache, or from the store; each checked once.

Threads that want the same block at the same time share one request.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from penstock._core import checksum
from penstock.errors import StorageError
from penstock.storage.cache import SPARE_BYTES, BlockCache, CachedPart, block_name
from penstock.storage.remote_object import RemoteObject

Bytes = npt.NDArray[np.uint8]
_Key = tuple[int, int]  # the object, and the number of its block
_WAIT_S = 0.25


class Piece(NamedTuple):
    """A part of a block, with a checksum of its own."""

    number: int  # of the block
    start: int  # in the block
    size: int
    crc: int


class BlockMemory:
    """Blocks in memory, of all objects that share it: up to `limit` bytes of those used last.

    What a caller holds is his, and is not counted.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.lock = threading.Lock()
        self.held: OrderedDict[_Key, Future[Bytes]] = OrderedDict()
        self._held_bytes = 0
        self._owners = count()

    def new_owner(self) -> int:
        """Return a number for an object whose blocks come here."""
        return next(self._owners)

    def forget(self) -> None:
        """Let go of all blocks that nobody loads at the moment."""
        with self.lock:
            for key, future in list(self.held.items()):
                if future.done():
                    del self.held[key]
            self._held_bytes = 0

    def settle(self, loaded: dict[_Key, Future[Bytes]]) -> None:
        """Count blocks that were loaded, forget those that were not, and make room."""
        with self.lock:
            for key, future in loaded.items():
                if future.done():
                    self._held_bytes += len(future.result())
                else:
                    del self.held[key]
                    future.set_exception(_NotLoadedError())
            for key, future in list(self.held.items()):
                if self._held_bytes <= self.limit:
                    return
                if future.done():
                    del self.held[key]
                    self._held_bytes -= len(future.result())


class Blocks:
    """Blocks number 0, 1, ...: where each lies in the object, and its checksum."""

    def __init__(
        self,
        remote: RemoteObject,
        table: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]],
        called: Callable[[int], str],
        cache: BlockCache | None,
        memory: BlockMemory,
    ) -> None:
        self._remote = remote
        self._offsets, self._sizes, self._crcs = table
        self._called = called  # what a block is, for errors
        self._cache = cache
        self._memory = memory
        self._owner = memory.new_owner()
        self._names: dict[int, str] = {}  # in the cache

    def held(self, number: int) -> Bytes | None:
        """Return a block that is in memory, or None."""
        key, memory = (self._owner, number), self._memory
        with memory.lock:
            future = memory.held.get(key)
            if future is None or not future.done() or future.exception() is not None:
                return None
            memory.held.move_to_end(key)
            return future.result()

    def pieces(self, wanted: Sequence[Piece]) -> list[Bytes | None]:
        """Return parts of blocks, each of one that is in memory or in the cache, or else None."""
        whole: list[Bytes | None] = [self.held(one.number) for one in wanted]
        found = [
            None if block is None else block[one.start : one.start + one.size]
            for one, block in zip(wanted, whole, strict=True)
        ]
        if self._cache is None:
            return found
        memory, owner = self._memory, self._owner
        with memory.lock:  # what is there and not found is being loaded by somebody
            rows = [
                row
                for row, one in enumerate(wanted)
                if found[row] is None and (owner, one.number) not in memory.held
            ]
        asked = [
            CachedPart(
                self._name(one.number), int(self._sizes[one.number]), one.start, one.size, one.crc
            )
            for one in (wanted[row] for row in rows)
        ]
        for row, piece in zip(rows, self._cache.get_parts(asked), strict=True):
            found[row] = piece
        return found

    def load(self, numbers: Sequence[int], check: Callable[[], None] | None) -> list[Bytes]:
        """Return these blocks, each followed in memory by spare bytes.

        `check` is called now and then while it waits, and may raise.
        """
        while True:
            mine, wanted = self._claim(numbers)
            if mine:
                self._load(mine, check)
            found = [self._await(future, check) for future in wanted]
            if all(one is not None for one in found):
                return [one for one in found if one is not None]

    def _claim(
        self, numbers: Sequence[int]
    ) -> tuple[dict[int, Future[Bytes]], list[Future[Bytes]]]:
        """Find who has or loads each block; those that nobody does are ours to load."""
        mine: dict[int, Future[Bytes]] = {}
        wanted: list[Future[Bytes]] = []
        memory = self._memory
        with memory.lock:
            for number in numbers:
                key = (self._owner, number)
                future = memory.held.get(key)
                if future is None:
                    future = mine[number] = memory.held[key] = Future()
                else:
                    memory.held.move_to_end(key)
                wanted.append(future)
        return mine, wanted

    @staticmethod
    def _await(future: Future[Bytes], check: Callable[[], None] | None) -> Bytes | None:
        """Wait for a block that somebody loads; None if he failed, perhaps by his own fault."""
        while True:
            try:
                return future.result(timeout=_WAIT_S)
            except FutureTimeoutError:
                if check is not None:
                    check()
            except _NotLoadedError:
                return None

    def _load(self, mine: dict[int, Future[Bytes]], check: Callable[[], None] | None) -> None:
        try:
            missing = []
            for number, future in mine.items():
                found = self._from_cache(number)
                if found is None:
                    missing.append(number)
                else:
                    future.set_result(found)
            if missing:
                for number, content in zip(missing, self._read(missing, check), strict=True):
                    mine[number].set_result(content)
        finally:
            owner = self._owner
            self._memory.settle({(owner, number): future for number, future in mine.items()})

    def _from_cache(self, number: int) -> Bytes | None:
        if self._cache is None:
            return None
        size, crc = int(self._sizes[number]), int(self._crcs[number])
        return self._cache.get(self._name(number), size, crc)

    def _name(self, number: int) -> str:
        known = self._names.get(number)
        if known is None:
            known = self._names[number] = self._make_name(number)
        return known

    def _make_name(self, number: int) -> str:
        remote = self._remote
        place = int(self._offsets[number]), int(self._sizes[number])
        return block_name(remote.address.text, remote.identity, remote.size, *place)

    def _read(self, numbers: list[int], check: Callable[[], None] | None) -> list[Bytes]:
        """Read blocks from the store; one whose checksum is wrong is read a second time."""
        found = self._ask(numbers, check)
        wrong = [
            row for row, number in enumerate(numbers) if not self._is_right(number, found[row])
        ]
        if wrong:
            self._remote.counter.add(retries=len(wrong))
            for row, content in zip(
                wrong, self._ask([numbers[row] for row in wrong], check), strict=True
            ):
                found[row] = content
        for row in wrong:
            number = numbers[row]
            if not self._is_right(number, found[row]):
                start = int(self._offsets[number])
                end = start + int(self._sizes[number])
                raise wrong_checksum(self._remote, self._called(number), start, end)
        if self._cache is not None:
            for number, content in zip(numbers, found, strict=True):
                crc = int(self._crcs[number])
                self._cache.put(self._name(number), content.data, crc)
        return found

    def _ask(self, numbers: list[int], check: Callable[[], None] | None) -> list[Bytes]:
        size, ranges = self._remote.size, []
        for number in numbers:
            start = int(self._offsets[number])
            # Decoders may look a little ahead of what they use.
            ranges.append((start, min(start + int(self._sizes[number]) + SPARE_BYTES, size)))
        read = self._remote.read(ranges, check)
        return [
            np.frombuffer(content, np.uint8)[: int(self._sizes[number])]
            for number, content in zip(numbers, read, strict=True)
        ]

    def _is_right(self, number: int, content: Bytes) -> bool:
        return checksum(content) == int(self._crcs[number])


def wrong_checksum(remote: RemoteObject, what: str, start: int, end: int) -> StorageError:
    """Return the error for bytes that are not what the index says."""
    return StorageError(
        f"{remote.address}: {what}, bytes {start:,} to {end:,}: its checksum does not match, also "
        "when read a second time. The object is damaged, or was replaced: upload it again."
    )


class _NotLoadedError(Exception):
    """Whoever wanted to load a block did not: others try for themselves."""
