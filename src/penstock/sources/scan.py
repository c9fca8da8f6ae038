"""Find the image files below a folder, in torchvision's order, and remember them.

The order is that of `torchvision.datasets.folder.make_dataset`: by class folder,
then by directory (the whole path compared as text, so `a-b` comes before `a/b`),
then by file name.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass

import numpy as np

from penstock.errors import SourceError
from penstock.geometry import Ints
from penstock.printable import printable
from penstock.progress import ProgressBar
from penstock.regular_file import special_kind
from penstock.resources import raise_if_refused
from penstock.sources.path_table import PathTable

# torchvision.datasets.folder.IMG_EXTENSIONS; compared in lower case.
IMAGE_EXTENSIONS = (
    ".jpg",
    ".jpeg",
    ".png",
    ".ppm",
    ".bmp",
    ".pgm",
    ".tif",
    ".tiff",
    ".webp",
)
IMAGES_PER_TICK = 1024
STAMPS = 3  # numbers in `stamps_of`


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """All directories below a root, itself first, and the image files in each.

    Files directly in the root belong to no class folder and are left out.
    """

    directories: PathTable  # relative to the root, which is ""
    stamps: Ints  # of each directory: what `stamps_of` gave before it was read
    file_counts: Ints  # image files directly in each directory
    files: PathTable  # relative to the root, grouped by directory
    left_out: tuple[str, ...] = ()  # FIFOs, sockets and devices named like images, with their kind

    def __post_init__(self) -> None:
        count = len(self.directories)
        for column, shape in ((self.stamps, (count, STAMPS)), (self.file_counts, (count,))):
            if column.shape != shape or column.dtype != np.int64:
                raise ValueError(f"Scan: {count} directories need as many stamps and counts.")
        if self.file_counts.min(initial=0) < 0 or self.file_counts.sum() != len(self.files):
            raise ValueError(f"Scan: counts must add up to {len(self.files)} files.")


@dataclass(frozen=True, slots=True)
class _Directory:
    """One directory as read: its image files' paths end to end, and each path's length."""

    path: str
    stamps: tuple[int, ...]
    paths: bytes
    lengths: array[int]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Pending:
    """A directory still to be read, and the identities of all above it."""

    path: str
    lineage: frozenset[tuple[int, int]]


def scan_folder(root: str, *, progress: bool | None = None) -> Scan:
    """Read every directory below `root`, following links as torchvision does.

    Raises SourceError for a directory that cannot be read,
    and for a link back to a directory above it, which would never end.
    """
    found: list[_Directory] = []
    pending = [_Pending("", frozenset())]
    title = f"scanning {printable(os.path.basename(root) or root)}"
    with ProgressBar(title, unit="files", show=progress) as bar:
        while pending:
            directory, below = _read_directory(root, pending.pop(), bar)
            found.append(directory)
            pending += below
    found.sort(key=_torchvision_order)
    return Scan(
        PathTable.from_paths(directory.path for directory in found),
        np.array([directory.stamps for directory in found], np.int64),
        np.array([len(directory.lengths) for directory in found], np.int64),
        PathTable.from_blocks(
            (directory.paths for directory in found), (directory.lengths for directory in found)
        ),
        tuple(name for directory in found for name in directory.left_out),
    )


def stamps_of(status: os.stat_result) -> tuple[int, ...]:
    """Return what changes whenever an entry of a directory does: two times (ns), and the inode."""
    inode = (status.st_ino + (1 << 63)) % (1 << 64) - (1 << 63)  # as a signed number
    return status.st_mtime_ns, status.st_ctime_ns, inode


def _torchvision_order(directory: _Directory) -> tuple[str, str]:
    return directory.path.split(os.sep, 1)[0], directory.path


def _read_directory(
    root: str, pending: _Pending, bar: ProgressBar
) -> tuple[_Directory, list[_Pending]]:
    where = os.path.join(root, pending.path) if pending.path else root
    prefix = pending.path + os.sep if pending.path else ""
    images: list[str] = []
    folders: list[str] = []
    left_out: list[str] = []
    try:
        status = os.stat(where)
        identity = (status.st_dev, status.st_ino)
        if identity in pending.lineage:
            raise SourceError(
                f"{printable(where)}: a link back to a folder above it, so the scan would never "
                "end. Remove the link."
            )
        with os.scandir(where) as entries:
            for entry in entries:
                if _is_folder(entry):
                    folders.append(entry.name)
                elif prefix and entry.name.lower().endswith(IMAGE_EXTENSIONS):
                    special = special_kind_of(entry)
                    if special is not None:
                        left_out.append(f"{printable(prefix + entry.name)} ({special})")
                        continue
                    images.append(entry.name)
                    if len(images) % IMAGES_PER_TICK == 0:
                        bar.advance(IMAGES_PER_TICK)
            bar.advance(len(images) % IMAGES_PER_TICK)
    except OSError as error:
        raise_if_refused(error, printable(where))
        raise SourceError(
            f"{printable(where)}: this folder cannot be read ({error.strerror}). "
            "Check its permissions, or leave it out of the data."
        ) from error
    images.sort()
    paths = [os.fsencode(prefix + name) for name in images]
    lineage = pending.lineage | {identity}
    return (
        _Directory(
            pending.path,
            stamps_of(status),
            b"".join(paths),
            array("q", map(len, paths)),
            tuple(sorted(left_out)),
        ),
        [_Pending(prefix + name, lineage) for name in folders],
    )


def special_kind_of(entry: os.DirEntry[str]) -> str | None:
    """Return "a FIFO", "a socket" or "a device", which nobody should wait for; else None."""
    # Of plain files, the directory itself tells what they are.
    return None if entry.is_file(follow_symlinks=False) else special_kind(entry.path)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError as error:  # such as a link that points at itself: nothing to walk into
        raise_if_refused(error, printable(entry.path))
        return False
