"""Several processes that train together: one verdict over all of them, and who holds them up.

Processes that exchange gradients leave each step at the same moment. One that gets its data late
makes the others wait, inside their own steps: their loaders look fine, and their steps long. So the
rank with the longest wait for data is the straggler, even though every rank has the same rate.
Where steps do not wait for each other, the rank with the longest step is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from penstock.watching.step_times import StepTimes

_STANDS_OUT = 0.1  # of a step: ranks of a quiet machine differ by less
_LEAST_STEPS = 5


@dataclass(frozen=True, slots=True)
class RankSteps:
    """What a rank's steps were like, without the first of each epoch."""

    rank: int
    steps: int
    wait_s: float  # for data, per step on average
    compute_s: float  # the rest of a step, waiting for other ranks included
    verdict: str
    sentence: str
    images_per_s: float | None = None

    @property
    def step_s(self) -> float:
        """How long a step takes."""
        return self.wait_s + self.compute_s


@dataclass(frozen=True, slots=True)
class Together:
    """One verdict over all ranks."""

    verdict: str
    sentence: str
    straggler: int | None
    images_per_s: float | None  # of all ranks

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        return asdict(self)


def mean_step(times: StepTimes) -> Mapping[str, float]:
    """Return the average wait and compute of a loader's later steps, as `RankSteps` has them."""
    computed_s = times.computed_s
    later = ~np.isnan(computed_s) & ~times.is_first
    steps = int(later.sum())
    if not steps:
        return {"steps": 0, "wait_s": 0.0, "compute_s": 0.0}
    return {
        "steps": steps,
        "wait_s": float(times.waited_s[later].mean()),
        "compute_s": float(computed_s[later].mean()),
    }


def judge_ranks(ranks: Sequence[RankSteps]) -> Together:
    """Return the verdict that holds for all; that of the straggler if there is one."""
    rates = [rank.images_per_s for rank in ranks if rank.images_per_s is not None]
    total = sum(rates) if len(rates) == len(ranks) else None
    slowest = max(ranks, key=lambda rank: rank.step_s)
    hungriest = max(ranks, key=lambda rank: rank.wait_s)
    if min(rank.steps for rank in ranks) < _LEAST_STEPS:
        told = f"Too few steps to compare the ranks. Of rank {hungriest.rank}: {hungriest.sentence}"
        return Together(hungriest.verdict, told, None, total)
    step_s = slowest.step_s or 1e-9
    if slowest.step_s - min(rank.step_s for rank in ranks) > _STANDS_OUT * step_s:
        others = _mean([rank.step_s for rank in ranks if rank is not slowest])
        told = (
            f"Rank {slowest.rank} is the straggler: a step takes it {_ms(slowest.step_s)}, "
            f"{_ms(slowest.wait_s)} of that waiting for data; the others take {_ms(others)} on "
            f"average. Of rank {slowest.rank}: {slowest.sentence}"
        )
        return Together(slowest.verdict, told, slowest.rank, total)
    if hungriest.wait_s - min(rank.wait_s for rank in ranks) > _STANDS_OUT * step_s:
        others = _mean([rank.wait_s for rank in ranks if rank is not hungriest])
        told = (
            f"Rank {hungriest.rank} is the straggler: it waits {_ms(hungriest.wait_s)} per step "
            f"for its data, the others {_ms(others)} on average, who then wait for it inside their "
            f"steps. Of rank {hungriest.rank}: {hungriest.sentence}"
        )
        return Together(hungriest.verdict, told, hungriest.rank, total)
    least, most = (pick(rank.wait_s for rank in ranks) for pick in (min, max))
    told = (
        f"No rank stands out: each waits {_ms(least)} to {_ms(most)} per step for its data. "
        f"Of rank {hungriest.rank}: {hungriest.sentence}"
    )
    return Together(hungriest.verdict, told, None, total)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f} ms"
