"""The workers of a RayLoader: hired, replaced when they are lost, and dismissed.

One thread, the steward, keeps as many workers as are wanted. Those who want a part prepared take a
worker that has room, and say afterwards whether it is free again or lost.
"""

from __future__ import annotations

import threading
import time
import warnings
from bisect import insort
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError

from penstock.errors import LoaderError, PenstockError
from penstock.loading.pipeline import ChosenRules
from penstock.loading.prepared_part import OrderedPart
from penstock.ray.metrics import Counters
from penstock.ray.worker import Facts, Raised, Worker, WorkerInfo

# Parts that a worker has at a time: one that is worked on, and one whose files are read or whose
# answer is on its way.
PARTS_PER_WORKER = 2

# How often those who wait look around.
TICK_S = 0.25

_FIRST_PAUSE_S = 0.5  # before another worker is started in the place of one that did nothing
_LONGEST_PAUSE_S = 30.0

_Ref = Any  # ray.ObjectRef; Ray is not looked at by the type checker


@dataclass(eq=False, slots=True)
class Hired:
    """A worker, from the moment it is asked for."""

    actor: Any
    opening: _Ref
    info: WorkerInfo | None = None  # None until it is open
    under_way: int = 0
    delivered: int = 0
    leaving: bool = False  # gets no more parts

    def send(self, order: OrderedPart) -> _Ref:
        """Ask for a part."""
        return self.actor.prepare.remote(order)


