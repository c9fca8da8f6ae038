"""An object that is read by ranges: retried, bounded in time, and always the same object."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

from penstock.errors import StorageError
from penstock.storage.address import Address
from penstock.storage.backend import Backend, ChangedError, PassingError, Stat, open_backend
from penstock.storage.counts import Counter
from penstock.storage.io_thread import io_thread
from penstock.storage.options import StorageOptions
from penstock.storage.persist import Persistence, all_or_none
from penstock.storage.ranges import Joined, Range, cut_range, join_ranges
from penstock.storage.speed import Speed

ResultT = TypeVar("ResultT")

AT_FULL_RATE = 8  # requests at the same time that bring as much as the network can


class RemoteObject:
    """One object of a store, opened once: its size and identity stay what they were then.

    Any thread may read. Copies that are unpickled elsewhere open it there when they first read, and
    raise StorageError if it is another object by then.
    """

    def __init__(
        self,
        address: Address,
        options: StorageOptions | None = None,
        counter: Counter | None = None,
    ) -> None:
        self.address = address
        self.options = options or StorageOptions()
        self.counter = counter or Counter()
        self.speed = Speed()
        self._persistence = Persistence(address, self.options, self.counter)
        self._stat: Stat | None = None
        self._backend: Backend | None = None
        self._owner = 0  # the process that the backend belongs to

    @property
    def size(self) -> int:
        """Bytes of the object."""
        return self._known().size

    @property
    def identity(self) -> str:
        """What tells it from another object at the same address, as the store has it."""
        return self._known().identity

    def open_end(self, count: int) -> memoryview:
        """Open it, and return up to `count` bytes from its end: one request, or two on Azure."""
        content, stat = self._persistence.wait(io_thread().submit(self._open_end(count)))
        if self._stat is not None and stat != self._stat:
            raise self._changed("its size or etag differs")
        self._stat = stat
        return content

    def submit(
        self, ranges: Sequence[Range], gap_bytes: int | None = None
    ) -> Future[list[memoryview]]:
        """Start to read ranges, near ones together; the future has the bytes of each.

        How near is that of the options, unless `gap_bytes` is given.
        """
        size = self.size
        for start, end in ranges:
            if not 0 <= start <= end <= size:
                raise StorageError(
                    f"{self.address}: bytes {start:,} to {end:,} of {size:,} were asked for."
                )
        gap = self.options.gap_bytes if gap_bytes is None else gap_bytes
        return io_thread().submit(self._read_all(ranges, gap))

    def read(
        self,
        ranges: Sequence[Range],
        check: Callable[[], None] | None = None,
        gap_bytes: int | None = None,
    ) -> list[memoryview]:
        """Read ranges; `check` is called now and then while it waits, and may raise.

        With a negative `gap_bytes`, each range is a request of its own.
        """
        return self._persistence.wait(self.submit(ranges, gap_bytes), check)

    def worthwhile_gap(self) -> int:
        """Return how many bytes in between are read sooner than a further request is answered.

        Many requests wait at the same time, and a few of them take all of the bandwidth.
        """
        latency, rate = self.speed.latency_s() or 0.0, self.speed.bytes_per_s() or 0.0
        measured = int(latency * rate * AT_FULL_RATE / self.options.in_flight)
        return min(max(measured, self.options.gap_bytes), self.options.most_bytes)

    def wait(self, future: Future[ResultT], check: Callable[[], None] | None = None) -> ResultT:
        """Wait for what `submit` began, and count how long that took."""
        return self._persistence.wait(future, check)

    def _known(self) -> Stat:
        if self._stat is None:
            self.open_end(0)
        assert self._stat is not None  # noqa: S101  as it was opened
        return self._stat

    async def _open_end(self, count: int) -> tuple[memoryview, Stat]:
        what = f"the last {count:,} bytes"
        if count and self.address.has_suffixes:
            return await self._persist(lambda backend: backend.last_bytes(count), what, count)
        stat = await self._persist(lambda backend: backend.stat(), "size and etag", 0)
        begin = max(0, stat.size - count)
        return await self._read_piece(begin, stat.size, stat), stat

    async def _read_all(self, ranges: Sequence[Range], gap_bytes: int) -> list[memoryview]:
        stat, options = self._known(), self.options
        found: list[memoryview] = [memoryview(b"")] * len(ranges)

        async def read_one(joined: Joined) -> None:
            content = await self._read_range(joined.start, joined.end, stat)
            for member in joined.members:
                start, end = ranges[member]
                found[member] = content[start - joined.start : end - joined.start]

        joined = join_ranges(ranges, gap_bytes, options.most_bytes)
        await all_or_none([read_one(one) for one in joined])
        return found

    async def _read_range(self, start: int, end: int, stat: Stat) -> memoryview:
        pieces = cut_range(start, end, self.options.most_bytes)
        if len(pieces) == 1:
            return await self._read_piece(start, end, stat)
        content = bytearray(end - start)

        async def read_into(piece: Range) -> None:
            got = await self._read_piece(*piece, stat)
            content[piece[0] - start : piece[1] - start] = got

        await all_or_none([read_into(piece) for piece in pieces])
        return memoryview(content)

    async def _read_piece(self, start: int, end: int, stat: Stat) -> memoryview:
        if start == end:
            return memoryview(b"")

        async def read(backend: Backend) -> memoryview:
            content = await backend.read(start, end, stat)
            if len(content) != end - start:
                raise PassingError(f"{len(content):,} of {end - start:,} bytes arrived")
            return content

        return await self._persist(read, f"bytes {start:,} to {end:,}", end - start)

    async def _persist(
        self, ask: Callable[[Backend], Awaitable[ResultT]], what: str, count: int
    ) -> ResultT:
        """Ask until there is an answer; raises if that will never come."""

        async def once(may_take_s: float) -> ResultT:
            del may_take_s  # the backend knows the options
            begin = time.monotonic()
            answer = await ask(self._opened())
            self.speed.note(count, time.monotonic() - begin)
            self.counter.add(bytes_read=count)
            return answer

        try:
            return await self._persistence.ask(once, f"{what} could not be read")
        except ChangedError as error:
            raise self._changed(str(error)) from error

    def _opened(self) -> Backend:
        if self._backend is None or self._owner != os.getpid():
            self._backend, self._owner = open_backend(self.address, self.options), os.getpid()
        return self._backend

    def _changed(self, said: str) -> StorageError:
        return StorageError(
            f"{self.address}: was replaced while it was open ({said}). Nothing of the new object "
            "was used. Open it again; to replace a data set that is in use, give it another name."
        )

    def __getstate__(self) -> tuple[Address, StorageOptions, Stat]:
        return self.address, self.options, self._known()

    def __setstate__(self, state: tuple[Address, StorageOptions, Stat]) -> None:
        self.__init__(state[0], state[1])  # type: ignore[misc]
        self._stat = state[2]
