"""Folders of our own on this machine's disk, for what is on its way to or from a store.

They are removed at the end. A process that is killed leaves its folder behind, but not the lock on
it, so the next one that works in the same place removes it.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from penstock.errors import PackError
from penstock.packing.disk import try_lock

_PREFIX = "penstock-staging-"
_LOCK = "lock"
_YOUNG_S = 60.0  # a folder that has just been made may not be locked yet


@contextmanager
def staging_folder(parent: str | os.PathLike[str] | None) -> Iterator[str]:
    """Make a folder in `parent`, or where this machine has temporary files."""
    place = os.path.expanduser(os.fspath(parent or tempfile.gettempdir()))
    try:
        _remove_left_behind(place)
        folder = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
    except OSError as error:
        raise PackError(
            f"{place}: cannot be used for staging ({error.strerror or error}). Name a folder on a "
            "disk with room: --staging DIR (staging=...)."
        ) from error
    try:
        with open(os.path.join(folder, _LOCK), "wb", buffering=0) as lock:
            try_lock(lock)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left_behind(place: str) -> None:
    for name in os.listdir(place):
        folder = os.path.join(place, name)
        with suppress(OSError):  # somebody else's, or being removed just now
            if name.startswith(_PREFIX) and _is_ours_and_old(folder):
                with open(os.path.join(folder, _LOCK), "rb+", buffering=0) as lock:
                    if try_lock(lock):
                        shutil.rmtree(folder)


def _is_ours_and_old(folder: str) -> bool:
    found, lock = os.lstat(folder), os.lstat(os.path.join(folder, _LOCK))
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return is_ours and stat.S_ISREG(lock.st_mode) and lock.st_mtime < time.time() - _YOUNG_S
