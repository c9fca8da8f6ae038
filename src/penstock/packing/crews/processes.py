"""Workers as processes of this machine.

They are programs of their own, not forks: threads and locks of this process stay here, and a script
that calls `pack` needs no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import copy
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING

from penstock.errors import PackError
from penstock.packing.crews.crew import Crew, Died, Event, Failed, Packed, Progress
from penstock.packing.crews.worker import Work, Worker

if TYPE_CHECKING:
    from typing_extensions import Self

_PATIENCE_S = 1.0
_CODE = "from penstock.packing.crews.processes import serve; serve({})"


class ProcessCrew(Crew):
    """As many processes as asked for; one that dies is replaced."""

    def __init__(self, work: Work, size: int) -> None:
        self.size = size
        self._message = _as_bytes(work)
        self._members: list[_Member] = []

    def __enter__(self) -> Self:
        self._members = [_Member(self._message) for _ in range(self.size)]
        return self

    def __exit__(self, *error: object) -> None:
        for member in self._members:
            member.end()
        self._members = []

    def give(self, worker: int, shard: int) -> None:
        """Let a worker pack a shard."""
        member = self._members[worker]
        member.shard = shard
        with suppress(OSError):  # it is dead, as waiting for it will tell
            member.link.send(shard)

    def wait(self) -> list[Event]:
        """Return what the workers say, and who has died."""
        numbers = {member.link: number for number, member in enumerate(self._members)}
        events: list[Event] = []
        for link in wait(list(numbers), _PATIENCE_S):
            assert isinstance(link, Connection)  # noqa: S101  no others were waited for
            events.append(self._hear(numbers[link]))
        return events

    def _hear(self, number: int) -> Event:
        member = self._members[number]
        try:
            said, value = member.link.recv()
        except (EOFError, OSError):
            how = member.end()
            self._members[number] = _Member(self._message)
            return Died(number, member.shard, how)
        shard = -1 if member.shard is None else member.shard
        if said == "progress":
            return Progress(shard, value)
        member.shard = None
        return Packed(number, shard, value) if said == "packed" else Failed(number, shard, value)


class _Member:
    """One process, and the line to it."""

    def __init__(self, message: bytes) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  ourselves
                [sys.executable, "-c", _CODE.format(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for this process, which ends the others
            )
        self.link = Connection(ours.detach())
        self.shard: int | None = None
        with suppress(OSError):  # it is dead already
            self.link.send(sys.path)
            self.link.send_bytes(message)

    def end(self) -> str:
        """End it, at once: what it leaves behind can be gone on with. Returns how it ended."""
        self.link.close()
        self._process.kill()
        code = self._process.wait()
        if code >= 0:
            return f"exit code {code}"
        with suppress(ValueError):
            return signal.Signals(-code).name
        return f"signal {-code}"


def _as_bytes(work: Work) -> bytes:
    """Return what workers are told, as the line takes it; PackError if it cannot leave."""
    try:
        return bytes(ForkingPickler.dumps(work))
    except Exception as error:
        raise cannot_be_sent(work, error) from error


def cannot_be_sent(work: Work, error: Exception) -> PackError:
    """Say that a source is tied to this process."""
    return PackError(
        f"{type(work.request.source).__name__}: such a source cannot be sent to other processes "
        f'({error}). Give a path, or pack with engine="threads".'
    )


def serve(descriptor: int) -> None:
    """Be a worker: packs the shards whose numbers come along the line, until it ends."""
    link = Connection(descriptor)
    sys.path[:] = link.recv()
    worker = _worker(link)
    shards = _listen(link)
    while True:
        shard = shards.get()
        try:
            noted = worker().pack(shard, lambda done: link.send(("progress", done)))
        except Exception as error:  # noqa: BLE001 (the leader gets it, whatever it is)
            link.send(("failed", _sendable(error)))
        else:
            link.send(("packed", noted))


def _worker(link: Connection) -> Callable[[], Worker]:
    """Hear what is to be done; what this process cannot understand is an error of every shard."""
    try:
        worker = Worker(link.recv())
    except Exception as error:  # noqa: BLE001 (of any class that is sent)
        reason = PackError(
            f"the source cannot be opened in another process ({error!r}). Its class has to be in "
            'a module that can be imported; or pack with engine="threads".'
        )

        def refuse() -> Worker:
            raise reason

        return refuse
    return lambda: worker


def _listen(link: Connection) -> queue.SimpleQueue[int]:
    """Return a queue of the shards that come; the process ends as soon as its leader does."""
    shards: queue.SimpleQueue[int] = queue.SimpleQueue()

    def listen() -> None:
        while True:
            try:
                shards.put(link.recv())
            except (EOFError, OSError):
                os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    return shards


def _sendable(error: Exception) -> Exception:
    """The error, if it can be sent; else one that says the same."""
    try:
        copy.copy(error)  # is made anew from what is sent
        ForkingPickler.dumps(error)
    except Exception:  # noqa: BLE001 (whatever its class does not allow)
        return PackError(f"{type(error).__name__}: {error}")
    return error
