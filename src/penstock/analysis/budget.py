"""How long an analysis may take: a first look at the pace, and what fits into the time.

Everything is planned before it is measured, so that a bar has an end; what there is no time for
is left out, and named.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.analysis.device.devices import QUEUE_DEPTH, Device, EmulatedDevice, computes_elsewhere
from penstock.analysis.measure import (
    TIMED_BATCHES,
    Effort,
    StepAlone,
    check_batch,
    enough_batches,
)
from penstock.analysis.subject.subject import Subject
from penstock.analysis.verdict import LEAST_BATCHES
from penstock.results.records import Rate
from penstock.watching.loader_facts import count_images
from penstock.watching.shared_cores import CORES_OF_A_CPU_STEP
from penstock.watching.trace import current_trace

Progress = Callable[[str, int, int], None]  # what is measured, its number, and how many there are

USUAL_S, QUICK_S = 60.0, 10.0
_FIRST_LOOK_S = 0.3
_FIRST_LOOK_IMAGES = 8  # a small batch soon shows the pace of a slow loader
_LEAST_IMAGES = 4  # in a batch
_FOR_THE_VERDICT = 0.45  # of the time, where sweeps are wanted too
_EFFORTS = (
    Effort(3, 2.0),
    Effort(3, 1.2),
    Effort(3, 0.8),
    Effort(2, 0.7),
    Effort(2, 0.45),
    Effort(2, 0.3),
    Effort(1, 0.5),
    Effort(1, 0.3),
)
_ROUNDS_ON_FEWER_CORES = 2  # at least; one round on each number of cores is worth less than two
_STEPS = 4  # of the step alone, including the one that warms up


@dataclass(slots=True)
class Budget:
    """The time that is left, and what was left out for the lack of it."""

    seconds: float
    tell: Progress
    planned: int = 1
    begun: int = 0
    left_out: list[str] = field(default_factory=list)
    _until_s: float = 0.0
    _now: str | None = None  # what is measured
    _since_s: float = 0.0

    def __post_init__(self) -> None:
        self._until_s = time.perf_counter() + self.seconds

    @property
    def left_s(self) -> float:
        """Seconds that are left, at least 0."""
        return max(0.0, self._until_s - time.perf_counter())

    def begin(self, what: str) -> None:
        """Report what is measured now."""
        self.begun += 1
        self.planned = max(self.planned, self.begun)
        self.tell(what, self.begun, self.planned)
        self._trace(what)

    def end(self) -> None:
        """Note that the last measurement is over."""
        self._trace(None)

    def _trace(self, what: str | None) -> None:
        """Put the measurement that is over into the trace, if there is one."""
        trace, now_s = current_trace(), time.perf_counter()
        if trace is not None and self._now is not None:
            trace.span(self._now, self._since_s, now_s, "measurements")
        self._now, self._since_s = what, now_s

    def allows(self, what: str, seconds: float, measurements: int = 1) -> bool:
        """Return whether there is time; if not, note what is left out and take it off the plan."""
        if seconds <= self.left_s:
            return True
        self.left_out.append(what)
        self.drop(measurements)
        return False

    def drop(self, measurements: int) -> None:
        """Take measurements off the plan that cannot or need not be made."""
        self.planned = max(self.begun, self.planned - measurements)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast things go, roughly."""

    start_s: float  # until a loader gives its first batch
    image_s: float  # per image of the loader, on all cores
    step_s: float  # per image of the step
    step_cores: float  # that the step keeps busy
    in_flight: int  # batches
    enough: int  # batches that make a rate

    @property
    def shares_cores(self) -> bool:
        """Whether the step computes where the loader does."""
        return self.step_cores >= CORES_OF_A_CPU_STEP

    def rough_step(self, batch: Any) -> StepAlone:
        """Return the step alone as a first look showed it."""
        rate = 1 / self.step_s
        return StepAlone(Rate.of(rate), self.step_cores * self.step_s, batch)

    def run_s(self, seconds: float, batch: int, *, step: bool, least: int, share: float) -> float:
        """Return how long a run takes on a share of the cores, until it has enough batches."""
        in_flight = max(self.in_flight, QUEUE_DEPTH + 1 if step else 0)
        image_s = self.image_s / share
        if step:
            step_s = self.step_s / (share if self.shares_cores else 1.0)
            image_s = image_s + step_s if self.shares_cores else max(image_s, step_s)
        batches = max(in_flight + TIMED_BATCHES, self.enough, least)
        return self.start_s / share + max(seconds, batches * batch * image_s)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure the rates."""

    effort: Effort
    core_counts: Sequence[int]
    batch_size: int


def look(subject: Subject, device: Device) -> tuple[Pace, Any]:
    """Take some batches and steps; return the pace, and a batch."""
    began_s = time.perf_counter()
    with subject.open() as loader:
        batches = iter(loader)
        batch = check_batch(next(batches, None))
        start_s = time.perf_counter() - began_s
        images, took = 0, 0
        since_s = time.perf_counter()
        until_s = since_s + max(_FIRST_LOOK_S, start_s)
        while time.perf_counter() < until_s and took < 2 * subject.in_flight() + 2:
            another = next(batches, None)
            if another is None:
                break
            images += count_images(another)
            took += 1
        passed_s = time.perf_counter() - since_s
        del batches  # ends its workers
    if took > subject.in_flight():
        image_s = passed_s / images
    else:  # what came was prepared ahead
        at_once = subject.workers if subject.worker_kind == "processes" else 1
        image_s = (start_s + passed_s) / (count_images(batch) * max(1, at_once) + images)
    step_s, step_cores = _look_at_step(device, batch)
    start_s = max(0.0, start_s - image_s * count_images(batch))
    return Pace(
        start_s, image_s, step_s, step_cores, subject.in_flight(), enough_batches(subject)
    ), batch


def _look_at_step(device: Device, batch: Any) -> tuple[float, float]:
    """Return seconds per image and cores of a step, once it has been warmed up.

    A device that computes elsewhere counts as keeping no cores busy.
    """
    if isinstance(device, EmulatedDevice):
        return 1 / device.images_per_s, 0.0
    device.submit(batch)
    device.synchronise()
    began_s, began_cpu_s, steps = time.perf_counter(), time.process_time(), 0
    while not steps or (time.perf_counter() - began_s < _FIRST_LOOK_S / 3 and steps < 3):
        device.submit(batch)
        device.synchronise()
        steps += 1
    took_s = max(time.perf_counter() - began_s, 1e-9)
    cores = (time.process_time() - began_cpu_s) / took_s
    image_s = took_s / (steps * count_images(batch))
    return image_s, 0.0 if computes_elsewhere(device) else cores


def rough_plan(core_counts: int, others: int) -> int:
    """Return about how many measurements there will be, before a first look shows the pace."""
    return _EFFORTS[0].rounds * 2 * core_counts + others + 4


def first_subject(subject: Subject, *, any_batch: bool) -> Subject:
    """Return what to look at first: small batches, where they are as good as any."""
    if not any_batch or subject.batch_size <= _FIRST_LOOK_IMAGES:
        return subject
    return subject.with_batch_size(_FIRST_LOOK_IMAGES) or subject


def plan_rates(
    pace: Pace,
    seconds: float,
    core_counts: Sequence[int],
    batch_size: int,
    *,
    can_shrink: bool,
    sweeps: bool,
    all_counts: bool = False,
    extra_runs: int = 0,
) -> Plan:
    """Return the most thorough way to measure rates that fits.

    First the rounds get fewer and shorter, then rates on fewer cores are left out, and at last
    batches get smaller. `all_counts` leaves out no number of cores, whatever time it takes.
    `extra_runs` are those of the pipeline with other workers in each round.
    """
    seconds *= _FOR_THE_VERDICT if sweeps else 0.9
    sizes = [batch_size]
    while can_shrink and sizes[-1] // 2 >= _LEAST_IMAGES:
        sizes.append(sizes[-1] // 2 // 2 * 2)  # even, as batches that are mixed must be
    least = core_counts if all_counts else core_counts[-1:]
    for size in sizes:
        for counts in (core_counts, least):
            for effort in _EFFORTS:
                if len(counts) > len(least) and effort.rounds < _ROUNDS_ON_FEWER_CORES:
                    continue
                if rates_s(pace, effort, counts, size, extra_runs) <= seconds:
                    return Plan(effort, counts, size)
    return Plan(_EFFORTS[-1], least, sizes[-1])


def rates_s(
    pace: Pace, effort: Effort, core_counts: Sequence[int], batch: int, extra_runs: int = 0
) -> float:
    """Return about how long it takes to measure all rates, and what an image costs."""
    each_round_s = 0.0
    least = -(-LEAST_BATCHES // effort.rounds)
    for cores in core_counts:
        share = cores / core_counts[-1]
        each_round_s += pace.run_s(effort.seconds, batch, step=False, least=0, share=share)
        each_round_s += pace.run_s(effort.seconds, batch, step=True, least=least, share=share)
        if pace.shares_cores:
            each_round_s += max(effort.seconds / 2, _STEPS * batch * pace.step_s / share)
    each_round_s += extra_runs * pace.run_s(effort.seconds, batch, step=False, least=0, share=1.0)
    return effort.rounds * (each_round_s + effort.seconds)
