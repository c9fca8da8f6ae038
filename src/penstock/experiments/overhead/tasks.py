"""The measurements, round by round: the step alone, each loader alone, and both together.

Keys of the journal, with what each holds:

    step/ROUND/TARGET                       {"resident": images/s, "fresh": images/s, "cpu_s": s}
    fresh/ROUND/TARGET                      {"fresh": images/s}, for slow steps
    rate/ROUND/LOADER/CORES/PIPELINE        {"pipeline": images/s, "end_to_end": {TARGET: images/s}}
    rate/ROUND/LOADER/CORES/PIPELINE/TARGET {"end_to_end": {TARGET: images/s}}, for slow steps
    cache/...                               what caches.py says

Those of loaders also have "others": the share of their cores that other programs used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, repeat
from typing import Any

from penstock.analysis.device.devices import Device
from penstock.analysis.device.fresh import fresh_batch
from penstock.analysis.machine import WORTH_SAYING, competing_load, read_cpu_seconds
from penstock.analysis.measure import Effort, measure_step, run_loader
from penstock.errors import AnalysisError
from penstock.experiments.experiment import Task, UnavailableError
from penstock.experiments.overhead.caches import cache_tasks
from penstock.experiments.overhead.loaders import Opened, in_flight, open_loader
from penstock.experiments.overhead.photos import Photos
from penstock.experiments.overhead.results import OTHERS
from penstock.experiments.overhead.settings import (
    BATCH_SIZE,
    CROP_PX,
    PACKED,
    TORCHVISION,
    Pipeline,
    Settings,
)
from penstock.experiments.overhead.targets import Target
from penstock.usable_cores import pinned_to

_MORE_BATCHES = 3
_SLOW_WARM_UP, _SLOW_STEPS = 1, 2


class Bench:
    """Measures; accelerators and models are made once."""

    def __init__(self, settings: Settings, photos: Photos, targets: Sequence[Target]) -> None:
        self.settings, self.photos = settings, photos
        self._fast = [target for target in targets if not target.computes_here]
        self._slow = [target for target in targets if target.computes_here]
        self._devices: dict[str, Device] = {}

    def tasks(self) -> list[Task]:
        """Return all measurements, so that contestants alternate."""
        if PACKED in self.settings.loaders:
            self.photos.packed()  # now, so that no measurement is kept waiting for it
        for target in [*self._fast, *self._slow]:
            self._device(target)  # now, so that a wrong name does not wait for its turn
        found: list[Task] = []
        for number in range(self.settings.rounds):
            found += self._round(number)
        return found + list(self._slow_tasks())

    def _round(self, number: int) -> Iterator[Task]:
        for target in self._fast:
            yield self._calm(self._step_task(number, target), self.settings.most_cores)
        for pipeline, cores in self._settings_of_a_round():
            for loader in self.settings.loaders:
                yield self._rate_task(number, loader, cores, pipeline)
        for task in cache_tasks(
            number, self.photos, self.settings, self._fast[:1], self.measure_rates
        ):
            yield self._calm(task, self.settings.most_cores)

    def _settings_of_a_round(self) -> Iterator[tuple[Pipeline, int]]:
        """RandAugment on each number of cores; other methods on the most alone."""
        for pipeline in self.settings.layered:
            for cores in self.settings.measured_cores:
                yield pipeline, cores
        for pipeline in self.settings.pipelines[len(self.settings.layered) :]:
            yield pipeline, self.settings.most_cores

    def _targets(self, pipeline: Pipeline, cores: int) -> list[Target]:
        """Return what to train in a setting: all on the most cores, else the main accelerator."""
        has_all = pipeline in self.settings.layered and cores == self.settings.most_cores
        return [one for one in self._fast if has_all or one.group == self._fast[0].group]

    def _slow_tasks(self) -> Iterator[Task]:
        """A model on this machine's own cores: once, for two loaders, after all rounds."""
        pipeline, cores = self.settings.typical, self.settings.most_cores
        loaders = [name for name in (TORCHVISION, PACKED) if name in self.settings.loaders]
        for target in self._slow:
            yield self._step_task(0, target)
            yield Task(
                f"fresh/0/{target.key}",
                f"{target.label}: the step alone, on fresh tensors",
                partial(self._measure_slow_fresh, target),
            )
            for loader in loaders:
                yield Task(
                    f"rate/0/{loader}/{cores}/{pipeline.key}/{target.key}",
                    f"{target.label}, fed by {loader}",
                    partial(self._measure_slow, loader, cores, pipeline, target),
                )

    def _step_task(self, number: int, target: Target) -> Task:
        return Task(
            f"step/{number}/{target.key}",
            f"{target.label}: the step alone",
            partial(self._measure_step, target),
        )

    def _rate_task(self, number: int, loader: str, cores: int, pipeline: Pipeline) -> Task:
        targets = self._targets(pipeline, cores)

        def measure() -> dict[str, Any]:
            opened = open_loader(loader, self.photos, pipeline, cores)
            return self.measure_rates(opened, cores, in_flight(loader, cores), targets)

        task = Task(
            f"rate/{number}/{loader}/{cores}/{pipeline.key}",
            f"{loader}, {pipeline.label}, cores: {cores}, round {number + 1}",
            measure,
        )
        return self._calm(task, cores)

    def _calm(self, task: Task, cores: int) -> Task:
        """Return the same, measured again if other programs used these cores meanwhile.

        What is kept is the measurement that was disturbed least, with the share that others used.
        """

        def measure() -> Any:
            kept: dict[str, Any] = {}
            for _ in range(self.settings.attempts):
                with pinned_to(cores):
                    before = read_cpu_seconds()
                    found = task.measure()
                    share = competing_load(before, read_cpu_seconds())
                if share is None or not isinstance(found, dict):
                    return found
                if not kept or share < kept[OTHERS]:
                    kept = found | {OTHERS: round(share, 3)}
                if share < WORTH_SAYING:
                    break
            return kept

        return Task(task.key, task.title, measure)

    def measure_rates(
        self, opened: Opened, cores: int, ahead: int, targets: Sequence[Target]
    ) -> dict[str, Any]:
        """Run a loader on some cores, alone and then with each target."""
        # A loop that was held up finds what is in flight ready, and takes it in no time: so many
        # batches more than that are needed for a rate.
        how: dict[str, Any] = {
            "seconds": self.settings.seconds,
            "in_flight": ahead,
            "least_batches": 2 * ahead + _MORE_BATCHES,
        }
        with pinned_to(cores), opened as loader:
            # Plans, workers and memory settle in the first batches.
            run_loader(loader, None, seconds=self.settings.seconds / 2, in_flight=ahead)
            alone = run_loader(loader, None, **how)
            found: dict[str, Any] = {"pipeline": alone.images_per_s, "end_to_end": {}}
            for target in targets:
                device = self._device(target)
                device.forget()
                run = run_loader(loader, device, **how)
                found["end_to_end"][target.key] = run.images_per_s
        return found

    def _train(self, target: Target, batches: Iterator[Any]) -> float:
        """Take a few slow steps; UnavailableError if the model cannot take them here."""
        try:
            return _few_steps(self._device(target), batches)
        except AnalysisError as error:
            raise UnavailableError(str(error)) from error

    def _measure_slow(
        self, loader: str, cores: int, pipeline: Pipeline, target: Target
    ) -> dict[str, Any]:
        with pinned_to(cores), open_loader(loader, self.photos, pipeline, cores) as opened:
            rate = self._train(target, iter(opened))
        return {"end_to_end": {target.key: rate}}

    def _measure_step(self, target: Target) -> dict[str, float]:
        """Measure the step on a batch that stays, and on a fresh random tensor for each step."""
        device, seconds = self._device(target), self.settings.seconds
        batches = _fresh_batches()
        with pinned_to(self.settings.most_cores):
            if target.computes_here:
                return {"resident": self._train(target, repeat(next(batches)))}
            alone = measure_step(device, next(batches), Effort(rounds=1, seconds=2 * seconds))
            device.forget()
            fresh = run_loader(batches, device, seconds=seconds, in_flight=0)
        return {
            # An emulated accelerator has its rate by definition.
            "resident": target.gpus * target.rate if target.rate else alone.rate.median,
            "fresh": fresh.images_per_s,
            "cpu_s": alone.cpu_s,
        }

    def _measure_slow_fresh(self, target: Target) -> dict[str, float]:
        with pinned_to(self.settings.most_cores):
            return {"fresh": self._train(target, _fresh_batches())}

    def _device(self, target: Target) -> Device:
        if target.key not in self._devices:
            self._devices[target.key] = target.open()
        return self._devices[target.key]


def _few_steps(device: Device, batches: Iterator[Any]) -> float:
    """Time a few steps of many seconds each; the first of them only warms up."""
    for batch in islice(batches, _SLOW_WARM_UP):
        device.submit(batch)
    began = time.perf_counter()
    for batch in islice(batches, _SLOW_STEPS):
        device.submit(batch)
    device.synchronise()
    return _SLOW_STEPS * BATCH_SIZE / (time.perf_counter() - began)


def _fresh_batches() -> Iterator[Any]:
    """Make random images for each step anew; on the processor, as a loader does."""
    try:
        import torch
    except ImportError as error:
        raise UnavailableError(f"torch does not import here ({error})") from error
    images = torch.rand(BATCH_SIZE, 3, CROP_PX, CROP_PX)
    batch = images, torch.zeros(BATCH_SIZE, dtype=torch.int64)
    yield batch
    while True:
        yield fresh_batch(batch)
