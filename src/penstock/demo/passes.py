"""The demo's loaders beside each other: passes in turn, each loader in its own process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from penstock.demo.loader_process import LoaderProcess
from penstock.demo.loaders import Work
from penstock.demo.torchvision_import import import_torch_if_there
from penstock.progress import ProgressBar
from penstock.usable_cores import pinned_to, usable_cores

SHORTEST_PASS_S = 0.3

Sides = Mapping[str, Callable[[Work], object]]  # the plain one first


@dataclass(frozen=True, slots=True)
class Pass:
    """Epochs of one loader; the first pass on a number of cores also builds the loader."""

    images: int
    seconds: float
    first_batch_s: float  # includes building the loader, if it was built

    @property
    def images_per_s(self) -> float:
        """Images a second over the whole pass."""
        return self.images / self.seconds


@dataclass(frozen=True, slots=True)
class Row:
    """One loader on a number of cores; rates and ratios have an entry a timed pass."""

    loader: str
    cores: int
    images_per_s: tuple[float, ...]
    ratios: tuple[float, ...]  # to the plain loader's rate in the same round
    first_batch_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures under names with units."""
        return {
            "loader": self.loader,
            "cores": self.cores,
            "images_per_s": round(median(self.images_per_s), 1),
            "images_per_s_lowest": round(min(self.images_per_s), 1),
            "images_per_s_highest": round(max(self.images_per_s), 1),
            "ratio_to_plain": round(median(self.ratios), 3),
            "first_batch_s": round(self.first_batch_s, 4),
        }


class TimedLoader:
    """One loader for each number of cores, built when first asked for and kept."""

    def __init__(self, build: Callable[[Work, int], Any], work: Work) -> None:
        import_torch_if_there()  # now, because imports are not part of the first batch
        self._build = partial(build, work)
        self._loaders: dict[int, Any] = {}

    def run_pass(self, cores: int) -> Pass:
        """Load epochs on that many cores until the pass is long enough to be timed."""
        images = 0
        first_batch_s = 0.0
        with pinned_to(cores):
            started_s = time.perf_counter()
            if cores not in self._loaders:
                self._loaders[cores] = self._build(cores)
            while not images or time.perf_counter() - started_s < SHORTEST_PASS_S:
                for batch, _ in self._loaders[cores]:
                    if not images:
                        first_batch_s = time.perf_counter() - started_s
                    images += len(batch)
            return Pass(images, time.perf_counter() - started_s, first_batch_s)


def measure_passes(work: Work, sides: Sides, passes: int) -> list[Row]:
    """Time each side on one core and on all, alternating; the first side is the reference."""
    core_counts = sorted({1, usable_cores()})
    with ExitStack() as stack:
        running = {
            label: stack.enter_context(LoaderProcess(label, side, work))
            for label, side in sides.items()
        }
        return _rows(_alternate(running, core_counts, passes), reference=next(iter(sides)))


Results = dict[tuple[str, int], list[Pass]]


def _alternate(
    running: Mapping[str, LoaderProcess], core_counts: list[int], passes: int
) -> Results:
    """Run every side on every number of cores, round by round; round 0 builds and warms up."""
    results: Results = {(label, cores): [] for cores in core_counts for label in running}
    total = (passes + 1) * len(results)
    with ProgressBar("measuring", total=total, unit="passes", quiet_for_s=0, rate=False) as bar:
        for _ in range(passes + 1):
            for (label, cores), done in results.items():
                many = "1 core" if cores == 1 else f"{cores} cores"
                bar.advance(0, title=f"{label} on {many}")
                done.append(running[label].call("run_pass", cores))
                bar.advance()
    return results


def _rows(results: Results, reference: str) -> list[Row]:
    rows = []
    for (label, cores), (first, *timed) in results.items():
        rates = tuple(done.images_per_s for done in timed)
        theirs = [done.images_per_s for done in results[reference, cores][1:]]
        ratios = tuple(rate / plain for rate, plain in zip(rates, theirs, strict=True))
        rows.append(Row(label, cores, rates, ratios, first.first_batch_s))
    return rows
