"""Measuring S (the step alone), P (the pipeline alone) and E (both together), round by round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from statistics import median
from typing import Any

from penstock.analysis.device.devices import QUEUE_DEPTH, Device, Interval, computes_elsewhere
from penstock.analysis.device.fresh import fresh_batch
from penstock.analysis.subject.subject import Subject
from penstock.errors import AnalysisError
from penstock.results.records import Rate, Steps
from penstock.usable_cores import pinned_to
from penstock.watching.loader_facts import count_images
from penstock.watching.ranges import nvtx_ranges
from penstock.watching.shared_cores import CORES_OF_A_CPU_STEP
from penstock.watching.trace import Trace, current_trace

Say = Callable[[str], None]

_WARM_UP_STEPS = _TIMED_STEPS = 3
_OF_EACH_WORKER = 3
# An epoch with fewer batches than this many times those in flight never reaches its full speed:
# then the whole epoch counts.
_SHORT_EPOCH = 4
TIMED_BATCHES = 3  # at least, after what was in flight
_PATIENCE = 10  # times the seconds asked for, at most, until then
_LEAST_PATIENCE_S = 5.0  # where a number of batches is asked for


@dataclass(frozen=True, slots=True)
class Run:
    """What came out of some epochs, or of a part of one."""

    images: int
    batches: int
    images_per_s: float
    start_up_s: float  # of an epoch, before its first batch and after its last; the least
    is_short: bool  # whether epochs end before the loader gets going
    epoch_s: float | None  # of a whole epoch, if one ended
    steps: Steps


@dataclass(slots=True)
class _Epoch:
    began: float
    images: list[int] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    computed: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)  # when the loop was ready for another batch
    trained: list[float] = field(default_factory=list)  # when the step ended, if the device tells
    ended: float = 0.0
    is_whole: bool = False

    def settled(self, in_flight: int) -> tuple[int, float]:
        """Images and seconds after what was in flight at first has come through."""
        skipped = min(in_flight, max(0, len(self.images) - 2))
        # The loop runs ahead of a device by what its queue holds: only steps that ended count.
        moments = self.trained or self.done
        return sum(self.images[skipped + 1 :]), moments[-1] - moments[skipped]

    def is_short(self, in_flight: int) -> bool:
        """Whether the epoch was over before the loader got going."""
        return self.is_whole and len(self.images) < _SHORT_EPOCH * in_flight

    @property
    def start_up_s(self) -> float:
        """Seconds before the first batch and after the last."""
        return self.waited[0] + self.ended - self.done[-1]


@dataclass(frozen=True, slots=True)
class _Limits:
    """When to stop: after a while, if there are enough batches; after a long while with two."""

    until: float
    latest: float
    least_batches: int

    @staticmethod
    def of(seconds: float, least_batches: int, patience_s: float) -> _Limits:
        now = time.perf_counter()
        return _Limits(now + seconds, now + max(_PATIENCE * seconds, patience_s), least_batches)

    def are_reached(self, now: float, batches: int) -> bool:
        return now >= self.until and batches >= (2 if now >= self.latest else self.least_batches)


def run_loader(
    loader: Iterable[Any],
    device: Device | None,
    *,
    seconds: float,
    in_flight: int,
    epochs: int | None = None,
    least_batches: int = 0,
) -> Run:
    """Iterate for at least `seconds`, or for so many epochs, and time every step.

    `in_flight` is how many batches the loader prepares ahead: they arrive in a burst, and the rate
    is that of the batches after them. `least_batches` are waited for, but not forever.
    """
    # A device that queues steps takes its first ones in a burst, too.
    in_flight = max(in_flight, 0 if device is None else QUEUE_DEPTH + 1)
    limits = _Limits.of(
        seconds,
        max(least_batches, in_flight + TIMED_BATCHES),
        _LEAST_PATIENCE_S if least_batches else 0.0,
    )
    steps_before = 0 if device is None else len(device.busy)
    done: list[_Epoch] = []
    batches = 0
    while len(done) != epochs and not limits.are_reached(time.perf_counter(), batches):
        done.append(_run_epoch(loader, device, limits))
        batches += len(done[-1].images)
        if not done[-1].images:
            raise AnalysisError("the loader yields no batches. Is the data set empty?")
        if done[-1].is_short(in_flight):  # counts whole, however many batches it has
            limits = replace(limits, least_batches=0)
    if device is not None:
        device.synchronise()
        _note_trained(done, device.busy[steps_before:])
    trace = current_trace()
    if trace is not None:
        _add_to_trace(trace, done, device, device.busy[steps_before:] if device else ())
    return _summary(done, time.perf_counter(), in_flight)


def _add_to_trace(
    trace: Trace, epochs: Sequence[_Epoch], device: Device | None, busy: Sequence[Interval]
) -> None:
    """Put the waits and steps of a run into a trace, and when the device was busy, if it tells."""
    track = "pipeline alone" if device is None else "end to end"
    for epoch in epochs:
        rows = zip(epoch.done, epoch.waited, epoch.computed, epoch.images, strict=True)
        for number, (done, waited, computed, images) in enumerate(rows):
            args = {"batch": number, "images": images}
            arrived = done - computed
            trace.span("wait", arrived - waited, arrived, track, args)
            if device is not None:
                trace.span("step", arrived, done, track, args)
    for begin, end in busy:
        trace.span("step", begin, end, "device")


def _note_trained(epochs: list[_Epoch], busy: Sequence[Interval]) -> None:
    """Tell each epoch when its steps ended, if the device knows of every one."""
    if len(busy) != sum(len(epoch.images) for epoch in epochs):
        return
    ends = iter(end for _, end in busy)
    for epoch in epochs:
        epoch.trained = list(islice(ends, len(epoch.images)))


def _run_epoch(loader: Iterable[Any], device: Device | None, limits: _Limits) -> _Epoch:
    epoch = _Epoch(time.perf_counter())
    before = epoch.began
    ranges = nvtx_ranges()
    if ranges is not None:
        ranges.asks()
    for batch in loader:
        arrived = time.perf_counter()
        epoch.waited.append(arrived - before)
        epoch.images.append(count_images(batch))
        if ranges is not None:
            ranges.waited(len(epoch.images), before, arrived, epoch.images[-1])
        if device is not None:
            device.submit(batch)
        before = time.perf_counter()
        epoch.computed.append(before - arrived)
        epoch.done.append(before)
        if ranges is not None:
            ranges.asks()
        if limits.are_reached(before, len(epoch.images)):
            break
    else:
        epoch.is_whole = True
    epoch.ended = time.perf_counter() if epoch.is_whole else before
    if ranges is not None:
        ranges.ends()
    return epoch


def _summary(epochs: list[_Epoch], ended: float, in_flight: int) -> Run:
    whole = [epoch for epoch in epochs if epoch.is_whole]
    is_short = epochs[0].is_short(in_flight)
    parts = [epoch.settled(in_flight) for epoch in epochs]
    images, seconds = sum(part[0] for part in parts), sum(part[1] for part in parts)
    if is_short or any(len(epoch.images) < in_flight + 2 for epoch in epochs):
        # What came was the burst at the beginning; its rate means nothing without its start.
        images, seconds = sum(sum(epoch.images) for epoch in epochs), ended - epochs[0].began
    return Run(
        images=sum(sum(epoch.images) for epoch in epochs),
        batches=sum(len(epoch.images) for epoch in epochs),
        images_per_s=images / seconds,
        start_up_s=min(epoch.start_up_s for epoch in epochs),
        is_short=is_short,
        epoch_s=min((epoch.ended - epoch.began for epoch in whole), default=None),
        steps=Steps(
            tuple(wait for epoch in epochs for wait in epoch.waited),
            tuple(step for epoch in epochs for step in epoch.computed),
        ),
    )


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    rounds: int = 3
    seconds: float = 2.0  # of one run


@dataclass(frozen=True, slots=True)
class StepAlone:
    """S: steps on one batch that stays where it is."""

    rate: Rate
    cpu_s: float  # of this process, per image
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
class RunsByCores:
    """Runs on each number of cores, and those of the pipeline with another number of workers."""

    pipeline: dict[int, list[Run]] = field(default_factory=dict)
    end_to_end: dict[int, list[Run]] = field(default_factory=dict)
    other_workers: list[Run] = field(default_factory=list)
    steps: dict[int, list[StepAlone]] = field(default_factory=dict)  # of one that computes here

    def on(self, cores: int) -> RunsByCores:
        """Return only what was measured on this number of cores."""
        return RunsByCores(
            {cores: self.pipeline[cores]},
            {cores: self.end_to_end[cores]},
            self.other_workers,
            {cores: self.steps[cores]} if cores in self.steps else {},
        )

    def step_on(self, cores: int, otherwise: StepAlone) -> StepAlone:
        """Return the step alone on this number of cores, if they matter to it."""
        steps = self.steps.get(cores)
        if not steps:
            return otherwise
        rate = Rate.of(*(step.rate.median for step in steps))
        cpu_s = median(step.cpu_s for step in steps)
        return StepAlone(rate, cpu_s, otherwise.batch, otherwise.is_elsewhere)


def rate_of(runs: Sequence[Run]) -> Rate:
    """Return the median rate and its spread."""
    return Rate.of(*(run.images_per_s for run in runs))


def first_batch(subject: Subject) -> Any:
    """Return a batch of the loader's, to train on over and over."""
    with subject.open() as loader:
        return check_batch(next(iter(loader), None))


