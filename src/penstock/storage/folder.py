"""A folder of a store: what lies in it, and objects that are added to it.

What is there already is never overwritten: objects are created on condition that there is none.
"""

from __future__ import annotations

import asyncio
import mmap
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from penstock.errors import StorageError
from penstock.storage.address import Address
from penstock.storage.backend import (
    AbsentError,
    ChangedError,
    ExistsError,
    PassingError,
    Stat,
    check_not_forked,
)
from penstock.storage.by_obstore import import_obstore, open_store, stat_of, told
from penstock.storage.counts import Counter
from penstock.storage.io_thread import io_thread
from penstock.storage.options import StorageOptions
from penstock.storage.persist import Persistence, all_or_none
from penstock.storage.ranges import cut_range

_PAGE = 1000  # objects of a list that obstore hands over at a time
_SLOWEST_BYTES_PER_S = 500_000  # of an upload that is not given up
ONE_PUT_BYTES = 256 << 20  # larger objects are uploaded in parts
_PART_BYTES = 32 << 20
_PARTS_AT_ONCE = 4
_WITH_OFFSETS = ("s3", "s3a", "gs")


@dataclass(frozen=True, slots=True)
class Found:
    """An object in a folder: its name below it, with "/"."""

    name: str
    stat: Stat


class RemoteFolder:
    """All objects whose addresses begin with that of a folder. Any thread may use it.

    Copies that are unpickled elsewhere are opened there.
    """

    def __init__(
        self,
        address: Address,
        options: StorageOptions | None = None,
        counter: Counter | None = None,
    ) -> None:
        if not address.by_obstore or address.is_web:
            raise StorageError(
                f"{address}: {address.scheme}:// can be read object by object only. Lists and "
                "writing need s3://, gs:// or az://."
            )
        self.address = Address(address.text.rstrip("/"), address.scheme)
        self.options = options or StorageOptions()
        self.counter = counter or Counter()
        self._store: Any = None
        self._owner = 0  # the process that the store belongs to

    def objects(self, advance: Callable[[int], None] | None = None) -> Iterator[Found]:
        """Yield all objects, however many; `advance` is told how many each page has.

        A page that fails is asked for again, and then those after the last name that is known.
        """
        pages = _Pages(self)
        persistence = self._of("")
        while True:
            work = persistence.ask(pages.next, _unread("its list"), self.options.deadline_s)
            deadline_s = self.options.deadline_s * (1 + self.options.attempts)
            page = persistence.wait(io_thread().submit(work), deadline_s=deadline_s)
            if page is None:
                return
            if advance is not None:
                advance(len(page))
            yield from page

    def level(self) -> list[Found]:
        """Return the objects directly in the folder, without those in folders below it."""
        store = open_store(self.address, self.address.text, self.options, retries=True)

        async def once(_: float) -> list[Found]:
            obstore = import_obstore(self.address)
            try:
                listed = await obstore.list_with_delimiter_async(store)
            except Exception as error:
                raise told(self.address, error) from error
            return [Found(one["path"], stat_of(one)) for one in listed["objects"]]

        check_not_forked("obstore")
        persistence = self._of("")
        return persistence.wait(io_thread().submit(persistence.ask(once, _unread("its list"))))

    def read(self, name: str, stat: Stat | None = None) -> bytes:
        """Return a whole object; with `stat`, the one that it is about, or StorageError."""
        future = self.submit(name, stat or self.stat(name))
        return self._of(name).wait(future)

    def submit(self, name: str, stat: Stat) -> Future[bytes]:
        """Start to read a whole object."""
        return io_thread().submit(self._read_all(name, stat))

    def wait(self, name: str, future: Future[bytes]) -> bytes:
        """Wait for what `submit` began."""
        return self._of(name).wait(future)

    def stat(self, name: str) -> Stat:
        """Return size and identity of an object; AbsentError if it is not there."""

        async def once(_: float) -> Stat:
            return stat_of(await self._call("head_async", name))

        persistence = self._of(name)
        return persistence.wait(io_thread().submit(persistence.ask(once, _unread("its size"))))

    def has_name(self, name: str) -> bool:
        """Whether an object of this name is there."""
        try:
            self.stat(name)
        except AbsentError:
            return False
        return True

    def create(self, name: str, content: bytes) -> None:
        """Put a small object where there is none.

        One that is there already may have this very content; else that is an ExistsError. So an
        answer that was lost on the way does no harm.
        """
        persistence = self._of(name)

        async def once(_: float) -> None:
            await self._call("put_async", name, content, mode="create")

        try:
            persistence.wait(io_thread().submit(persistence.ask(once, _unwritten(len(content)))))
        except ExistsError:
            if self.read(name) != content:
                raise

    def upload(self, name: str, path: str) -> Stat:
        """Put a file where no object is, as `create` does; nobody sees a part of it."""
        size = os.path.getsize(path)
        patience_s = size / _SLOWEST_BYTES_PER_S
        persistence = self._of(name)
        store = open_store(
            self.address, self.address.text, self.options,
            upload_s=self.options.stall_s + patience_s,
        )  # fmt: skip
        with _mapped(path) as content:
            send = self._put if size <= ONE_PUT_BYTES else self._put_in_parts

            async def once(_: float) -> None:
                await send(store, name, content)

            work = persistence.ask(once, _unwritten(size), patience_s)
            deadline_s = self.options.deadline_s + patience_s * self.options.attempts
            try:
                persistence.wait(io_thread().submit(work), deadline_s=deadline_s)
            except ExistsError:
                if not self.has_content(name, content):
                    raise
            return self.stat(name)

    def has_content(self, name: str, content: memoryview) -> bool:
        """Whether an object has this very content: it is read for that."""
        stat = self.stat(name)
        if stat.size != len(content):
            return False
        place = 0
        for piece in self.pieces(name, stat):
            if piece != content[place : place + len(piece)]:
                return False
            place += len(piece)
        return True

    def download(self, name: str, stat: Stat, path: str) -> None:
        """Write an object to a new file."""
        with open(path, "xb") as file:
            file.writelines(self.pieces(name, stat))

    def pieces(self, name: str, stat: Stat) -> Iterator[memoryview]:
        """Yield an object in pieces, from front to back; some are on their way at a time."""
        persistence = self._of(name)
        coming: deque[Future[memoryview]] = deque()
        try:
            for start, end in cut_range(0, stat.size, self.options.most_bytes):
                coming.append(io_thread().submit(self._read_piece(name, stat, start, end)))
                if len(coming) >= _PARTS_AT_ONCE:
                    yield persistence.wait(coming.popleft())
            while coming:
                yield persistence.wait(coming.popleft())
        finally:
            for future in coming:
                future.cancel()

    def delete(self, names: list[str]) -> None:
        """Delete objects; one that is gone already is as good as deleted."""

        async def one(name: str) -> None:
            async def once(_: float) -> None:
                with suppress(AbsentError):
                    await self._call("delete_async", name)

            await self._of(name).ask(once, "it could not be deleted")

        async def every() -> None:
            await all_or_none([one(name) for name in names])

        allowed_s = self.options.deadline_s * (1 + len(names) / self.options.in_flight)
        self._of("").wait(io_thread().submit(every()), deadline_s=allowed_s)

    async def _read_all(self, name: str, stat: Stat) -> bytes:
        pieces = cut_range(0, stat.size, self.options.most_bytes)
        if len(pieces) <= 1:
            return bytes(await self._read_piece(name, stat, 0, stat.size))
        content = bytearray(stat.size)

        async def read_into(start: int, end: int) -> None:
            content[start:end] = await self._read_piece(name, stat, start, end)

        await all_or_none([read_into(*piece) for piece in pieces])
        return bytes(content)

    async def _read_piece(self, name: str, stat: Stat, start: int, end: int) -> memoryview:
        if start == end:
            return memoryview(b"")

        async def once(_: float) -> memoryview:
            options = {"range": (start, end), **stat.condition}
            result = await self._call("get_async", name, options=options)
            try:
                content = memoryview(await result.bytes_async())
            except Exception as error:
                raise told(self.address.beside(name), error) from error
            if result.meta["size"] != stat.size:
                raise ChangedError(f"it has {result.meta['size']:,} bytes")
            if len(content) != end - start:
                raise PassingError(f"{len(content):,} of {end - start:,} bytes arrived")
            self.counter.add(bytes_read=len(content))
            return content

        try:
            return await self._of(name).ask(once, _unread(f"bytes {start:,} to {end:,}"))
        except ChangedError as error:
            raise StorageError(
                f"{self.address.beside(name)}: was replaced since it was listed ({error}). Nothing "
                "of the new object was used. Start again when nobody changes the data."
            ) from error

    async def _put(self, store: Any, name: str, content: memoryview) -> None:
        await self._require_none(name)  # in case the store does not know conditions
        await self._call("put_async", name, content, mode="create", store=store)

    async def _put_in_parts(self, store: Any, name: str, content: memoryview) -> None:
        """Upload in parts, which have no condition: so look right before they become an object."""
        await self._require_none(name)
        writer = import_obstore(self.address).open_writer_async(
            store,
            name,
            buffer_size=_PART_BYTES,
            max_concurrency=_PARTS_AT_ONCE,
        )
        try:
            for start, end in cut_range(0, len(content), _PART_BYTES):
                await writer.write(content[start:end])
            await self._require_none(name)
            await writer.close()
        except (ExistsError, PassingError, StorageError):
            raise
        except Exception as error:
            raise told(self.address.beside(name), error) from error

    async def _require_none(self, name: str) -> None:
        with suppress(AbsentError):
            await self._call("head_async", name)
            raise ExistsError(str(self.address.beside(name)))

    async def _call(self, function: str, name: str, *given: Any, **options: Any) -> Any:
        check_not_forked("obstore")
        address = self.address.beside(name)
        store = options.pop("store", None) or self._opened()
        try:
            return await getattr(import_obstore(address), function)(store, name, *given, **options)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise told(address, error) from error

    def _opened(self) -> Any:
        if self._store is None or self._owner != os.getpid():
            self._store = open_store(self.address, self.address.text, self.options)
            self._owner = os.getpid()
        return self._store

    def _of(self, name: str) -> Persistence:
        address = self.address.beside(name) if name else self.address
        return Persistence(address, self.options, self.counter)

    def __getstate__(self) -> tuple[Address, StorageOptions]:
        return self.address, self.options

    def __setstate__(self, state: tuple[Address, StorageOptions]) -> None:
        self.__init__(*state)  # type: ignore[misc]


