"""Hands shards out to workers, and goes on whatever dies.

A worker that dies leaves its shard unfinished, with a journal. The next one goes on from there, so
the bytes are those of an undisturbed pack. Only a shard at which one worker after another dies
without getting any further ends the pack: a file that takes all memory, say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from penstock.errors import PackError, PenstockError
from penstock.packing.sharded import ShardPlan
from penstock.packing.summary import Noted

MOST_DEATHS = 10  # at one shard, one after another, without a sample more
_ERRORS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Progress:
    """So many samples of a shard are done."""

    shard: int
    samples: int


@dataclass(frozen=True, slots=True)
class Packed:
    """A shard is there."""

    worker: int
    shard: int
    noted: Noted


@dataclass(frozen=True, slots=True)
class Failed:
    """A shard cannot be packed; another worker would fail in the same way."""

    worker: int
    shard: int
    error: Exception


@dataclass(frozen=True, slots=True)
class Died:
    """A worker is gone, and another one has its place."""

    worker: int
    shard: int | None  # that it was packing
    how: str


Event = Progress | Packed | Failed | Died


class Crew(AbstractContextManager["Crew"], ABC):
    """Workers, numbered from 0 on."""

    size: int

    @abstractmethod
    def give(self, worker: int, shard: int) -> None:
        """Let a worker that has nothing to do pack a shard."""

    @abstractmethod
    def wait(self) -> list[Event]:
        """Return what happened, as soon as something did; or nothing, after a moment."""


class Leader:
    """Has shards packed by a crew; `advance` is told how many samples more are done."""

    def __init__(self, plan: ShardPlan, crew: Crew, advance: Callable[[int], None]) -> None:
        self._plan = plan
        self._crew = crew
        self._advance = advance
        self._waiting: deque[int] = deque()
        self._idle = deque(range(crew.size))
        self._busy = 0
        self._done: dict[int, int] = {}  # samples of each shard, the most that was reported
        self._at_last_death: dict[int, int] = {}
        self._deaths: dict[int, int] = {}
        self._noted: dict[int, Noted] = {}
        self._errors: dict[int, Exception] = {}
        self.died = 0  # workers, all in all

    def pack(self, shards: Iterable[int]) -> list[Noted]:
        """Have these shards packed; returns what is to be remarked of each, in their order."""
        self._waiting.extend(shards)
        while self._waiting or self._busy:
            while self._waiting and self._idle:
                self._crew.give(self._idle.popleft(), self._waiting.popleft())
                self._busy += 1
            for event in self._crew.wait():
                self._take(event)
        if self._errors:
            raise self._error()
        return [self._noted[number] for number in sorted(self._noted)]

    def _take(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._count(event.shard, event.samples)
            return
        if isinstance(event, Died):
            self.died += 1
            if event.shard is None:
                return
        self._idle.append(event.worker)
        self._busy -= 1
        if isinstance(event, Packed):
            self._noted[event.shard] = event.noted
            self._count(event.shard, self._plan.samples(event.shard))
        elif isinstance(event, Failed):
            self._errors[event.shard] = event.error
            self._waiting.clear()  # what is under way is finished, nothing else is begun
        elif event.shard is not None:
            self._again(event.shard, event.how)

    def _count(self, shard: int, samples: int) -> None:
        before = self._done.get(shard, 0)
        if samples > before:
            self._done[shard] = samples
            self._advance(samples - before)

    def _again(self, shard: int, how: str) -> None:
        done = self._done.get(shard, 0)
        got_further = done > self._at_last_death.get(shard, -1)
        self._deaths[shard] = 1 if got_further else self._deaths.get(shard, 0) + 1
        self._at_last_death[shard] = done
        if self._deaths[shard] >= MOST_DEATHS:
            first = self._plan.span(shard).start
            self._errors[shard] = PackError(
                f"{self._plan.paths[shard]}: {MOST_DEATHS} workers died at it, one after another, "
                f"after sample {first + done:,} of the source ({how}). A file there may need more "
                "memory than there is. Go on with --resume (resume=True) and fewer workers."
            )
            self._waiting.clear()
        elif not self._errors:
            self._waiting.appendleft(shard)

    def _error(self) -> Exception:
        """The error of the first shard that has one, and what the others say."""
        first, *others = (self._errors[shard] for shard in sorted(self._errors))
        more = list(dict.fromkeys(str(error) for error in others if str(error) != str(first)))
        if not more or not isinstance(first, PenstockError):
            return first
        told = " ".join(more[:_ERRORS_SHOWN])
        return type(first)(f"{first} Of other shards, {len(more)} cannot be packed: {told}")
