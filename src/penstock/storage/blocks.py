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
from penstock.storage.lent import Lent, address_of
from penstock.storage.remote_object import RemoteObject

Bytes = npt.NDArray[np.uint8]
_Key = tuple[int, int]  # the object, and the number of its block
_WAIT_S = 0.25
_BLOCKS_AT_ONCE = 8  # of one thread that needs a record of each, so that memory stays small


class Pieces(NamedTuple):
    """Parts of blocks, each with a checksum of its own, in columns."""

    numbers: list[int]  # of the blocks
    starts: list[int]  # in the blocks
    sizes: list[int]
    crcs: list[int]

    def pick(self, rows: Sequence[int]) -> Pieces:
        """Return some of them."""
        return Pieces(*([column[row] for row in rows] for column in self))


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

    def piece(self, number: int, start: int, size: int, crc: int) -> Bytes | None:
        """Return a part of a block that is in memory, or a copy of one in the cache, or None."""
        block = self.held(number)
        if block is not None:
            return block[start : start + size]
        lent = Lent(np.zeros(1, np.int64))
        self._lend_cached(Pieces([number], [start], [size], [crc]), [0], lent)
        if not lent.mapped:
            return None
        copied = copy_with_spare(lent.mapped[0].part(start, size))
        return copied if checksum(copied) == crc else None

    def lend(self, wanted: Pieces, check: Callable[[], None] | None, *, keeps: bool) -> Lent:
        """Return parts of blocks; blocks that are neither in memory nor in the cache are loaded.

        With `keeps`, parts of these refer to their blocks' memory; else they are copied.
        """
        lent = Lent(np.zeros(len(wanted.numbers), np.int64))
        missing = self._lend_held(wanted, lent)
        if missing and self._cache is not None:
            missing = self._lend_cached(wanted, missing, lent)
        if missing:
            self._lend_loaded(wanted, missing, lent, check, keeps=keeps)
        return lent

    def _lend_held(self, wanted: Pieces, lent: Lent) -> list[int]:
        """Lend parts of blocks in memory, and return the rows of the others."""
        memory, owner = self._memory, self._owner
        found: dict[int, Future[Bytes] | None] = {}
        with memory.lock:
            for number in wanted.numbers:
                if number not in found:
                    key = (owner, number)
                    found[number] = memory.held.get(key)
                    if found[number] is not None:
                        memory.held.move_to_end(key)
        bases: dict[int, int] = {}
        for number, future in found.items():
            if future is not None and future.done() and future.exception() is None:
                block = future.result()
                lent.memory.append(block)
                bases[number] = address_of(block)
        if not bases:
            return list(range(len(wanted.numbers)))
        missing = []
        for row, (number, start) in enumerate(zip(wanted.numbers, wanted.starts, strict=True)):
            if number in bases:
                lent.addresses[row] = bases[number] + start
            else:
                missing.append(row)
        return missing

    def _lend_cached(self, wanted: Pieces, rows: list[int], lent: Lent) -> list[int]:
        """Lend those of some rows whose blocks are in the cache, and return the other rows."""
        if self._cache is None:
            return rows
        some = wanted if len(rows) == len(wanted.numbers) else wanted.pick(rows)
        numbers, starts, sizes, crcs = some
        names = [self._name(number) for number in numbers]
        block_sizes = self._sizes[numbers].tolist()
        asked = list(map(CachedPart, names, block_sizes, starts, sizes, crcs))
        blocks = self._cache.lend(asked)
        lent.addresses[rows] = [
            0 if block is None else block.address + start
            for block, start in zip(blocks, starts, strict=True)
        ]
        lent.mapped += [block for block in blocks if block is not None]
        return [row for row, block in zip(rows, blocks, strict=True) if block is None]

    def _lend_loaded(
        self,
        wanted: Pieces,
        rows: list[int],
        lent: Lent,
        check: Callable[[], None] | None,
        *,
        keeps: bool,
    ) -> None:
        """Load the blocks of some rows, and lend these."""
        numbers = sorted({wanted.numbers[row] for row in rows})
        at_once = len(numbers) if keeps else _BLOCKS_AT_ONCE
        for begin in range(0, len(numbers), at_once):
            some = numbers[begin : begin + at_once]
            blocks = dict(zip(some, self.load(some, check), strict=True))
            if keeps:
                lent.memory += blocks.values()
            for row in rows:
                block = blocks.get(wanted.numbers[row])
                if block is None:
                    continue
                start = wanted.starts[row]
                if keeps:
                    lent.addresses[row] = address_of(block) + start
                else:
                    piece = copy_with_spare(block[start : start + wanted.sizes[row]])
                    lent.memory.append(piece)
                    lent.addresses[row] = address_of(piece)

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


def copy_with_spare(piece: Bytes) -> Bytes:
    """Return a copy, followed in memory by bytes that decoders may look at."""
    copied = np.zeros(len(piece) + SPARE_BYTES, dtype=np.uint8)
    copied[: len(piece)] = piece
    content: Bytes = copied[: len(piece)]
    return content


def wrong_checksum(remote: RemoteObject, what: str, start: int, end: int) -> StorageError:
    """Return the error for bytes that are not what the index says."""
    return StorageError(
        f"{remote.address}: {what}, bytes {start:,} to {end:,}: its checksum does not match, also "
        "when read a second time. The object is damaged, or was replaced: upload it again."
    )


class _NotLoadedError(Exception):
    """Whoever wanted to load a block did not: others try for themselves."""