class _Pages:
    """The pages of one list, of which each may be asked for several times.

    A list that broke off is begun anew, after the last name or from its start, and what is known
    already is dropped: that must be nothing, or all of it, or else something may be missing.
    """

    def __init__(self, folder: RemoteFolder) -> None:
        self._folder = folder
        # obstore tries a page again by itself; what breaks off for good is rare.
        self._store = open_store(folder.address, folder.address.text, folder.options, retries=True)
        self._stream: Any = None
        self._last = ""
        self._known = 0  # names that were handed out
        self._is_sorted = True
        self._to_drop = 0

    async def next(self, _: float) -> list[Found] | None:
        """Return the next page, or None at the end."""
        address = self._folder.address
        check_not_forked("obstore")
        if self._stream is None:
            # obstore's offset is right for S3 and Google; with others it compares other names.
            offset = self._last if address.scheme in _WITH_OFFSETS else ""
            self._to_drop = 0 if offset else self._known
            listed = import_obstore(address).list(
                self._store, offset=offset or None, chunk_size=_PAGE
            )
            self._stream = aiter(listed)
        try:
            page = await anext(self._stream, None)
        except BaseException as error:
            self._stream = None
            if not isinstance(error, Exception):
                raise
            if not self._is_sorted:
                raise self._broken(f"it broke off ({error}), and is not sorted") from error
            raise told(address, error) from error
        if page is None and self._to_drop:
            raise self._broken("it changed while it was read")
        return None if page is None else self._fresh(page)

    def _fresh(self, page: Any) -> list[Found]:
        found = [Found(one["path"], stat_of(one)) for one in page]
        known = found[: self._to_drop]
        self._to_drop -= len(known)
        if known and max(one.name for one in known) > self._last:
            raise self._broken("it changed while it was read")
        fresh = found[len(known) :]
        names = [self._last, *(one.name for one in fresh)]
        self._is_sorted = self._is_sorted and all(one < other for one, other in pairwise(names))
        self._last = names[-1]
        self._known += len(fresh)
        return fresh

    def _broken(self, how: str) -> StorageError:
        return StorageError(
            f"{self._folder.address}: its list is not complete: {how}. Try again when nobody "
            "changes the data."
        )


@contextmanager
def _mapped(path: str) -> Iterator[memoryview]:
    """A file's content, without a copy of it in memory."""
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            yield memoryview(b"")
            return
        # Not closed by hand: a request that was cancelled may hold it for a moment.
        yield memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _unread(what: str) -> str:
    return f"{what} could not be read"


def _unwritten(size: int) -> str:
    return f"{size:,} bytes could not be written"
