"""Writing files so that a full disk or a crash never leaves something half-valid.

Every change a pack makes to a disk goes through here.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from penstock.errors import PackError, PenstockError

_FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def explaining_errors(path: str, needed_bytes: Callable[[], int]) -> Iterator[None]:
    """Turn the system's errors while writing `path` into a sentence; a full disk names figures.

    `needed_bytes` returns how many more are needed, 0 if that is not known.
    """
    try:
        yield
    except PenstockError:
        raise
    except OSError as error:
        if error.errno not in _FULL:
            name = error.filename if isinstance(error.filename, (str, bytes)) else path
            where = f" at {os.fsdecode(name)}" if os.fsdecode(name) != path else ""
            raise PackError(
                f"{path}: cannot be written ({error.strerror or error}{where})."
            ) from error
        needed = needed_bytes()
        more = f"about {human_bytes(needed)} more are needed, " if needed else ""
        free = shutil.disk_usage(os.path.dirname(os.path.abspath(path))).free
        raise PackError(
            f"{path}: the disk is full: {more}{human_bytes(free)} are free. "
            "Make room, then go on with --resume (resume=True)."
        ) from error


def create(path: str) -> BinaryIO:
    """Create a file of our own; FileExistsError for whatever has its name, be it a broken link."""
    return _open(path, os.O_CREAT | os.O_EXCL)


def create_anew(path: str) -> BinaryIO:
    """Create a file of our own in place of one that was left behind."""
    remove_own(path)
    return create(path)


def remove_own(path: str) -> None:
    """Remove a file that was left behind, if it is there; PackError if it is not a plain file."""
    with suppress(FileNotFoundError):
        _check_own(path, os.lstat(path))
        # Not cut to nothing: under another name, the file may be somebody's.
        os.remove(path)


def reopen(path: str) -> BinaryIO:
    """Open a file that was left behind to go on with it; never a link to another, or a device."""
    _check_own(path, os.lstat(path))
    file = _open(path, 0)
    try:
        _check_own(path, os.fstat(file.fileno()))
    except BaseException:
        file.close()
        raise
    return file


@contextmanager
def reading(file: BinaryIO) -> Iterator[BinaryIO]:
    """Read an open file from its beginning, whatever has its name by now; its place is kept."""
    place = file.tell()
    try:
        with open(os.dup(file.fileno()), "rb") as buffered:
            buffered.seek(0)
            yield buffered
    finally:
        if not file.closed:
            file.seek(place)


def is_at(file: BinaryIO, path: str) -> bool:
    """Whether an open file still has its name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(path))
    return False


def _open(path: str, flags: int) -> BinaryIO:
    safe = flags | os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return open(path, "r+b", buffering=0, opener=lambda name, _: os.open(name, safe, 0o666))


def _check_own(path: str, found: os.stat_result) -> None:
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
        return
    kinds = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFREG: "a file that has another name, too (a hard link)",
        stat.S_IFDIR: "a folder",
    }
    kind = kinds.get(stat.S_IFMT(found.st_mode), "a device, pipe or socket")
    raise PackError(
        f"{path}: is {kind}, and not a file that an interrupted pack left behind. "
        "Nothing was written to it. Look where it comes from, and remove it."
    )


def write_all(file: BinaryIO, data: bytes) -> None:
    """Write every byte to an unbuffered file; the system may take a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def sync(file: BinaryIO) -> None:
    """Wait until the file's bytes are on the disk."""
    os.fsync(file.fileno())


def truncate(file: BinaryIO, size: int) -> None:
    """Cut a file, or make it longer with zeros."""
    file.truncate(size)


def rename(source: str, target: str) -> None:
    """Give a finished file its name, for good."""
    os.replace(source, target)
    with suppress(OSError):  # not every system can sync a folder
        folder = os.open(os.path.dirname(os.path.abspath(target)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    with suppress(FileNotFoundError):
        os.remove(path)


def human_bytes(count: int) -> str:
    """Return a number of bytes for people."""
    if count < 1_000_000:
        return f"{count:,} bytes"
    return f"{count / 1e6:,.1f} MB" if count < 1e9 else f"{count / 1e9:,.2f} GB"
