"""Changes thought through with the model that the measurements were fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.analysis.facts import Facts
from penstock.analysis.predict import CoreModel, Point, cores_needed, predict, predict_shared
from penstock.results.records import WhatIf

FASTER = (2, 4)  # times, of accelerators
SLOWER = 2  # times, of a model
BEYOND = (2, 4, 8)  # times the cores there are; what was fitted says nothing of still more


@dataclass(frozen=True, slots=True)
class Model:
    """What predictions rest on."""

    cores: CoreModel  # of the loader as it is
    step_cpu_s: float
    overlap: float
    with_workers: CoreModel | None = None  # with as many workers as cores, if that is more
    steps: CoreModel | None = None  # of the step alone, if it computes on these cores
    shared: float | None = None  # of such a step: the share of loading that it has to wait for
    knows_scaling: bool = True  # whether more than one number of cores was measured

    def synthetic(self, cores: int, measured: float) -> float:
        """Return the step's rate alone on so many cores, given that on those there are."""
        return measured if self.steps is None else self.steps.rate(cores)

    def end_to_end(
        self, synthetic: float, pipeline: float, cores: int, step_cpu_s: float | None = None
    ) -> float:
        """Predict the rate for a step and a pipeline on so many cores.

        `step_cpu_s` is of another step than the one that was measured.
        """
        if self.shared is not None:
            return predict_shared(synthetic, pipeline, self.shared)
        cpu_s = self.step_cpu_s if step_cpu_s is None else step_cpu_s
        return predict(Point(synthetic, pipeline, cores, cpu_s), self.overlap)


@dataclass(frozen=True, slots=True)
class Change:
    """Rates that were measured with something changed; None is as it was."""

    what: str
    pipeline: float | None = None
    synthetic: float | None = None
    step_cpu_s: float | None = None
    note: str = ""  # what else it changes


def faster_accelerator(times: int, emulated_rate: float | None = None) -> str:
    """Return what to call it."""
    if emulated_rate is not None:
        return f"an accelerator of {times * emulated_rate:,.0f} images/s"
    return f"an accelerator {times} times as fast"


def what_ifs(facts: Facts, model: Model, changes: Sequence[Change] = ()) -> tuple[WhatIf, ...]:
    """Think through cores, accelerators, ops, and what was measured with something changed."""
    now = model.end_to_end(facts.synthetic, facts.pipeline, facts.cores)
    found: list[WhatIf] = []

    def consider(what: str, synthetic: float, pipeline: float, cores: int) -> None:
        rate = model.end_to_end(synthetic, pipeline, cores)
        found.append(WhatIf(what, rate, rate / now))

    for times in BEYOND[:2] if model.knows_scaling else ():
        cores = facts.cores * times
        synthetic = model.synthetic(cores, facts.synthetic)
        consider(f"{cores} cores", synthetic, model.cores.rate(cores), cores)
    for what, synthetic in _other_steps(facts):
        consider(what, synthetic, facts.pipeline, facts.cores)
    if facts.costs is not None:
        # What is left out must be something that a pipeline can do without.
        spare = [part for part in facts.costs.parts if part.can_be_left_out and part.seconds > 0]
        if spare:
            slowest = max(spare, key=lambda part: part.seconds)
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
        found.append(WhatIf(change.what, rate, rate / now, change.pipeline, change.note))
    if not model.knows_scaling or model.steps is not None or model.shared is not None:
        return tuple(found)  # a step on these cores gets faster with each: no number feeds it
    served = model.with_workers or model.cores
    most = BEYOND[-1] * facts.cores
    needed = cores_needed(facts.synthetic, served, model.step_cpu_s, model.overlap, most)
    each = ", each with a worker" if model.with_workers else ""
    if needed is None:
        what = f"{most:,} cores{each} (would not be enough to keep the accelerator busy)"
        consider(what, facts.synthetic, served.rate(most), most)
    else:
        many = "1 core" if needed == 1 else f"{needed} cores{each}"
        what = f"{many} {ENOUGH}"
        consider(what, facts.synthetic, served.rate(needed), needed)
    return tuple(found)


ENOUGH = "(enough to keep the accelerator busy)"


def _other_steps(facts: Facts) -> Sequence[tuple[str, float]]:
    """Return steps of other lengths, with their rates alone."""
    if facts.computes_here:
        quicker = [
            (f"a training step that computes {1 / times:.0%} as much", facts.synthetic * times)
            for times in FASTER
        ]
    else:
        quicker = [
            (faster_accelerator(times, facts.emulated_rate), facts.synthetic * times)
            for times in FASTER
        ]
    slower = f"a model whose step takes {SLOWER} times as long"
    return [*quicker, (slower, facts.synthetic / SLOWER)]
