"""From what sampling saw to shares of a loader's time, and to what the cores were busy with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from penstock.watching.frames import Stage
from penstock.watching.loader_facts import LoaderFacts
from penstock.watching.sampler import Tally
from penstock.watching.sampling import LoaderSamples
from penstock.watching.shared_cores import CpuUse
from penstock.watching.step_times import StepTimes

OUTSIDE = {Stage.IDLE, Stage.STEP, Stage.COPY}  # not the loader's own work
FEWEST_SAMPLES = 20  # of work: with fewer, a share is a guess
SMALLEST_PART = 0.03


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a loader's work."""

    stage: Stage
    name: str  # of the op, function or library; "" where the stage says it all
    place: str  # the user's line seen most, as file:line; "" if there is none
    share: float  # of the time that the loader worked

    @property
    def label(self) -> str:
        """What to call it in a list."""
        if self.stage in {Stage.OP, Stage.OWN} and self.name:
            return self.name
        return f"{self.stage.value} ({self.name})" if self.name else self.stage.value


@dataclass(frozen=True, slots=True)
class Inside:
    """How a loader spent its time, as far as looking at it now and then tells."""

    parts: tuple[Part, ...]  # the largest first
    samples: int  # of work
    work_s: float  # per image, in all workers together; not queueing for a core
    waiting: float  # share of the work without using the CPU: for a disk, a network, a lock
    idle: float  # share of the workers' time without anything to do
    queued: float = 0.0  # share of the work without a core, though ready for one
    handing_over: float = 0.0  # share of the loop's waits, or of the workers' time in other threads

    def share(self, stage: Stage) -> float:
        """Return the share of a stage in the work."""
        return sum(part.share for part in self.parts if part.stage is stage)

    def largest(self, stage: Stage) -> Part:
        """Return the largest part of a stage that was seen."""
        return next(part for part in self.parts if part.stage is stage)

    def to_dict(self) -> dict[str, object]:
        """Return everything in types that JSON knows."""
        told = ("samples", "waiting", "idle", "queued", "handing_over")
        parts = [asdict(part) | {"stage": part.stage.value} for part in self.parts]
        return {name: getattr(self, name) for name in told} | {"parts": parts}

    def describe(self) -> str:
        """Return the parts in one line."""
        told = [part for part in self.parts if part.share >= SMALLEST_PART]
        texts = [f"{part.label} {part.share:.0%}" for part in told]
        rest = 1 - sum(part.share for part in told)
        if rest >= 0.01:
            texts.append(f"other {rest:.0%}")
        return ", ".join(texts)


def look_inside(samples: LoaderSamples, facts: LoaderFacts, times: StepTimes) -> Inside | None:
    """Return how the loader spent its time; None where too little of it was seen."""
    images = int(times.images.sum())
    if not facts.workers or not images:
        return _in_the_loop(samples.loop, times, images)
    tally = samples.workers()
    idle_s = tally.of(Stage.IDLE)
    work_s = tally.wall_s - idle_s
    parts = _parts(tally)
    seen = _count(tally)
    if seen < FEWEST_SAMPLES or work_s <= 0:
        return None
    blocked_s = tally.wall_s - tally.cpu_s - tally.queued_s
    waiting_s = min(max(blocked_s - idle_s, 0.0), work_s)
    return Inside(
        parts=parts,
        samples=seen,
        work_s=max(work_s - tally.queued_s, 0.0) / images,
        waiting=waiting_s / work_s,
        idle=idle_s / tally.wall_s,
        queued=min(tally.queued_s / work_s, 1.0),
        handing_over=max(
            _share_of_waits(samples.loop, Stage.HAND_OVER),
            (tally.process_cpu_s - tally.cpu_s) / tally.wall_s,
        ),
    )


def share_of_copying(samples: LoaderSamples) -> float:
    """Return the share of the loop's time in which it copied batches to a device."""
    return samples.loop.of(Stage.COPY) / (samples.loop.wall_s or 1.0)


