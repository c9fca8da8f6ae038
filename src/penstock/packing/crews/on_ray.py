"""Workers as actors of a Ray cluster: Ray places them on nodes, and says when one is gone.

Actors are not restarted by Ray: the leader decides who packs what, so it makes a new one itself.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from penstock.errors import PackError, PenstockError
from penstock.packing.crews.crew import Crew, Died, Event, Failed, Packed, Progress
from penstock.packing.crews.processes import cannot_be_sent
from penstock.packing.crews.worker import Work, Worker
from penstock.packing.summary import Noted

if TYPE_CHECKING:
    from typing_extensions import Self

_PATIENCE_S = 0.5
_CPUS_PER_WORKER = 1


def import_ray() -> Any:
    """Return the module, or say how to get it."""
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise PackError(
            "engine=\"ray\": Ray is not installed. Install it with: pip install 'penstock[ray]'"
        ) from error


class RayCrew(Crew):
    """As many actors as asked for, or as the cluster has cores; one that dies is replaced.

    Joins the cluster that this process is connected to, or that `RAY_ADDRESS` names; without one,
    starts one on this machine for as long as the pack takes.
    """

    def __init__(self, work: Work, size: int | None) -> None:
        self._ray = import_ray()
        self._work = work
        self._starts_ray = not self._ray.is_initialized()
        if self._starts_ray:
            self._ray.init(include_dashboard=False, log_to_driver=False, logging_level="WARNING")
        cores = int(self._ray.cluster_resources().get("CPU", 1))
        self.size = size or max(cores // _CPUS_PER_WORKER, 1)
        self._told_once: list[Any] = []
        self._members: list[Any] = []
        self._shards: dict[Any, tuple[int, int]] = {}  # worker and shard of what is under way
        self._board: Any = None
        self._told: Any = None  # what the board is being asked

    def __enter__(self) -> Self:
        try:
            self._told_once = [self._ray.put(self._work)]  # in a list, or Ray would unpack it
        except TypeError as error:
            self._leave()
            raise cannot_be_sent(self._work, error) from error
        remote = self._ray.remote
        self._board = remote(num_cpus=0, max_restarts=-1)(_Board).remote()
        self._actor = remote(num_cpus=_CPUS_PER_WORKER, max_restarts=0)(_RayWorker)
        self._members = [self._new() for _ in range(self.size)]
        return self

    def __exit__(self, *error: object) -> None:
        for member in (*self._members, self._board):
            with suppress(Exception):  # it may be gone
                self._ray.kill(member)
        self._leave()

    def _leave(self) -> None:
        if self._starts_ray:
            self._ray.shutdown()

    def _new(self) -> Any:
        return self._actor.remote(self._told_once, self._board)

    def give(self, worker: int, shard: int) -> None:
        """Let a worker pack a shard."""
        self._shards[self._members[worker].pack.remote(shard)] = worker, shard

    def wait(self) -> list[Event]:
        """Return what the workers say, and who has died."""
        ready, _ = self._ray.wait(list(self._shards), num_returns=1, timeout=_PATIENCE_S)
        events = [self._ended(future) for future in ready]
        return [*self._progress(), *events]

    def _ended(self, future: Any) -> Event:
        worker, shard = self._shards.pop(future)
        try:
            noted: Noted = self._ray.get(future)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            told = cause if isinstance(cause, PenstockError) else PackError(str(error))
            return Failed(worker, shard, told)
        except self._ray.exceptions.RayError as error:  # the actor, its node or what it gave
            with suppress(Exception):  # it may be gone, or only seem so
                self._ray.kill(self._members[worker])
            self._members[worker] = self._new()
            return Died(worker, shard, type(error).__name__)
        return Packed(worker, shard, noted)

    def _progress(self) -> list[Event]:
        """What workers have told the board since; nothing if it does not answer at once."""
        if self._told is None:
            self._told = self._board.take.remote()
        ready, _ = self._ray.wait([self._told], timeout=0)
        if not ready:
            return []
        told, self._told = self._told, None
        try:
            samples: dict[int, int] = self._ray.get(told)
        except self._ray.exceptions.RayError:  # it was restarted: only a bar is behind
            return []
        return [Progress(shard, done) for shard, done in samples.items()]


class _Board:
    """Where workers say how far they are."""

    def __init__(self) -> None:
        self._samples: dict[int, int] = {}

    def tell(self, shard: int, samples: int) -> None:
        """Note how many samples of a shard are done."""
        self._samples[shard] = samples

    def take(self) -> dict[int, int]:
        """Return what was told since the last time."""
        samples, self._samples = self._samples, {}
        return samples


class _RayWorker:
    """A worker in an actor."""

    def __init__(self, told: list[Any], board: Any) -> None:
        self._told = told
        self._board = board
        self._worker: Worker | None = None

    def pack(self, shard: int) -> Noted:
        """Pack a shard."""
        if self._worker is None:
            self._worker = Worker(import_ray().get(self._told[0]))
        return self._worker.pack(shard, lambda done: self._board.tell.remote(shard, done))
