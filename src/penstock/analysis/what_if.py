"""Changes thought through with the model that the measurements were fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.analysis.facts import Facts
from penstock.analysis.predict import MOST_CORES, CoreModel, Point, cores_needed, predict
from penstock.analysis.results import WhatIf

FASTER = (2, 4)  # times, of accelerators
SLOWER = 2  # times, of a model


@dataclass(frozen=True, slots=True)
class Model:
    """What predictions rest on."""

    cores: CoreModel  # of the loader as it is
    step_cpu_s: float
    overlap: float
    with_workers: CoreModel | None = None  # with as many workers as cores, if that is more
    steps: CoreModel | None = None  # of the step alone, if it computes on these cores

    def synthetic(self, cores: int, measured: float) -> float:
        """Return the step's rate alone on so many cores, given that on those there are."""
        return measured if self.steps is None else self.steps.rate(cores)

    def end_to_end(
        self, synthetic: float, pipeline: float, cores: int, step_cpu_s: float | None = None
    ) -> float:
        """Predict the rate for a step and a pipeline on so many cores.

        `step_cpu_s` is of another step than the one that was measured.
        """
        cpu_s = self.step_cpu_s if step_cpu_s is None else step_cpu_s
        return predict(Point(synthetic, pipeline, cores, cpu_s), self.overlap)


@dataclass(frozen=True, slots=True)
class Change:
    """Rates that were measured with something changed; None is as it was."""

    what: str
    pipeline: float | None = None
    synthetic: float | None = None
    step_cpu_s: float | None = None


def faster_accelerator(times: int) -> str:
    """Return what to call it."""
    return f"an accelerator {times} times as fast"


def what_ifs(facts: Facts, model: Model, changes: Sequence[Change] = ()) -> tuple[WhatIf, ...]:
    """Think through cores, accelerators, ops, and what was measured with something changed."""
    now = model.end_to_end(facts.synthetic, facts.pipeline, facts.cores)
    found: list[WhatIf] = []

    def consider(what: str, synthetic: float, pipeline: float, cores: int) -> None:
        rate = model.end_to_end(synthetic, pipeline, cores)
        found.append(WhatIf(what, rate, rate / now))

    for times in (2, 4):
        cores = facts.cores * times
        synthetic = model.synthetic(cores, facts.synthetic)
        consider(f"{cores} cores", synthetic, model.cores.rate(cores), cores)
    for times in FASTER:
        consider(faster_accelerator(times), facts.synthetic * times, facts.pipeline, facts.cores)
    slower = f"a model whose step takes {SLOWER} times as long"
    consider(slower, facts.synthetic / SLOWER, facts.pipeline, facts.cores)
    if facts.costs is not None and facts.costs.cpu_s > 0:
        slowest = facts.costs.slowest("augment")
        if slowest is not None and slowest.seconds > 0:
            left = facts.costs.without(slowest.name).total_s / facts.costs.total_s
            faster = facts.pipeline / max(left, 0.01)
            consider(f"without {slowest.name}", facts.synthetic, faster, facts.cores)
    for change in changes:
        rate = model.end_to_end(
            change.synthetic or facts.synthetic,
            change.pipeline or facts.pipeline,
            facts.cores,
            change.step_cpu_s,
        )
        found.append(WhatIf(change.what, rate, rate / now))
    if model.steps is not None:
        return tuple(found)  # with every core the step gets faster too: no number feeds it
    served = model.with_workers or model.cores
    needed = cores_needed(facts.synthetic, served, model.step_cpu_s, model.overlap)
    each = ", each with a worker," if model.with_workers else ""
    if needed is None:
        what = f"{MOST_CORES:,} cores{each} which do not feed it either"
        consider(what, facts.synthetic, served.rate(MOST_CORES), MOST_CORES)
    else:
        what = "1 core feeds it" if needed == 1 else f"{needed} cores{each} feed it"
        consider(what, facts.synthetic, served.rate(needed), needed)
    return tuple(found)
