"""Opening files that may be anything: never waits, and takes nothing but regular files.

Opening a FIFO waits for somebody to write to it, Ctrl-C or not; a device may be endless.
"""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

PathLike = str | bytes | os.PathLike[str]

_SPECIAL = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class NotRegularError(OSError):
    """The file is a FIFO, a socket, a device or a folder; `strerror` says which."""


def open_regular(path: PathLike) -> BinaryIO:
    """Open a file for reading; OSError, and no waiting, if it is not a regular one."""
    require_regular(path)
    return open(path, "rb", opener=_open_without_waiting)


def _open_without_waiting(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    try:
        # It may have been replaced since it was looked at.
        _check(os.fstat(descriptor).st_mode, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def require_regular(path: PathLike) -> None:
    """Raise OSError unless `path`, or what it links to, is a regular file."""
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:  # a zero byte, or text that no file system can store
        raise NotRegularError(0, "no file can have this name", repr(path)) from error
    _check(mode, path)


def special_kind(path: PathLike) -> str | None:
    """Return "a FIFO", "a socket" or "a device"; None for files, folders and what is not there."""
    try:
        return _SPECIAL.get(stat.S_IFMT(os.stat(path).st_mode))
    except (OSError, ValueError):
        return None


def _check(mode: int, path: PathLike) -> None:
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else _SPECIAL.get(stat.S_IFMT(mode), "special")
        raise NotRegularError(0, f"it is {kind}, not a regular file", os.fsdecode(path))
