"""Writing files so that a full disk or a crash never leaves something half-valid.

Every change a pack makes to a disk goes through here.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from penstock.errors import PackError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def explaining_errors(path: str, needed_bytes: Callable[[], int]) -> Iterator[None]:
    """Turn the system's errors while writing `path` into a sentence; a full disk names figures."""
    try:
        yield
    except PackError:
        raise
    except OSError as error:
        if error.errno not in _FULL:
            raise PackError(f"{path}: cannot be written ({error.strerror or error}).") from error
        free = shutil.disk_usage(os.path.dirname(os.path.abspath(path))).free
        raise PackError(
            f"{path}: the disk is full: about {human_bytes(needed_bytes())} more are needed, "
            f"{human_bytes(free)} are free. Make room, then go on with --resume (resume=True)."
        ) from error


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
