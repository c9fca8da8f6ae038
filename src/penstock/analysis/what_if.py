"""What if: changes predicted by the model that was fitted to the measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.analysis.rate_model import BEYOND, Model, cores_needed
from penstock.analysis.verdict import Measurements
from penstock.results.records import WhatIf

FASTER = (2, 4)  # times, of accelerators
SLOWER = 2  # times, of a model
ENOUGH = "(enough to keep the accelerator busy)"


@dataclass(frozen=True, slots=True)
class Change:
    """Rates that were measured with something changed; None is as it was."""

    what: str
    pipeline: float | None = None
    synthetic: float | None = None
    step_cpu_s: float | None = None
    note: str = ""  # what else it changes
    line: str = ""  # the code to write, where it follows from the user's own
    is_measured: bool = True  # or `pipeline` follows from what was measured of a part of it


def faster_accelerator(times: int, emulated_rate: float | None = None) -> str:
    """Return what to call it."""
    if emulated_rate is not None:
        return f"an accelerator of {times * emulated_rate:,.0f} images/s"
    return f"an accelerator {times} times as fast"


def what_ifs(
    facts: Measurements, model: Model, changes: Sequence[Change] = ()
) -> tuple[WhatIf, ...]:
    """Predict other cores, accelerators, ops, and what was measured with something changed."""
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
        measured = change.pipeline if change.is_measured else None
        found.append(WhatIf(change.what, rate, rate / now, measured, change.note, change.line))
    if not model.knows_scaling or model.steps is not None or model.shared is not None:
        # A step on these cores gets faster with every core, so no number is enough.
        return tuple(found)
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


def _other_steps(facts: Measurements) -> Sequence[tuple[str, float]]:
    """Return steps of other lengths, with their rates alone."""
    quicker = [
        (
            f"a training step that computes {1 / times:.0%} as much"
            if facts.computes_here
            else faster_accelerator(times, facts.emulated_rate),
            facts.synthetic * times,
        )
        for times in FASTER
    ]
    slower = f"a model whose step takes {SLOWER} times as long"
    return [*quicker, (slower, facts.synthetic / SLOWER)]
