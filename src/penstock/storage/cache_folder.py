"""The folder of a cache: which files in it are ours, and how many bytes they take.

Several processes share it. Whoever reserves or frees bytes holds the lock on one file, and the sum
is in that file. Bytes are reserved before they are written, and freed after they are gone, so a
process that is killed at any moment leaves a sum that is too large, never one too small; the next
look at the folder puts it right.

A file that is being written is locked by its writer. The kernel drops that lock when the writer
ends in whatever way, so whoever gets it knows that nobody writes there any more.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from penstock.errors import StorageError
from penstock.printable import printable

SUBFOLDER = "penstock-blocks"
_MARKER, _LOCK = "IS-A-PENSTOCK-CACHE", "lock"
_MARK = b"penstock cache of blocks, version 1\nIts files may be deleted at any time.\n"
_DIGITS = 20  # of the sum in the lock file
CONTROL_BYTES = len(_MARK) + _DIGITS
BLOCK_MAGIC = b"PENBLK1\n"

_BLOCK = re.compile(r"[0-9a-f]{40}\.block")
_PART = re.compile(r"[0-9a-f]{40}\.([0-9]{1,18})\.[0-9a-f]{16}\.part")
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class Reserved:
    """A file to write a block to, for which there is room."""

    file: int
    path: str
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class _Block:
    used_ns: int
    size: int
    name: str


class CacheFolder:
    """Our own folder inside the one that the user named; `limit` holds for all its files."""

    def __init__(self, parent: str, limit: int) -> None:
        self.path = os.path.join(os.path.abspath(os.path.expanduser(parent)), SUBFOLDER)
        self.limit = limit
        if limit <= CONTROL_BYTES:
            raise StorageError(
                f"cache_limit={limit:,}: a cache needs more than {CONTROL_BYTES} bytes."
            )
        try:
            self._make()
            with self.locked() as lock:
                self.tidy(lock)
                self._evict(lock, 0)
        except OSError as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(
                f"cache={printable(parent)!r}: cannot be used ({error.strerror or error}). Name a "
                "folder that you may write to, on a disk of this machine."
            ) from error

    def _make(self) -> None:
        os.makedirs(self.path, mode=0o700, exist_ok=True)
        marker = os.path.join(self.path, _MARKER)
        if not os.path.lexists(marker):
            strangers = set(os.listdir(self.path)) - {_LOCK}
            if strangers:
                raise StorageError(
                    f"{printable(self.path)}: has files, but not the file {_MARKER}, so it is not "
                    "a cache of ours and is left alone. Name another folder by cache=."
                )
            temporary = f"{marker}.{os.urandom(8).hex()}"
            with open(
                os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                file.write(_MARK)
            os.rename(temporary, marker)

    def place(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return f"{self.path}/{name}"

    @contextmanager
    def locked(self) -> Iterator[int]:
        """Hold the lock that all processes share; gives its descriptor, which has the sum."""
        lock = os.open(self.place(_LOCK), os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield lock
        finally:
            os.close(lock)

    def used(self, lock: int) -> int:
        """Return how many bytes are taken or reserved."""
        text = os.pread(lock, _DIGITS, 0)
        return int(text) if len(text) == _DIGITS and text.isdigit() else self.tidy(lock)

    def _set_used(self, lock: int, used: int) -> None:
        os.pwrite(lock, b"%0*d" % (_DIGITS, max(0, used)), 0)

    def free(self, lock: int, count: int) -> None:
        """Count bytes as free that are gone."""
        self._set_used(lock, self.used(lock) - count)

    def reserve(self, name: str, size: int) -> Reserved | None:
        """Make room for a block, and return a file to write it to, which the caller closes.

        None if there is no room, even after the blocks that were used longest ago were removed.
        """
        with self.locked() as lock:
            if self.used(lock) + size > self.limit and not self._evict(lock, size):
                return None
            self._set_used(lock, self.used(lock) + size)
            part = self.place(f"{name}.{size}.{os.urandom(8).hex()}.part")
            try:
                file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
            except OSError:
                self.free(lock, size)
                raise
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return Reserved(file, part, name, size)

    def commit(self, reserved: Reserved) -> None:
        """Give a file that is written its final name; the first of several writers wins."""
        with self.locked() as lock:
            final = self.place(f"{reserved.name}.block")
            if os.path.lexists(final):
                os.unlink(reserved.path)
                self.free(lock, reserved.size)
            else:
                os.rename(reserved.path, final)

    def give_up(self, reserved: Reserved) -> None:
        """Remove a file that could not be written."""
        with suppress(OSError), self.locked() as lock:
            os.unlink(reserved.path)
            self.free(lock, reserved.size)

    def remove(self, name: str) -> None:
        """Remove a block that turned out to be damaged."""
        with suppress(OSError), self.locked() as lock:
            path = self.place(f"{name}.block")
            if self._is_ours(f"{name}.block"):
                size = os.lstat(path).st_size
                os.unlink(path)
                self.free(lock, size)

    def tidy(self, lock: int) -> int:
        """Remove what dead writers left, add up all that is ours, and return the sum."""
        used = CONTROL_BYTES + sum(block.size for block in self._blocks())
        for entry in os.scandir(self.path):
            match = _PART.fullmatch(entry.name)
            if match and entry.is_file(follow_symlinks=False) and not self._remove_if_dead(entry):
                used += int(match[1])
        self._set_used(lock, used)
        return used

    def _remove_if_dead(self, entry: os.DirEntry[str]) -> bool:
        try:
            file = os.open(entry.path, os.O_RDWR | _FLAGS)
        except OSError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False  # its writer lives
        else:
            os.unlink(entry.path)
            return True
        finally:
            os.close(file)

    def _evict(self, lock: int, size: int) -> bool:
        """Remove the blocks used longest ago until `size` more bytes fit; some more, if any."""
        used = self.tidy(lock)
        if CONTROL_BYTES + size > self.limit:
            return False
        if used + size <= self.limit:
            return True
        # Looking through the folder takes time, so more room is made than is needed now.
        aim = max(self.limit - size - self.limit // 32, 0)
        for block in sorted(self._blocks(), key=lambda block: block.used_ns):
            if used <= aim:
                break
            if self._is_ours(block.name):
                with suppress(OSError):
                    os.unlink(self.place(block.name))
                    used -= block.size
        self._set_used(lock, used)
        return used + size <= self.limit

    def _blocks(self) -> Iterator[_Block]:
        for entry in os.scandir(self.path):
            if _BLOCK.fullmatch(entry.name):
                with suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode):
                        yield _Block(found.st_atime_ns, found.st_size, entry.name)

    def _is_ours(self, name: str) -> bool:
        """Whether a file with the name of a block begins as blocks do."""
        try:
            file = os.open(self.place(name), os.O_RDONLY | _FLAGS)
        except OSError:
            return False
        try:
            return os.read(file, len(BLOCK_MAGIC)) == BLOCK_MAGIC
        finally:
            os.close(file)