class Crew:
    """As many workers as are wanted, whatever happens to single ones."""

    def __init__(
        self,
        spec: _Ref,
        rules: ChosenRules,
        facts: Facts,
        wanted: int,
        options: Mapping[str, Any],
        counters: Counters,
    ) -> None:
        self._spec = ray.put(rules), spec
        self._facts = facts
        self._options = options
        self._counters = counters
        self._hired: list[Hired] = []
        self._wanted = wanted
        self._queue: list[int] = []  # who waits for a worker; lower goes first
        self._left: dict[_Ref, Hired] = {}  # answers that nobody waits for any more
        self._fatal: Raised | None = None
        self._warned: set[str] = set()
        self._trouble = ""  # what Ray said last
        self._failures = 0  # workers in a row that delivered nothing
        self._hire_at = 0.0
        self._progress_at = time.monotonic()
        self._stopped = False
        self._changed = threading.Condition()
        self._steward = threading.Thread(target=self._tend, name="penstock-ray", daemon=True)
        self._steward.start()

    @property
    def wanted(self) -> int:
        """How many workers there should be."""
        return self._wanted

    def scale(self, wanted: int) -> None:
        """Have another number of workers from now on."""
        with self._changed:
            self._wanted = wanted

    def infos(self) -> tuple[WorkerInfo, ...]:
        """Where the workers run that are ready."""
        with self._changed:
            return tuple(one.info for one in self._hired if one.info is not None)

    def check(self, since: float, timeout_s: float) -> None:
        """Raise if nothing can come any more, or nothing came for too long.

        `since` is when the caller began to wait.
        """
        if self._stopped:
            raise LoaderError("The loader was closed.")
        if self._fatal is not None:
            raise self._fatal.error()
        waited_s = time.monotonic() - max(since, self._progress_at)
        if waited_s > timeout_s:
            raise LoaderError(f"RayLoader: {self._describe_wait(waited_s)}")

    def take(self, rank: int, timeout_s: float) -> Hired | None:
        """Return a worker that has room, to those of the lowest rank first; None if none comes."""
        with self._changed:
            insort(self._queue, rank)
            try:
                self._changed.wait_for(lambda: self._is_served(rank), timeout_s)
                return self._take_idlest() if self._is_served(rank) else None
            finally:
                self._queue.remove(rank)
                self._changed.notify_all()

    def take_idle(self) -> Hired | None:
        """Return a worker that has nothing to do, if there is one that nobody waits for."""
        with self._changed:
            idle = [one for one in self._hired if self._has_room(one) and not one.under_way]
            if self._queue or not idle:
                return None
            idle[0].under_way += 1
            return idle[0]

    def release(self, hired: Hired, *, delivered: bool = False) -> None:
        """A worker has answered, and has room for another part."""
        with self._changed:
            hired.under_way -= 1
            if delivered:
                hired.delivered += 1
                self._failures = 0
                self._progress_at = time.monotonic()
            self._changed.notify_all()

    def leave(self, ref: _Ref, hired: Hired) -> None:
        """Nobody waits for this answer any more; its worker has room once it is there."""
        with self._changed:
            self._left[ref] = hired

    def lose(self, hired: Hired, error: Exception) -> None:
        """A worker has died, or cannot be reached."""
        with self._changed:
            if hired not in self._hired:
                return
            self._hired.remove(hired)
            self._trouble = str(error).partition("\n")[0]
            if not hired.delivered:
                pause_s = min(_FIRST_PAUSE_S * 2**self._failures, _LONGEST_PAUSE_S)
                self._failures += 1
                self._hire_at = time.monotonic() + pause_s
            self._changed.notify_all()
        self._counters.add(restarts=1)
        _kill(hired)

    def warn(self, texts: Sequence[str]) -> None:
        """Pass on what workers warn of, each warning once."""
        for text in texts:
            with self._changed:
                is_new = text not in self._warned
                self._warned.add(text)
            if is_new:
                warnings.warn(text, stacklevel=2)

    def stop(self) -> None:
        """Let everything end soon. Takes no lock, for the garbage collector may call it."""
        self._stopped = True

    def close(self) -> None:
        """Dismiss all workers, and wait until that is done."""
        self.stop()
        self._steward.join()

    def _is_served(self, rank: int) -> bool:
        return self._queue[0] == rank and any(map(self._has_room, self._hired))

    @staticmethod
    def _has_room(hired: Hired) -> bool:
        ready = hired.info is not None and not hired.leaving
        return ready and hired.under_way < PARTS_PER_WORKER

    def _take_idlest(self) -> Hired:
        hired = min(filter(self._has_room, self._hired), key=lambda one: one.under_way)
        hired.under_way += 1
        return hired

    # ---- the steward ----------------------------------------------------------------------------

    def _tend(self) -> None:
        try:
            while not self._stopped:
                if not ray.is_initialized():  # a call would start another cluster
                    self._end_with(LoaderError("RayLoader: Ray was shut down meanwhile."))
                    return
                self._match_wanted()
                self._look_at_answers()
        except Exception as error:  # noqa: BLE001 (Ray was shut down, or its head node is gone)
            self._end_with(LoaderError(f"RayLoader: Ray does not answer any more ({error})."))
        finally:
            with self._changed:
                hired, self._hired = self._hired, []
                self._changed.notify_all()
            for one in hired:
                _kill(one)

    def _match_wanted(self) -> None:
        gone: list[Hired] = []
        with self._changed:
            staying = [one for one in self._hired if not one.leaving]
            for one in staying[self._wanted :]:
                one.leaving = True
            gone = [one for one in self._hired if one.leaving and not one.under_way]
            self._hired = [one for one in self._hired if one not in gone]
            missing = self._wanted - len(staying)
            if self._fatal is not None or time.monotonic() < self._hire_at:
                missing = 0
        for one in gone:
            _kill(one)
        for _ in range(missing):
            hired = self._hire()
            with self._changed:
                self._hired.append(hired)

    def _hire(self) -> Hired:
        rules, spec = self._spec
        actor = ray.remote(Worker).options(**self._options).remote()
        return Hired(actor, actor.open.remote(spec, rules))

    def _look_at_answers(self) -> None:
        with self._changed:
            opening = {one.opening: one for one in self._hired if one.info is None}
            left = dict(self._left)
        awaited = [*opening, *left]
        if not awaited:
            time.sleep(TICK_S)
            return
        for ref in ray.wait(awaited, num_returns=1, timeout=TICK_S)[0]:
            if ref in opening:
                self._welcome(opening[ref])
                continue
            with self._changed:
                del self._left[ref]
            try:
                ray.get(ref)
            except RayActorError as error:
                self.lose(left[ref], error)
            except RayError:
                self.release(left[ref])
            else:
                self.release(left[ref], delivered=True)

    def _welcome(self, hired: Hired) -> None:
        try:
            answer = ray.get(hired.opening)
        except RayActorError as error:
            self.lose(hired, error)
            return
        except RayError as error:  # the arguments cannot be read there
            self._end_with(
                LoaderError(
                    "RayLoader: a worker could not be set up. What the arguments refer to, such as "
                    f"modules with functions of yours, must be on every node of Ray's:\n{error}"
                )
            )
            return
        if isinstance(answer, Raised):
            self._end_with(answer.error())
            return
        info, facts = answer
        difference = self._facts.difference(facts)
        if difference is not None:
            self._end_with(
                LoaderError(
                    f"RayLoader: the worker on {info.host} {difference}. Every node of Ray's must "
                    "have the same version, and see the same data under the same path."
                )
            )
            return
        with self._changed:
            hired.info = info
            self._progress_at = time.monotonic()
            self._changed.notify_all()

    def _end_with(self, error: PenstockError) -> None:
        self._fatal = self._fatal or Raised.of(error)
        with self._changed:
            self._changed.notify_all()

    def _describe_wait(self, waited_s: float) -> str:
        ready = len(self.infos())
        have = f"{ready} of {self._wanted} workers are ready"
        told = f"; the last that was lost: {self._trouble}" if self._trouble else ""
        return (
            f"no part of a batch came for {waited_s:.0f} s. {have}{told}. Each asks Ray for "
            f"{self._options.get('num_cpus')} CPUs; of {_cpus(ray.cluster_resources())} in the "
            f"cluster, {_cpus(ray.available_resources())} are free. Ask for fewer workers or "
            "worker_threads, add nodes, or raise timeout_s if parts really take so long."
        )


def _cpus(resources: Mapping[str, float]) -> str:
    return f"{resources.get('CPU', 0):g}"


def _kill(hired: Hired) -> None:
    with suppress(Exception):  # it is dead, or Ray is: there is nothing left to do
        ray.kill(hired.actor)
