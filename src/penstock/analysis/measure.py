"""Measuring S (the step alone), P (the pipeline alone) and E (both), round by round."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from penstock.analysis.device.devices import Device, computes_elsewhere
from penstock.analysis.runs import Run, run_loader
from penstock.analysis.subject.subject import Subject
from penstock.errors import AnalysisError
from penstock.results.records import Rate
from penstock.usable_cores import pinned_to
from penstock.watching.loader_facts import count_images
from penstock.watching.shared_cores import CORES_OF_A_CPU_STEP

Say = Callable[[str], None]

_WARM_UP_STEPS = _TIMED_STEPS = 3
_OF_EACH_WORKER = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    rounds: int = 3
    seconds: float = 2.0  # of one run


@dataclass(frozen=True, slots=True)
class StepAlone:
    """S: steps on one batch that stays where it is."""

    rate: Rate
    cpu_s: float  # of this process, an image
    batch: Any
    is_elsewhere: bool = False  # known to compute on another chip

    @property
    def cores(self) -> float:
        """How many cores the step itself keeps busy."""
        return self.cpu_s * self.rate.median

    @property
    def computes_here(self) -> bool:
        """Whether it shares the cores with the pipeline, rather than start work elsewhere."""
        return not self.is_elsewhere and self.cores >= CORES_OF_A_CPU_STEP


@dataclass(slots=True)
class Measured:
    """Runs by number of cores, and of the pipeline with another number of workers."""

    pipeline: dict[int, list[Run]] = field(default_factory=dict)
    end_to_end: dict[int, list[Run]] = field(default_factory=dict)
    other_workers: list[Run] = field(default_factory=list)
    steps: dict[int, list[StepAlone]] = field(default_factory=dict)  # of one that computes here

    def on(self, cores: int) -> Measured:
        """Return what was measured on so many cores alone."""
        return Measured(
            {cores: self.pipeline[cores]},
            {cores: self.end_to_end[cores]},
            self.other_workers,
            {cores: self.steps[cores]} if cores in self.steps else {},
        )

    def step_on(self, cores: int, otherwise: StepAlone) -> StepAlone:
        """Return the step alone on so many cores, if they matter to it."""
        steps = self.steps.get(cores)
        if not steps:
            return otherwise
        rates = [step.rate.median for step in steps]
        cpu_s = median(step.cpu_s for step in steps)
        rate = Rate(median(rates), min(rates), max(rates))
        return StepAlone(rate, cpu_s, otherwise.batch, otherwise.is_elsewhere)


def rate_of(runs: Sequence[Run]) -> Rate:
    """Return the median rate and its spread."""
    rates = [run.images_per_s for run in runs]
    return Rate(median(rates), min(rates), max(rates))


def first_batch(subject: Subject) -> Any:
    """Return a batch of the loader's, to train on over and over."""
    with subject.open() as loader:
        return check_batch(next(iter(loader), None))


def check_batch(batch: Any) -> Any:
    """Return a batch that holds images; raise for what is none."""
    if batch is None:
        raise AnalysisError("the loader yields no batches. Is the data set empty?")
    if not count_images(batch):
        raise AnalysisError(
            f"a batch is {_describe(batch)}, and how many images it holds cannot be told. Give "
            "tensors or arrays, alone or first in a tuple, list or dictionary."
        )
    return batch


def _describe(batch: Any) -> str:
    shape = getattr(batch, "shape", None)
    return type(batch).__name__ + (f" of shape {tuple(shape)}" if shape is not None else "")


def measure_step(device: Device, batch: Any, effort: Effort) -> StepAlone:
    """Measure the step on a resident batch, and the CPU time that it takes."""
    images = count_images(batch)
    warm_until = time.perf_counter() + effort.seconds / 4
    for number in range(_WARM_UP_STEPS):
        if not number or time.perf_counter() < warm_until:
            device.submit(batch)
    device.synchronise()
    rates, cpu_s, done = [], 0.0, 0
    for _ in range(effort.rounds):
        steps, known = 0, len(device.busy)
        began, began_cpu = time.perf_counter(), time.process_time()
        while not _is_enough(steps, time.perf_counter() - began, effort.seconds / 2):
            device.submit(batch)
            steps += 1
        device.synchronise()
        ended = time.perf_counter()
        cpu_s += time.process_time() - began_cpu
        busy = device.busy[known:]
        if len(busy) == steps:  # the device's own time is without that of asking it
            began, ended = busy[0][0], busy[-1][1]
        rates.append(steps * images / (ended - began))
        done += steps * images
    rate = Rate(median(rates), min(rates), max(rates))
    return StepAlone(rate, cpu_s / done, batch, computes_elsewhere(device))


def _is_enough(steps: int, passed_s: float, wanted_s: float) -> bool:
    """Tell whether steps were measured for long enough; some that take long need not be many."""
    return passed_s >= wanted_s and steps >= (1 if passed_s >= 2 * wanted_s else _TIMED_STEPS)


def measure_rates(
    subject: Subject,
    device: Device,
    core_counts: Sequence[int],
    effort: Effort,
    *,
    alone: StepAlone,
    other_workers: int | None,
    say: Say,
    least_batches: int = 0,
) -> Measured:
    """Measure P and E on each number of cores in turn, so that a busy moment hits all alike.

    So is S, of a step that computes on these cores.
    """
    found = Measured()
    least = max(enough_batches(subject), -(-least_batches // effort.rounds))
    for number in range(effort.rounds):
        for cores in core_counts:
            on = f"{cores} core{'' if cores == 1 else 's'}, round {number + 1}"
            if alone.computes_here:
                say(f"the step alone on {on}")
                with pinned_to(cores):
                    step = measure_step(device, alone.batch, replace(effort, rounds=1))
                found.steps.setdefault(cores, []).append(step)
            say(f"the pipeline alone on {on}")
            run = run_pipeline(subject, None, cores, effort, least_batches=enough_batches(subject))
            found.pipeline.setdefault(cores, []).append(run)
            say(f"end to end on {on}")
            run = run_pipeline(subject, device, cores, effort, least_batches=least)
            found.end_to_end.setdefault(cores, []).append(run)
        if other_workers is not None:
            say(f"the pipeline with {other_workers} workers, round {number + 1}")
            run = run_pipeline(subject, None, core_counts[-1], effort, other_workers)
            found.other_workers.append(run)
    return found


def enough_batches(subject: Subject) -> int:
    """Return how many batches make a rate: workers deliver theirs in bursts, so some of each."""
    at_once = subject.workers if subject.worker_kind == "processes" else 1
    return subject.in_flight() + _OF_EACH_WORKER * max(1, at_once)


def run_pipeline(
    subject: Subject,
    device: Device | None,
    cores: int,
    effort: Effort,
    workers: int | None = None,
    epochs: int | None = None,
    least_batches: int = 0,
) -> Run:
    """Run the loader once on so many cores; its threads and workers begin and end here."""
    with pinned_to(cores), subject.open(workers) as loader:
        return run_loader(
            loader,
            device,
            seconds=effort.seconds,
            in_flight=subject.in_flight(workers),
            epochs=epochs,
            least_batches=least_batches,
        )


def core_counts(available: int) -> list[int]:
    """Return the numbers of cores to measure on: doubling, up to all there are."""
    counts = [1]
    while counts[-1] * 2 < available:
        counts.append(counts[-1] * 2)
    return counts if available == 1 else [*counts, available]
