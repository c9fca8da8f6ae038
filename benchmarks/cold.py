"""Dropping files from the system's memory, and asking how much of them is still there."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterable
from pathlib import Path

PAGE = mmap.PAGESIZE


def files_of(paths: Iterable[str], written: str) -> list[Path]:
    """Return the files that a peer reads: those it has written, or the images themselves."""
    if written:
        return sorted(path for path in Path(written).rglob("*") if path.is_file())
    return [Path(path) for path in sorted(set(paths))]


def drop_from_memory(files: Iterable[Path]) -> None:
    """Ask the system to forget the pages of files. Pages that a process has mapped stay."""
    for path in files:
        with path.open("rb") as file:
            os.fsync(file.fileno())  # what is not on the disk yet cannot be forgotten
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def share_in_memory(files: Iterable[Path]) -> float:
    """Return the share of the files' pages that need not be read from the disk."""
    pages = there = 0
    libc = ctypes.CDLL(None, use_errno=True)
    for path in files:
        size = path.stat().st_size
        if not size:
            continue
        with path.open("rb") as file, mmap.mmap(file.fileno(), size, mmap.MAP_PRIVATE) as mapped:
            count = -(-size // PAGE)
            found = (ctypes.c_ubyte * count)()
            address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
            if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), found):
                raise OSError(ctypes.get_errno(), f"{path}: mincore failed")
            pages += count
            there += sum(one & 1 for one in found)
    return there / pages if pages else 0.0
