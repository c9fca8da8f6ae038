"""From a first look at the loader to rates, and the model that is fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.analysis.budget import Budget, Pace, Plan, first_subject, look, plan_rates
from penstock.analysis.core_counts import CoreCounts
from penstock.analysis.device.devices import (
    Device,
    EmulatedDevice,
    TorchDevice,
    any_batch_will_do,
    assumed,
)
from penstock.analysis.device.utilisation import busy_in_last, watch_device
from penstock.analysis.measure import (
    Effort,
    Run,
    RunsByCores,
    StepAlone,
    first_batch,
    measure_fresh_step,
    measure_rates,
    measure_step,
    run_pipeline,
)
from penstock.analysis.rate_model import IMPOSSIBLE, Model, contradiction, core_points, fit_model
from penstock.analysis.subject.subject import Subject
from penstock.analysis.verdict import LEAST_BATCHES, Measurements, gather_measurements
from penstock.errors import AnalysisError
from penstock.results.records import Rate, Utilisation
from penstock.watching.loader_facts import count_images

_COSTS_SHARE = 0.3  # of the time that is left
_FRESH_STEPS = 6  # at most about as many, where steps are long


@dataclass(frozen=True, slots=True)
class Begun:
    """What is measured, with which pace, and how."""

    subject: Subject
    device: Device
    notes: Sequence[str]
    pace: Pace
    plan: Plan
    batch: Any
    other_workers: int | None
    title: str  # of the loader as it was given

    @property
    def cores(self) -> int:
        """The number of all available cores."""
        return self.plan.core_counts[-1]

    def run_s(self, effort: Effort) -> float:
        """Return about how long a run of both together takes."""
        size = self.plan.batch_size or count_images(self.batch)
        return self.pace.run_s(effort.seconds, size, step=True, least=0, share=1.0)


@dataclass(slots=True)
class Rates:
    """What was measured, and what follows."""

    alone: StepAlone
    measured: RunsByCores
    facts: Measurements
    model: Model
    contradiction: str  # between rates on all cores; nothing if there is none
    fresh: Rate | None = None  # the step alone, with a new random batch each time
    utilisation: Utilisation | None = None
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def cores(self) -> int:
        """The number of all available cores."""
        return self.facts.cores

    @property
    def last(self) -> Run:
        """The last run end to end on all cores."""
        return self.measured.end_to_end[self.cores][-1]

    def end_to_end(self, cores: int) -> float:
        """Predict the rate on this number of cores."""
        synthetic = self.model.synthetic(cores, self.facts.synthetic)
        return self.model.end_to_end(synthetic, self.model.cores.rate(cores), cores)


def begin(
    subject: Subject,
    device: Device,
    notes: Sequence[str],
    budget: Budget,
    effort: Effort | None,
    wanted: CoreCounts,
    *,
    was_found: bool,
    sweeps: bool,
) -> Begun:
    """Look at the loader and the step, and plan within the time there is.

    A device that was found, not asked for, gives way to an assumed one if it cannot take the
    batches.
    """
    budget.begin("a first look at the loader and the step")
    title = subject.title
    seen = first_subject(subject, any_batch=any_batch_will_do(device))
    try:
        pace, batch = look(seen, device)
    except AnalysisError as error:
        if not was_found:
            raise
        device, notes = assumed(f"the {device.name} device does not take the batches ({error})")
        pace, batch = look(seen, device)
    counts, cores = wanted.measured, wanted.measured[-1]
    # A data set that is loaded without workers may be impossible to send to one.
    other_workers = cores if subject.workers not in {0, cores} else None
    size = subject.batch_size or count_images(batch)
    if effort is not None:
        plan = Plan(effort, counts, size)
    else:
        plan = plan_rates(
            pace,
            budget.left_s,
            counts,
            size,
            can_shrink=any_batch_will_do(device) and subject.with_batch_size(size) is not None,
            sweeps=sweeps,
            all_counts=wanted.are_asked_for,
            extra_runs=0 if other_workers is None else 1,
        )
    if len(plan.core_counts) < len(counts):
        budget.left_out.append("rates on fewer cores")
    if plan.batch_size != size:
        subject = subject.with_batch_size(plan.batch_size) or subject
        smaller = f"measured with batches of {plan.batch_size} instead of {size}"
        notes = [*notes, f"{smaller}, so that enough of them come in this time (--seconds)"]
    if seen.batch_size != subject.batch_size:
        batch = first_batch(subject)
    notes = [*notes, *wanted.notes]
    return Begun(subject, device, notes, pace, plan, batch, other_workers, title)


def count_planned(begun: Begun) -> int:
    """Return how many measurements `measure_all` makes."""
    runs = 3 if begun.pace.shares_cores else 2
    each_round = runs * len(begun.plan.core_counts) + (begun.other_workers is not None)
    return begun.plan.effort.rounds * each_round + (not begun.pace.shares_cores) + 2


def measure_all(begun: Begun, budget: Budget) -> Rates:
    """Measure S, P and E, and what an image costs; fit the model to them."""
    subject, device, effort = begun.subject, begun.device, begun.plan.effort
    if begun.pace.shares_cores:  # is measured in the rounds, on each number of cores
        alone = begun.pace.rough_step(begun.batch)
    else:
        budget.begin("the step alone")
        alone = measure_step(device, begun.batch, effort)
        if isinstance(device, EmulatedDevice):  # its rate is what was asked for, by definition
            rate = device.images_per_s
            alone = replace(alone, rate=Rate.of(rate))
    measured = measure_rates(
        subject,
        device,
        begun.plan.core_counts,
        effort,
        alone=alone,
        other_workers=begun.other_workers,
        say=budget.begin,
        least_batches=LEAST_BATCHES,
    )
    cores = begun.cores
    alone = measured.step_on(cores, alone)
    utilisation, notes = _busyness(begun, alone, measured)
    fresh = _fresh_rate(begun, alone, budget)
    budget.begin("the cost of each op")
    costs_s = min(effort.seconds * effort.rounds, _COSTS_SHARE * budget.left_s)
    facts = gather_measurements(subject, device, alone, measured, costs_s)
    points = core_points(alone, measured)
    fewer = contradiction([point for point in points if point.cores != cores])
    if fewer:
        measured = measured.on(cores)
        notes = [
            *notes,
            f"rates on fewer cores are not shown, and none are predicted for more: {fewer}",
        ]
    return Rates(
        alone,
        measured,
        facts,
        fit_model(alone, measured, facts.pipeline, begun.cores, begun.subject.workers),
        contradiction([point for point in points if point.cores == cores], IMPOSSIBLE),
        fresh,
        utilisation,
        notes,
    )


def _fresh_rate(begun: Begun, alone: StepAlone, budget: Budget) -> Rate | None:
    """Measure the step on a new random batch each time, if there is time for it."""
    what = "the step on fresh random batches"
    effort = replace(begun.plan.effort, rounds=1)
    step_s = count_images(alone.batch) / alone.rate.median
    if not budget.allows(what, max(effort.seconds, _FRESH_STEPS * step_s)):
        return None
    budget.begin(what)
    return measure_fresh_step(begun.device, alone.batch, effort)


def _busyness(
    begun: Begun, alone: StepAlone, measured: RunsByCores
) -> tuple[Utilisation | None, Sequence[str]]:
    """Return how busy the device was: a GPU is watched for one more run."""
    device = begun.device
    if not isinstance(device, TorchDevice) or device.busy:
        steps = len(measured.end_to_end[begun.cores][-1].steps.waited)
        return busy_in_last(device, steps), ()
    step_s = count_images(alone.batch) / alone.rate.median
    with watch_device(device, step_s) as watched:
        run_pipeline(begun.subject, device, begun.cores, begun.plan.effort)
    return watched.utilisation, watched.notes
