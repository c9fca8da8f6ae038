"""Changes thought through with the model that the measurements were fitted to."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.analysis.facts import Facts
from penstock.analysis.predict import CoreModel, Point, cores_needed, predict
from penstock.analysis.results import WhatIf


@dataclass(frozen=True, slots=True)
class Model:
    """What predictions rest on."""

    cores: CoreModel
    step_cpu_s: float
    overlap: float

    def end_to_end(self, synthetic: float, pipeline: float, cores: int) -> float:
        """Predict the rate for a step and a pipeline on so many cores."""
        return predict(Point(synthetic, pipeline, cores, self.step_cpu_s), self.overlap)


def what_ifs(facts: Facts, model: Model, other_forms: dict[str, float]) -> tuple[WhatIf, ...]:
    """Think through cores, accelerators, ops, and other forms of the pipeline.

    `other_forms` are rates of the pipeline that were measured, by what was changed.
    """
    now = model.end_to_end(facts.synthetic, facts.pipeline, facts.cores)
    found: list[WhatIf] = []

    def consider(change: str, synthetic: float, pipeline: float, cores: int) -> None:
        rate = model.end_to_end(synthetic, pipeline, cores)
        found.append(WhatIf(change, rate, rate / now))

    for times in (2, 4):
        cores = facts.cores * times
        consider(f"{cores} cores", facts.synthetic, model.cores.rate(cores), cores)
    for times in (2, 4):
        change = f"an accelerator {times} times as fast"
        consider(change, facts.synthetic * times, facts.pipeline, facts.cores)
    if facts.costs is not None and facts.costs.cpu_s > 0:
        slowest = facts.costs.slowest("augment")
        if slowest is not None and slowest.seconds > 0:
            left = facts.costs.without(slowest.name).total_s / facts.costs.total_s
            faster = facts.pipeline / max(left, 0.01)
            consider(f"without {slowest.name}", facts.synthetic, faster, facts.cores)
    for change, pipeline in other_forms.items():
        consider(change, facts.synthetic, pipeline, facts.cores)
    needed = cores_needed(facts.synthetic, model.cores, model.step_cpu_s, model.overlap)
    if needed is not None:
        many = "core feeds" if needed == 1 else "cores feed"
        consider(f"{needed} {many} it", facts.synthetic, model.cores.rate(needed), needed)
    return tuple(found)
