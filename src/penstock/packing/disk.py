"""Writing files so that a full disk, a crash or another writer never leaves something half-valid.

Every change that `pack` makes to a disk goes through here, and `unpack` makes its files here.

There is one writer per target: `<target>.lock` is locked with `flock` while a pack runs, and says
who does it. The system drops the lock together with the process that holds it: a killed process
leaves the file behind but not the lock, so the next pack takes it over.
If a file system has no locks, the file itself is the lock. Then it is impossible to know whether a
writer that left one still runs, so the user has to remove it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shlex
import shutil
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from typing import BinaryIO, final

from penstock.errors import PackError, PenstockError
from penstock.printable import printable

_FULL = {errno.ENOSPC, errno.EDQUOT}
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

LOCK_SUFFIX = ".lock"
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_LARGEST_NOTE_BYTES = 4096
_COMMAND_LETTERS = 200
# The holder writes its note right after it got the lock; others wait this long for the note.
_NOTE_TRIES, _NOTE_WAIT_S = 20, 0.01


class LockedError(PackError):
    """Another process is writing the target, or may be."""


@contextmanager
def explaining_errors(path: str, needed_bytes: Callable[[], int]) -> Iterator[None]:
    """Turn the system's errors while writing `path` into a sentence; for a full disk, with figures.

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
    """Create a file of our own; FileExistsError if anything has its name, even a broken link."""
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
    """Read an open file from its beginning, even if its name is gone; its position stays."""
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


@final
class NewFiles:
    """Creates files below a folder: never outside of it, through a link, or in place of a file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._root = os.open(path, _FOLDER)
        self._name, self._folder = "", os.dup(self._root)  # the one that was written to last

    def create(self, name: str) -> BinaryIO:
        """Create a file, and the folders that lead to it."""
        folder, _, last = name.rpartition("/")
        try:
            if folder != self._name:
                self._enter(folder)
            return os.fdopen(os.open(last, _NEW, 0o666, dir_fd=self._folder), "wb")
        except OSError as error:
            raise PackError(
                f"{os.path.join(self._path, name)}: cannot be written ({error.strerror or error})."
            ) from error
        except UnicodeEncodeError as error:
            raise PackError(
                f"{self._path}: the file {name!r} cannot be written, since names of files are "
                f"{error.encoding} here. Use a UTF-8 locale, such as LC_ALL=C.UTF-8."
            ) from error

    def _enter(self, name: str) -> None:
        inner = os.dup(self._root)
        try:
            for part in name.split("/") if name else ():
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=inner)
                outer, inner = inner, os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=inner)
                os.close(outer)
        except BaseException:
            os.close(inner)
            raise
        os.close(self._folder)
        self._name, self._folder = name, inner

    def __enter__(self) -> NewFiles:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._folder)
        os.close(self._root)


@final
class TargetLock:
    """Held while in the `with` block; PackError, saying who holds it, if another writer does."""

    def __init__(self, target: str) -> None:
        self._target = target
        # Two ways to one folder lead to one lock.
        self.path = os.path.realpath(target) + LOCK_SUFFIX
        self._file: BinaryIO | None = None

    def __enter__(self) -> TargetLock:
        with explaining_errors(self.path, lambda: _LARGEST_NOTE_BYTES):
            while self._file is None:
                self._file = self._try()
        return self

    def __exit__(self, *_: object) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            if is_at(file, self.path):
                remove(self.path)
        finally:
            # Closing is not enough: a process forked meanwhile has the file open, too.
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)
            file.close()

    def _try(self) -> BinaryIO | None:
        """Return the lock; None if its last holder removed the file just now."""
        file, is_new = self._open()
        if file is None:
            return None
        with ExitStack() as opened:
            opened.enter_context(file)
            locked = try_lock(file)
            if locked is False:
                raise LockedError(
                    f"{self._target}: another process is writing it: {_holder(file, runs=True)}. "
                    "Wait until it is done, or end it and go on with --resume (resume=True)."
                )
            if locked is None and not is_new:
                raise LockedError(
                    f"{self._target}: another process may be writing it: "
                    f"{_holder(file, runs=False)}. This file system has no locks, so whether that "
                    f"process still runs cannot be told. If it does not, remove {self.path}."
                )
            if not is_at(file, self.path):
                return None
            opened.callback(remove, self.path)
            file.truncate(0)
            write_all(file, _note())
            opened.pop_all()
        return file

    def _open(self) -> tuple[BinaryIO | None, bool]:
        with suppress(FileExistsError):
            return create(self.path), True
        try:
            return reopen(self.path), False
        except FileNotFoundError:
            return None, False


def try_lock(file: BinaryIO) -> bool | None:
    """Lock a file for this process alone; False if another one did, None if there are no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return None
    return True


def _note() -> bytes:
    program, *arguments = sys.argv or [""]
    note = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "since": datetime.now().astimezone().isoformat(" ", "seconds"),
        "command": shlex.join([os.path.basename(program) or "python", *arguments])[
            :_COMMAND_LETTERS
        ],
    }
    return json.dumps(note).encode()


def _holder(file: BinaryIO, *, runs: bool) -> str:
    """Return who holds the lock, for people; the file may say anything."""
    holder = f"{printable(file.name)} does not say which"
    for _ in range(_NOTE_TRIES):
        file.seek(0)
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            note = json.loads(file.read(_LARGEST_NOTE_BYTES))
            pid, host, since, command = (note[key] for key in ("pid", "host", "since", "command"))
            holder = printable(f"pid {pid} on {host}, since {since} ({command})")
            if not runs or host != socket.gethostname() or _is_there(int(pid)):
                return holder
            holder += ", which has ended, or a process that it left behind"
        time.sleep(_NOTE_WAIT_S)
    return holder


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
