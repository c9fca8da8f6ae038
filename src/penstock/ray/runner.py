"""Has the parts of batches prepared by Ray's workers, each until one of them has answered."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError

from penstock._core import Format
from penstock.errors import LoaderError, PenstockError, ResourceError
from penstock.loading.last_pass import LastPassRunner
from penstock.loading.prepared_part import OrderedPart, PreparedPart
from penstock.loading.runner import RunSetup
from penstock.ray.crew import PARTS_PER_WORKER, TICK_S, Crew, Hired
from penstock.ray.metrics import Counters
from penstock.ray.worker import Answer

# A part that costs so many workers their lives is at fault, and not the machines.
_MOST_LOSSES = 20

# Failures of a machine, such as memory or its disk, that another one may not have.
_MOST_RETRIES = 3

# When a part counts as late: after so many times as long as parts usually take, and so long.
_LATE_TIMES = 4.0
_LATE_S = 2.0

_WINDOW = PARTS_PER_WORKER + 1  # parts under way or ready, for each worker


@dataclass(frozen=True, slots=True)
class Attempt:
    """A part that a worker was asked for."""

    ref: Any
    hired: Hired
    sent_at: float


@dataclass(slots=True)
class _Wait:
    """A part that is waited for."""

    order: OrderedPart
    since: float = field(default_factory=time.monotonic)
    attempts: list[Attempt] = field(default_factory=list)  # under way
    losses: int = 0  # of workers that had it
    retries: int = 0  # for other reasons


class RayRunner(LastPassRunner):
    """Fills batches with parts that workers prepare."""

    most_under_way: ClassVar[int] = 512

    def __init__(
        self,
        setup: RunSetup,
        formats: list[Format],
        crew: Crew,
        counters: Counters,
        *,
        timeout_s: float,
        hedge: bool,
        window: bool,
    ) -> None:
        super().__init__(setup, formats)
        self.crew = crew
        self._counters = counters
        self._timeout_s = timeout_s
        self._hedge = hedge
        self._window = window  # whether batches ahead follow the number of workers
        self._usual_s = 0.0  # that a part takes

    @property
    def parts_ahead(self) -> int:
        """Enough to keep all workers busy."""
        return _WINDOW * self.crew.wanted if self._window else 0

    def abandon(self) -> None:
        """Let parts under way end early, and dismiss the workers."""
        super().abandon()
        self.crew.stop()

    def end(self) -> None:
        """End the core's threads, and wait until the workers are dismissed."""
        super().end()
        self.crew.close()

    def _prepare(self, order: OrderedPart) -> PreparedPart:
        wait = _Wait(order)
        try:
            while True:
                self.crew.check(wait.since, self._timeout_s)
                answer = self._ask(wait)
                if isinstance(answer, PreparedPart):
                    return answer
                if answer is not None:
                    raise answer
        finally:
            for attempt in wait.attempts:
                self.crew.leave(attempt.ref, attempt.hired)

    def _ask(self, wait: _Wait) -> PreparedPart | PenstockError | None:
        """Ask a worker, or look whether one has answered; None if it must be tried again."""
        if not wait.attempts:
            hired = self.crew.take(wait.order.rank, TICK_S)
            if hired is None:
                return None
            wait.attempts.append(_send(wait.order, hired))
        answered = _first_answer(wait.attempts)
        if answered is None:
            self._help_late(wait.order, wait.attempts)
            return None
        attempt, told = answered
        wait.attempts.remove(attempt)
        answer = self._judge(attempt, told, wait)
        if isinstance(answer, PreparedPart):
            self._count(answer, attempt)
        elif answer is None:
            self._counters.add(recomputed=1)
        return answer

    def _judge(
        self, attempt: Attempt, told: Answer | RayError, wait: _Wait
    ) -> PreparedPart | PenstockError | None:
        """What an answer means; None if it is lost, or another worker may do better."""
        if isinstance(told, RayActorError):
            self.crew.lose(attempt.hired, told)
            wait.losses += 1
            return _deadly(wait, told) if wait.losses >= _MOST_LOSSES else None
        if isinstance(told, RayError):  # the answer was lost, or could not be stored
            self.crew.release(attempt.hired)
            wait.retries += 1
            lost = f"RayLoader: a part of a batch was lost {wait.retries} times: {told}"
            return LoaderError(lost) if wait.retries > _MOST_RETRIES else None
        self.crew.release(attempt.hired, delivered=True)
        self.crew.warn(told.warned)
        if isinstance(told.part, PreparedPart):
            return told.part
        raised = told.part.error()
        is_machine = isinstance(raised, ResourceError)
        wait.retries += is_machine
        return None if is_machine and wait.retries <= _MOST_RETRIES else raised

    def _help_late(self, order: OrderedPart, attempts: list[Attempt]) -> None:
        """Ask an idle worker, too, if the only one that was asked takes much longer than usual."""
        if not self._hedge or len(attempts) > 1:
            return
        late_s = max(_LATE_S, _LATE_TIMES * self._usual_s)
        if time.monotonic() - attempts[0].sent_at > late_s:
            hired = self.crew.take_idle()
            if hired is not None:
                attempts.append(_send(order, hired))
                self._counters.add(hedged=1)

    def _count(self, part: PreparedPart, attempt: Attempt) -> None:
        took_s = time.monotonic() - attempt.sent_at
        self._usual_s += 0.1 * (took_s - self._usual_s) if self._usual_s else took_s
        self._counters.add(parts=1, wire_bytes=part.nbytes)


def _send(order: OrderedPart, hired: Hired) -> Attempt:
    return Attempt(hired.send(order), hired, time.monotonic())


def _first_answer(
    attempts: Sequence[Attempt],
) -> tuple[Attempt, Answer | RayError] | None:
    """The first answer of those asked, or what became of it; None if none comes soon."""
    first = attempts[0]
    if len(attempts) > 1:
        done = ray.wait([attempt.ref for attempt in attempts], timeout=TICK_S)[0]
        if not done:
            return None
        first = next(attempt for attempt in attempts if attempt.ref == done[0])
    try:
        return first, ray.get(first.ref, timeout=TICK_S)
    except GetTimeoutError:
        return None
    except RayError as error:
        return first, error


def _deadly(wait: _Wait, error: Exception) -> LoaderError:
    samples = wait.order.samples
    some = ", ".join(map(str, samples[:4].tolist())) + (", ..." if len(samples) > 4 else "")
    told = str(error).partition("\n")[0]
    return LoaderError(
        f"RayLoader: {wait.losses} workers died on the same part of a batch, with samples {some} "
        f"in epoch {wait.order.epoch}. The last: {told} Try these samples in a Loader; if that "
        "works, give the workers more memory."
    )
