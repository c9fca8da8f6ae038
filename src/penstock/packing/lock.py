"""One writer per target: a lock that the system drops together with the process that holds it.

`<target>.lock` is locked with `flock` while a pack runs, and says who does it.
A killed process leaves the file behind but not the lock, so the next pack takes it over.
Where a file system has no locks, the file itself is the lock:
nobody can tell then whether a writer that left one still runs, so the user has to remove it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shlex
import socket
import sys
import time
from contextlib import ExitStack, suppress
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from penstock.errors import PackError
from penstock.packing import disk
from penstock.printable import printable

if TYPE_CHECKING:
    from typing_extensions import Self

LOCK_SUFFIX = ".lock"
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_LARGEST_NOTE_BYTES = 4096
_COMMAND_LETTERS = 200
# The holder writes its note right after it got the lock; whoever comes in between waits for that.
_NOTE_TRIES, _NOTE_WAIT_S = 20, 0.01


class TargetLock:
    """Held while in the `with` block; PackError, saying who holds it, if another writer does."""

    def __init__(self, target: str) -> None:
        self._target = target
        # Two ways to one folder lead to one lock.
        self.path = os.path.realpath(target) + LOCK_SUFFIX
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        with disk.explaining_errors(self.path, lambda: _LARGEST_NOTE_BYTES):
            while self._file is None:
                self._file = self._try()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            if disk.is_at(file, self.path):
                disk.remove(self.path)
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
                raise PackError(
                    f"{self._target}: another process is writing it: {_holder(file, runs=True)}. "
                    "Wait until it is done, or end it and go on with --resume (resume=True)."
                )
            if locked is None and not is_new:
                raise PackError(
                    f"{self._target}: another process may be writing it: "
                    f"{_holder(file, runs=False)}. This file system has no locks, so whether that "
                    f"process still runs cannot be told. If it does not, remove {self.path}."
                )
            if not disk.is_at(file, self.path):
                return None
            opened.callback(disk.remove, self.path)
            file.truncate(0)
            disk.write_all(file, _note())
            opened.pop_all()
        return file

    def _open(self) -> tuple[BinaryIO | None, bool]:
        with suppress(FileExistsError):
            return disk.create(self.path), True
        try:
            return disk.reopen(self.path), False
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
    told = f"{printable(file.name)} does not say which"
    for _ in range(_NOTE_TRIES):
        file.seek(0)
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            note = json.loads(file.read(_LARGEST_NOTE_BYTES))
            pid, host, since, command = (note[key] for key in ("pid", "host", "since", "command"))
            told = printable(f"pid {pid} on {host}, since {since} ({command})")
            if not runs or host != socket.gethostname() or _is_there(int(pid)):
                return told
            told += ", which has ended, or a process that it left behind"
        time.sleep(_NOTE_WAIT_S)
    return told


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
