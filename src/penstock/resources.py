"""What a machine may lack or refuse, and the errors for it. No sample is ever blamed for it."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from penstock.errors import PythonEndsError, ResourceError

# System calls that fail with these say nothing about the file: cpp/engine/read_sample.cpp has the
# same list.
_OF_THE_MACHINE = frozenset(
    {
        *(errno.EMFILE, errno.ENFILE),  # open files of the process, and of the system
        *(errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN, errno.EINTR),
        # A disk or a network that does not answer.
        *(errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.ECONNRESET),
        *(errno.ECONNABORTED, errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN),
        errno.EHOSTUNREACH,
    }
)

_P = ParamSpec("_P")
_T = TypeVar("_T")

_FEWER_FILES = "Raise the limit on open files (ulimit -n), or close files that this program holds"
_LESS_MEMORY = "Use a smaller batch_size, prefetch or threads, or give the program more memory"
_ADVICE = {
    errno.EMFILE: _FEWER_FILES,
    errno.ENFILE: "The whole machine has too many files open: end programs, or raise fs.file-max",
    errno.ENOMEM: _LESS_MEMORY,
}
_CHECK_DISK = "Check the disk or the network mount that it lies on, and try again"

MORE_THREADS = (
    "Ask for fewer (threads=, --threads), or raise the limit on them: ulimit -u, the container's "
    "limit on pids, or memory for their stacks."
)


def refused(what: str, code: int) -> ResourceError:
    """Return the error for `what` that the machine refused with this errno."""
    return ResourceError(
        f"{what}. This is a failure of the machine and not of the file, which is neither skipped "
        f"nor replaced. {_ADVICE.get(code, _CHECK_DISK)}."
    )


def raise_if_refused(error: BaseException, where: str = "") -> None:
    """Raise a ResourceError if the machine, not a file, caused `error` or what it came from."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ResourceError):
            raise ResourceError(f"{where}: {seen}" if where else str(seen)) from error
        code = errno.ENOMEM if isinstance(seen, MemoryError) else getattr(seen, "errno", None)
        if isinstance(seen, (OSError, MemoryError)) and code in _OF_THE_MACHINE:
            said = seen.strerror if isinstance(seen, OSError) else "not enough memory"
            what = f"it cannot be read ({said})"
            raise refused(f"{where}: {what}" if where else what, code) from error
        seen = seen.__cause__


def python_ends() -> PythonEndsError:
    """Return the error for what is asked of a loader or another pool when Python ends."""
    return PythonEndsError(
        "The main thread has ended, and Python starts no more work for other threads then. "
        "Wait for your threads before the main thread ends: thread.join()."
    )


class Pool(ThreadPoolExecutor):
    """A pool that works with the threads it could start; an error if it could start none."""

    def __init__(self, threads: int, name: str = "penstock") -> None:
        self._idents: set[int] = set()
        # A plain function: a method would keep alive a pool that nobody else refers to.
        super().__init__(threads, name, initializer=_note_thread, initargs=(self._idents,))
        self._asked = threads
        self._was_shut_down = False

    def has_waiting(self) -> bool:
        """Whether there is work that no thread has begun."""
        return not self._work_queue.empty()

    def holds_this_thread(self) -> bool:
        """Whether the caller runs on one of the threads."""
        return threading.get_ident() in self._idents

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Begin `fn`; raises RuntimeError after `shutdown`, PythonEndsError if Python ends."""
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError as error:
            if self._was_shut_down:
                raise
            raise python_ends() from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads."""
        # The base class has a mark of its own, which its threads set as Python ends, too.
        self._was_shut_down = True
        super().shutdown(wait, cancel_futures=cancel_futures)

    def _adjust_thread_count(self) -> None:
        # Called when there is work for another thread; the work lies in the queue by then, where
        # the threads that run will find it.
        try:
            super()._adjust_thread_count()
        except RuntimeError as error:
            if not self._threads:
                raise ResourceError(
                    f"No thread could be started ({error}); {self._asked} were asked for. "
                    f"{MORE_THREADS}"
                ) from error


def _note_thread(idents: set[int]) -> None:
    idents.add(threading.get_ident())
