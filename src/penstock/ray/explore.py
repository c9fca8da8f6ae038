"""How a search for an augmentation schedule moves through its space.

The space and the moves are those of Population Based Augmentation (Ho, Liang, Stoica, Abbeel and
Chen, 2019): each of fifteen ops twice, with one of eleven probabilities and one of ten levels. All
of them begin at 0. A move draws one number in five anew, and moves the others by up to three steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from penstock.transforms.policies.population import Schedule, as_schedule
from penstock.transforms.policies.spaces import population_ops

_TIMES_EACH = 2
_PROBABILITY_STEPS = 10
_MOST_LEVEL = 9  # 10 can be written in a schedule, but was never searched
_ANEW = 0.2
_FARTHEST = 3  # steps

Op = tuple[str, float, int]  # name, probability, level
Ops = tuple[Op, ...]


def first_ops() -> Ops:
    """Where a search begins: every op, and none of them is ever done."""
    return tuple((op.name, 0.0, 0) for op in population_ops() for _ in range(_TIMES_EACH))


def explore(ops: Ops, dice: Random) -> Ops:
    """Return ops in the neighbourhood of these."""
    return tuple(
        (
            name,
            _moved(round(probability * _PROBABILITY_STEPS), _PROBABILITY_STEPS, dice)
            / _PROBABILITY_STEPS,
            _moved(level, _MOST_LEVEL, dice),
        )
        for name, probability, level in ops
    )


def _moved(place: int, most: int, dice: Random) -> int:
    if dice.random() < _ANEW:
        return dice.randint(0, most)
    steps = dice.choice((-1, 1)) * dice.randint(0, _FARTHEST)
    return min(max(place + steps, 0), most)


@dataclass(frozen=True, slots=True)
class History:
    """Which ops a training, and those that it took over from, had from which epoch on."""

    stages: tuple[tuple[int, Ops], ...] = ()

    def then(self, epoch: int, ops: Ops) -> History:
        """Go on with these ops from an epoch on, which must be after all others."""
        if self.stages and self.stages[-1][1] == ops:
            return self
        return History((*self.stages, (epoch, ops)))

    def as_listed(self) -> list[Any]:
        """Return it as JSON has it."""
        return [[epoch, [list(op) for op in ops]] for epoch, ops in self.stages]

    @classmethod
    def from_listed(cls, listed: Sequence[Any]) -> History:
        """Read what `as_listed` gave."""
        return cls(tuple((epoch, as_ops(ops)) for epoch, ops in listed))


def as_ops(listed: Sequence[Sequence[Any]]) -> Ops:
    """Return ops that were in JSON."""
    return tuple((str(name), float(chance), int(level)) for name, chance, level in listed)


def as_content(history: History, epochs: int, counts: Sequence[float]) -> dict[str, Any]:
    """Return what a schedule's file contains, for a training of so many epochs."""
    stages = [{"from_epoch": epoch, "ops": ops} for epoch, ops in history.as_listed()]
    return {"epochs": epochs, "counts": list(counts), "stages": stages}


def checked(where: str, content: dict[str, Any]) -> Schedule:
    """Return the schedule that `PopulationBasedAugment` would read, or raise its TransformError."""
    return as_schedule(where, content, [op.name for op in population_ops()])