def check_batch(batch: Any) -> Any:
    """Return the batch if it holds images; raise otherwise."""
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
        if len(busy) == steps:  # the device's own time excludes that of asking it
            began, ended = busy[0][0], busy[-1][1]
        rates.append(steps * images / (ended - began))
        done += steps * images
    return StepAlone(Rate.of(*rates), cpu_s / done, batch, computes_elsewhere(device))


def measure_fresh_step(device: Device, batch: Any, effort: Effort) -> Rate | None:
    """Measure the step with a new random batch each time; None if none can be made of `batch`."""
    if fresh_batch(batch) is None:
        return None
    images = count_images(batch)
    rates = []
    for _ in range(effort.rounds):
        # The loop may be ahead of a device by what its queue holds: it is full when time begins.
        for _ in range(QUEUE_DEPTH + 1 if device.is_emulated else 1):
            device.submit(fresh_batch(batch))
        if not device.is_emulated:
            device.synchronise()
        steps, began = 0, time.perf_counter()
        while not _is_enough(steps, time.perf_counter() - began, effort.seconds / 2):
            device.submit(fresh_batch(batch))
            steps += 1
        if not device.is_emulated:
            device.synchronise()
        rates.append(steps * images / (time.perf_counter() - began))
        device.synchronise()
    return Rate.of(*rates)


def _is_enough(steps: int, passed_s: float, wanted_s: float) -> bool:
    """Return whether steps were measured for long enough; of long ones, a few are enough."""
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
) -> RunsByCores:
    """Measure P and E on each number of cores in turn, so that a busy moment hits all alike.

    If the step computes on these cores, S is measured in the same way.
    """
    found = RunsByCores()
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
    """Return how many batches make a rate: workers deliver theirs in bursts, so some of each.

    What comes from far away comes in bursts of up to all that is read ahead.
    """
    if subject.is_far:
        return 2 * subject.in_flight()
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
    """Run the loader once on this number of cores; its threads and workers begin and end here."""
    with pinned_to(cores), subject.open(workers) as loader:
        return run_loader(
            loader,
            device,
            seconds=effort.seconds,
            in_flight=subject.in_flight(workers),
            epochs=epochs,
            least_batches=least_batches,
        )
