"""Scans kept on disk, so that a data set of millions opens at once the next time.

A scan is kept in one file: a checksum over all that follows, then arrays in NumPy's `.npz` form
(never a pickle). A file that is damaged, somebody else's, or no regular file only costs a scan.

It holds for as long as every directory has the times and the inode it had then. Adding, removing
or renaming an entry changes a directory's time of change (`ctime`), which nobody can put back: tar
and rsync restore the time of modification alone. What this relies on is a file system that keeps
such times; where they are missing (0, as some mounts of object storage have it), scans are not
kept. Where a mount makes times up, `open_image_folder(..., refresh=True)` scans in any case.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from penstock.sources.path_table import PathTable
from penstock.sources.scan import Scan, scan_folder, stamps_of
from penstock.user_cache import user_cache_folder

# Part of the file's name: a change of the arrays below, or of which files count, raises it.
SCAN_FORMAT = 2

# File systems stamp directories with a clock of up to this grain.
# A later change within one tick of the scan would go unseen, so such scans are not kept.
CLOCK_GRAIN_NS = 2_000_000_000

MAGIC = b"penstock scan\n"
DIGEST_BYTES = hashlib.sha256().digest_size
_TEMPORARY = ".tmp"
_LEFTOVER_S = 3600.0  # no process writes for so long


def find_images(root: str, *, refresh: bool = False, progress: bool | None = None) -> Scan:
    """Return the images below `root`: remembered if nothing changed, else scanned and remembered.

    `root` is absolute. `refresh=True` scans in any case.
    A cache that is damaged, or cannot be read or written, only costs a scan.
    """
    # The real path: a link that is pointed elsewhere is another data set.
    real_root = os.fsencode(os.path.realpath(root))
    remembered_at = _file_for(real_root)
    if not refresh and remembered_at is not None:
        scan = _recall(remembered_at, real_root)
        if scan is not None and _still_holds(scan, root):
            return scan
    started_ns = time.time_ns()
    scan = scan_folder(root, progress=progress)
    # What was left out is told at each scan, so it is not remembered.
    if remembered_at is not None and not scan.left_out and _can_be_kept(scan, started_ns):
        _remember(scan, remembered_at, real_root)
    return scan


def _file_for(real_root: bytes) -> Path | None:
    cache = user_cache_folder()
    if cache is None:
        return None
    key = hashlib.sha256(real_root).hexdigest()[:32]
    return cache / "scans" / f"{key}.v{SCAN_FORMAT}.scan"


def _can_be_kept(scan: Scan, started_ns: int) -> bool:
    times_ns = scan.stamps[:, :2]
    return bool(times_ns.min() > 0 and times_ns.max() < started_ns - CLOCK_GRAIN_NS)


def _recall(file: Path, real_root: bytes) -> Scan | None:
    try:
        content = _read_own(file)
        if content is None or not content.startswith(MAGIC):
            return None
        body = content[len(MAGIC) + DIGEST_BYTES :]
        if hashlib.sha256(body).digest() != content[len(MAGIC) : len(MAGIC) + DIGEST_BYTES]:
            return None
        with np.load(io.BytesIO(body), allow_pickle=False) as stored:
            if stored["root"].tobytes() != real_root:
                return None
            return Scan(
                PathTable(stored["directory_blob"].tobytes(), stored["directory_offsets"]),
                stored["stamps"],
                stored["file_counts"],
                PathTable(stored["file_blob"].tobytes(), stored["file_offsets"]),
            )
    except Exception:  # noqa: BLE001 (whatever is wrong with it, it is only a cache)
        return None


def _read_own(file: Path) -> bytes | None:
    """Read a regular file of this user's; a link, a FIFO or somebody else's file is None."""
    handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return None
        return opened.read(status.st_size)


def _still_holds(scan: Scan, root: str) -> bool:
    try:
        return all(
            stamps_of(os.stat(os.path.join(root, directory))) == stamps
            for directory, stamps in zip(
                scan.directories, map(tuple, scan.stamps.tolist()), strict=True
            )
        )
    except (OSError, ValueError):
        return False


def _remember(scan: Scan, file: Path, real_root: bytes) -> None:
    temporary: str | None = None
    try:
        body = io.BytesIO()
        np.savez(
            body,
            root=np.frombuffer(real_root, np.uint8),
            directory_blob=np.frombuffer(scan.directories.blob, np.uint8),
            directory_offsets=scan.directories.offsets,
            stamps=scan.stamps,
            file_counts=scan.file_counts,
            file_blob=np.frombuffer(scan.files.blob, np.uint8),
            file_offsets=scan.files.offsets,
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(file.parent)
        # Under a name of its own, then renamed: two processes may do this at once.
        handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=_TEMPORARY)
        with os.fdopen(handle, "wb") as opened:
            opened.write(MAGIC + hashlib.sha256(body.getbuffer()).digest())
            opened.write(body.getbuffer())
        os.replace(temporary, file)
    except BaseException as error:
        if temporary is not None:
            _delete_if_there(temporary)
        if not isinstance(error, (OSError, MemoryError)):
            raise


def _remove_leftovers(folder: Path) -> None:
    """Remove what processes left behind that were killed while they wrote."""
    for found in folder.glob(f"*{_TEMPORARY}"):
        with suppress(OSError):  # somebody else renamed or removed it meanwhile
            if found.lstat().st_mtime < time.time() - _LEFTOVER_S:
                found.unlink()


def _delete_if_there(file: str) -> None:
    try:
        os.unlink(file)
    except OSError:
        return
