"""Find the image files below a folder, in torchvision's order, and remember them on disk.

The order is that of `torchvision.datasets.folder.make_dataset`: by class folder,
then by directory (the whole path compared as text, so `a-b` comes before `a/b`),
then by file name.

A scan is remembered, so that a data set of millions opens at once the next time, in one file: a
checksum over all that follows, then arrays in NumPy's `.npz` form (never a pickle). A file that is
damaged, somebody else's, or not a regular file only costs a scan.

It holds for as long as every directory has the times and the inode it had then. Adding, removing
or renaming an entry changes a directory's time of change (`ctime`), which cannot be set back: tar
and rsync restore only the time of modification. This relies on a file system that keeps such
times; where they are missing (0, as on some mounts of object storage), scans are not remembered.
If a mount invents times, `open_image_folder(..., refresh=True)` scans in any case.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tempfile
import time
from array import array
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from penstock.errors import SourceError
from penstock.geometry import Ints
from penstock.printable import printable
from penstock.progress import ProgressBar
from penstock.regular_file import special_kind
from penstock.resources import raise_if_refused
from penstock.sources.source import PathTable
from penstock.user_cache import user_cache_folder

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
# Part of the file's name: a change of the arrays below, or of which files count, raises it.
SCAN_FORMAT = 2
# The clocks with which file systems stamp directories tick at least this often. A change within
# one tick after the scan would go unnoticed, so such scans are not kept.
CLOCK_GRAIN_NS = 2_000_000_000
MAGIC = b"penstock scan\n"
DIGEST_BYTES = hashlib.sha256().digest_size
_TEMPORARY = ".tmp"
_LEFTOVER_S = 3600.0  # no process takes this long to write


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
    # What was left out is reported at each scan, so it is not remembered.
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