def _share_of_waits(loop: Tally, stage: Stage) -> float:
    """Return the share of a stage in the time for which a loop waited for its batches."""
    waited_s = loop.wall_s - loop.of(Stage.STEP, Stage.COPY)
    return loop.of(stage) / waited_s if waited_s > 0 else 0.0


def _in_the_loop(tally: Tally, times: StepTimes, images: int) -> Inside | None:
    """Look at a loader that works in the loop itself, whenever that asks for a batch."""
    seen = _count(tally)
    waited_s = float(times.waited_s.sum())
    elsewhere_s, work_s = tally.of(Stage.IDLE, Stage.ENGINE), tally.of(*set(Stage) - OUTSIDE)
    if seen < FEWEST_SAMPLES or not images or waited_s <= 0 or elsewhere_s > work_s / 2:
        return None
    waiting = 1 - min(1.0, float(times.waited_cpu_s.sum()) / waited_s)
    return Inside(_parts(tally), seen, waited_s / images, waiting, idle=0.0)


def _count(tally: Tally) -> int:
    """Return how many looks met the loader at work."""
    work_s = sum(spent for doing, spent in tally.seconds.items() if doing.stage not in OUTSIDE)
    return round(tally.samples * work_s / tally.wall_s) if tally.wall_s else 0


def _parts(tally: Tally) -> tuple[Part, ...]:
    spent: dict[tuple[Stage, str], dict[str, float]] = {}
    for doing, seconds in tally.seconds.items():
        if doing.stage not in OUTSIDE:
            places = spent.setdefault((doing.stage, doing.name), {})
            places[doing.place] = places.get(doing.place, 0.0) + seconds
    work_s = sum(sum(places.values()) for places in spent.values()) or 1.0
    parts = [
        Part(stage, name, _most_seen(places), sum(places.values()) / work_s)
        for (stage, name), places in spent.items()
    ]
    return tuple(sorted(parts, key=lambda part: -part.share))


def _most_seen(places: Mapping[str, float]) -> str:
    return max(places, key=lambda place: places[place])


def cpu_use(
    samples: LoaderSamples,
    facts: LoaderFacts,
    times: StepTimes,
    inside: Inside | None,
    cores: int,
    quota: float | None = None,
) -> CpuUse | None:
    """Return what the cores were busy with; None where nothing was timed or counted.

    A loader that is not known to have workers, and does not work in the loop either, has threads
    of its own: these cannot be told from those of the step.
    """
    ended = ~np.isnan(times.computed_s)
    later = ended & ~times.is_first
    images = int(times.images[later].sum())
    if not images:
        return None
    waited_s, computed_s = (float(some[later].sum()) for some in (times.waited_s, times.computed_s))
    waited_cpu_s = float(times.waited_cpu_s[later].sum())
    computed_cpu_s = float(times.computed_cpu_s[later].sum())
    is_known = facts.workers is not None or inside is not None
    receiving_s = 0.0
    if not is_known:
        loading_s, step_cpu_s = 0.0, (waited_cpu_s + computed_cpu_s) / images
    elif facts.workers:
        loading_s = samples.workers().process_cpu_s / int(times.images.sum())
        step_cpu_s = (waited_cpu_s + computed_cpu_s) / images
        receiving_s = waited_cpu_s / images
    else:
        loading_s, step_cpu_s = waited_cpu_s / images, computed_cpu_s / images
    wall_s = (waited_s + computed_s) / images
    if not wall_s:
        return None
    queued = samples.loop.queued_s / samples.counted_s if samples.counted_s else 0.0
    return CpuUse(
        cores=cores,
        wall_s=wall_s,
        loading_s=loading_s,
        step_s=step_cpu_s,
        step_cores=computed_cpu_s / computed_s if computed_s else 0.0,
        queued_s=queued * wall_s,
        receiving_s=receiving_s,
        loading_is_known=is_known,
        quota=quota,
    )
