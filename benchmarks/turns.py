"""Contestants that take turns in one process, on one core; and what is kept of their figures."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round

Pass = Callable[[], int]  # does its work once, and returns how many images that were


def stay_on_one_core() -> None:
    """Keep this process on one core, with all threads that it starts from now on.

    OpenCV and torch do without threads of their own, which would only take turns on that core.
    """
    import cv2
    import torch

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    cv2.setNumThreads(0)
    torch.set_num_threads(1)


def take_turns(contestants: Mapping[str, Pass], rounds: int, least_s: float) -> dict[str, Any]:
    """Return what each takes for an image, in milliseconds of CPU time, once for each round.

    That is the time of all threads of the process together. On one core that nobody else uses, it
    is the time that passes; `time_over_cpu` says how much longer that was, in the median.

    A turn is as many passes as fill `least_s`, so that the fastest are not measured for too short
    a time. A pass of each to warm up does not count.
    """
    took: dict[str, list[float]] = {name: [] for name in contestants}
    over: list[float] = []
    for run in contestants.values():
        run()
    for _ in range(rounds):
        for name, run in contestants.items():
            began, began_cpu = time.perf_counter(), time.process_time()
            images, seconds = 0, 0.0
            while not images or seconds < least_s:
                images += run()
                seconds = time.process_time() - began_cpu
            took[name].append(seconds / images * 1e3)
            over.append((time.perf_counter() - began) / seconds)
    return {"ms": took, "rounds": rounds, "time_over_cpu": round(median(over), 3)}


def pass_of_loader(loader: Iterable[Any]) -> int:
    """Run one epoch of a loader of ours, whatever comes with the images."""
    count = 0
    for batch in loader:
        images = batch[0] if isinstance(batch, tuple) else batch
        count += len(images[0] if isinstance(images, list) else images)
    return count


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured in one environment: an entry for each name, kept as JSON."""

    environment: dict[str, str]  # the machine, and the versions of libraries
    entries: list[dict[str, Any]]  # each with its "name"

    def written_to(self, target: Path, names: Iterable[str]) -> Figures:
        """Add the entries to those in a file, in the order of `names`; return them all.

        What was measured in another environment is not kept beside them.
        """
        found = {entry["name"]: entry for entry in self.entries}
        if target.exists():
            kept = Figures(**json.loads(target.read_text("utf-8")))
            if kept.environment == self.environment:
                found = {entry["name"]: entry for entry in kept.entries} | found
        whole = Figures(self.environment, [found[name] for name in names if name in found])
        target.write_text(json.dumps(asdict(whole), indent=1) + "\n", encoding="utf-8")
        return whole

    def heading(self) -> list[str]:
        """Say in Markdown what was measured with, and how."""
        versions = {key: value for key, value in self.environment.items() if key != "machine"}
        named = ", ".join(f"{name} {version}" for name, version in versions.items())
        rounds = " or ".join(sorted({str(entry["rounds"]) for entry in self.entries}))
        longest = max(entry["time_over_cpu"] for entry in self.entries)
        return [
            f"- {self.environment['machine']}",
            f"- {named}",
            f"- {rounds} alternating rounds in one process on one core: median (least-largest)",
            (
                "- milliseconds of CPU time, of all threads together; the time that passed was at "
                f"most {longest:.2f} times that, since other work ran on the machine"
            ),
        ]


def environment_of(*libraries: ModuleType) -> dict[str, str]:
    """Return the machine, and the versions of Python and of libraries."""
    return {
        "machine": f"{cpu_name()}; {system_name()}",
        "Python": platform.python_version(),
        **{library.__name__: library.__version__ for library in libraries},
    }


def in_milliseconds(took: Sequence[float]) -> str:
    """Return the median, the least and the largest."""
    spread = Spread.of(took)
    digits = 1 if spread.median >= 10 else 2
    return f"{spread.median:,.{digits}f} ({spread.least:,.{digits}f}-{spread.largest:,.{digits}f})"


def times_faster(slow: Sequence[float], fast: Sequence[float]) -> str:
    """Return how many times less `fast` takes: computed in each round, then summed up alike."""
    spread = ratio_in_each_round(slow, fast)
    digits = 1 if spread.median >= 3 else 2
    return f"{spread.median:.{digits}f} ({spread.least:.{digits}f}-{spread.largest:.{digits}f})"
