"""Scans kept on disk, so that a data set of millions opens at once the next time.

A scan is kept in one `.npz` file (a zip of `.npy` arrays, each with a checksum; never a pickle).
It holds for as long as every directory has the modification time it had then:
adding, removing or renaming an entry changes its directory's.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

from penstock.sources.path_table import PathTable
from penstock.sources.scan import Scan, scan_folder
from penstock.user_cache import user_cache_folder

# Part of the file's name: a change of the arrays below, or of which files count, raises it.
SCAN_FORMAT = 1

# File systems stamp directories with a clock of up to this grain.
# A later change within one tick of the scan would go unseen, so such scans are not kept.
CLOCK_GRAIN_NS = 2_000_000_000

ARRAYS = (
    "directory_blob",
    "directory_offsets",
    "modified_ns",
    "file_counts",
    "file_blob",
    "file_offsets",
)


def find_images(root: str, *, refresh: bool = False, progress: bool | None = None) -> Scan:
    """Return the images below `root`: remembered if nothing changed, else scanned and remembered.

    `root` is absolute. `refresh=True` scans in any case.
    A cache that is damaged, or cannot be read or written, only costs a scan.
    """
    remembered_at = _file_for(root)
    if not refresh:
        scan = _recall(remembered_at)
        if scan is not None and _still_holds(scan, root):
            return scan
    started_ns = time.time_ns()
    scan = scan_folder(root, progress=progress)
    # What was left out is told at each scan, so it is not remembered.
    if not scan.left_out and scan.modified_ns.max() < started_ns - CLOCK_GRAIN_NS:
        _remember(scan, remembered_at)
    return scan


def _file_for(root: str) -> Path:
    # The real path: a link that is pointed elsewhere is another data set.
    key = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:32]
    return user_cache_folder() / "scans" / f"{key}.v{SCAN_FORMAT}.npz"


def _recall(file: Path) -> Scan | None:
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as stored:
            arrays = [stored[name] for name in ARRAYS]
        directory_blob, directory_offsets, modified_ns, file_counts, file_blob, file_offsets = (
            arrays
        )
        return Scan(
            PathTable(directory_blob.tobytes(), directory_offsets),
            modified_ns,
            file_counts,
            PathTable(file_blob.tobytes(), file_offsets),
        )
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None


def _still_holds(scan: Scan, root: str) -> bool:
    try:
        return all(
            os.stat(os.path.join(root, directory)).st_mtime_ns == modified_ns
            for directory, modified_ns in zip(
                scan.directories, scan.modified_ns.tolist(), strict=True
            )
        )
    except (OSError, ValueError):
        return False


def _remember(scan: Scan, file: Path) -> None:
    temporary: str | None = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as opened:
            np.savez(
                opened,
                directory_blob=np.frombuffer(scan.directories.blob, np.uint8),
                directory_offsets=scan.directories.offsets,
                modified_ns=scan.modified_ns,
                file_counts=scan.file_counts,
                file_blob=np.frombuffer(scan.files.blob, np.uint8),
                file_offsets=scan.files.offsets,
            )
        os.replace(temporary, file)
    except OSError:
        if temporary is not None:
            _delete_if_there(temporary)


def _delete_if_there(file: str) -> None:
    try:
        os.unlink(file)
    except OSError:
        return
