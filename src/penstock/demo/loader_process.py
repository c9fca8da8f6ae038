"""A loader in a process of its own, so that neither loader's threads or modules touch the other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from penstock.errors import LoaderError, PenstockError

if TYPE_CHECKING:
    from typing_extensions import Self

FAREWELL_S = 5.0


@dataclass(frozen=True, slots=True)
class _Failure:
    message: str


class LoaderProcess:
    """An object that lives in a fresh process, made there by `factory(argument)`.

    Entering waits until it is made; leaving ends the process.
    Both `factory` and the arguments of calls must be picklable.
    """

    def __init__(self, label: str, factory: Callable[[Any], object], argument: object) -> None:
        self.label = label
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, factory, argument))
        self._theirs = theirs

    def __enter__(self) -> Self:
        self._process.start()
        self._theirs.close()  # so that the end of the process closes the last writing end
        try:
            self._answer()
        except BaseException:
            self._end(gently=False)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end(gently=kind is None)

    def call(self, method: str, *arguments: object) -> Any:
        """Call a method of the object over there and return its result."""
        self._connection.send((method, arguments))
        return self._answer()

    def _answer(self) -> Any:
        try:
            answer = self._connection.recv()
        except (EOFError, ConnectionError) as error:
            self._process.join(FAREWELL_S)
            raise LoaderError(
                f"{self.label}: its process ended unasked (exit code {self._process.exitcode}); "
                "there may be too little memory."
            ) from error
        if isinstance(answer, _Failure):
            raise LoaderError(f"{self.label}: {answer.message}")
        return answer

    def _end(self, *, gently: bool) -> None:
        if gently:
            try:
                self._connection.send(None)
            except OSError:
                gently = False
        self._connection.close()
        if not gently:
            self._process.terminate()
        self._process.join(FAREWELL_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _leave_when_terminated() -> None:
    """End by way of an exception, so that a loader can still end its own workers."""
    owner = os.getpid()

    def leave(number: int, frame: FrameType | None) -> None:
        del number, frame
        if os.getpid() != owner:  # a worker that was forked from here, and has nothing to tidy
            os._exit(1)
        raise SystemExit

    signal.signal(signal.SIGTERM, leave)


def _serve(connection: Connection, factory: Callable[[Any], object], argument: object) -> None:
    # Ctrl-C reaches all processes of a terminal; the first one decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _leave_when_terminated()
    warnings.simplefilter("ignore")  # what a peer's packages warn about is no news to our user
    try:
        served = factory(argument)
        connection.send(None)
        while (request := connection.recv()) is not None:
            method, arguments = request
            connection.send(getattr(served, method)(*arguments))
    except EOFError:
        return
    except PenstockError as error:
        connection.send(_Failure(str(error)))
    except Exception as error:  # noqa: BLE001 (told in full by the first process)
        connection.send(_Failure(f"stopped with {type(error).__name__}: {error}"))
