"""What a watched loader did: figures, a verdict, and how to say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.printable import printable_lines
from penstock.results.records import Steps, Verdict
from penstock.usable_cores import usable_core_time, usable_cores
from penstock.watching.inside import Inside, cpu_use, look_inside, share_of_copying
from penstock.watching.loader_facts import LoaderFacts
from penstock.watching.nvml import GpuUse
from penstock.watching.sampling import LoaderSamples
from penstock.watching.shared_cores import CpuUse
from penstock.watching.step_times import StepTimes
from penstock.watching.verdict import Promise, Shares, judge

COPYING_THAT_COUNTS = 0.05
QUANTILES = {"least": 0.0, "median": 0.5, "p90": 0.9, "p99": 0.99, "largest": 1.0}


@dataclass(frozen=True, slots=True)
class WatchReport:
    """What was seen of one loader. Steps that had not ended are left out of shares and rates."""

    loader: LoaderFacts
    epochs: int
    steps: int
    images: int
    images_per_s: float | None  # over all ended steps; None if images could not be counted
    later_images_per_s: float | None  # the same without the first batch of each epoch
    waited_s: float
    computed_s: float
    waited_share: float  # of all ended steps
    later_waited_share: float  # without the first batch of each epoch
    first_batch_s: float | None  # from asking for an iterator to the first batch, first epoch
    waits_ms: Mapping[str, float]  # quantiles of the waits, without the first of each epoch
    verdict: Verdict
    sentence: str
    promises: tuple[Promise, ...] = ()  # changes, and what each would bring
    inside: Inside | None = None  # None where too little was seen
    copying: float = 0.0  # share of the loop's time on lines that copy batches to a device
    cpu: CpuUse | None = None  # None where nothing was timed, or images could not be counted
    gpu: GpuUse | None = None  # None where torch uses no GPU that NVML knows

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        return asdict(self) | {
            "verdict": self.verdict.value,
            "inside": None if self.inside is None else self.inside.to_dict(),
            "gpu": None if self.gpu is None else self.gpu.to_dict(),
        }

    def inside_lines(self) -> list[str]:
        """Return what the loader and the cores were busy with, as far as that was seen."""
        lines = []
        if self.inside is not None:
            lines.append(f"  inside       {self.inside.describe()}")
        if self.copying >= COPYING_THAT_COUNTS:
            lines.append(
                f"  copying      {self.copying:.0%} of the loop's time, to the device; that may "
                "include waiting for its earlier work"
            )
        if self.cpu is not None:
            busy = min(self.cpu.busy_cores, self.cpu.cores)
            share = f", {self.cpu.loading_share:.0%} of that with loading"
            known = share if self.cpu.loading_is_known else ""
            lines.append(f"  cores        {busy:.1f} of {self.cpu.cores} busy{known}")
        if self.gpu is not None:
            lines.append(f"  GPU          {self.gpu.describe()}")
        return lines

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        rate = "unknown" if self.images_per_s is None else f"{self.images_per_s:,.0f}"
        first = "none" if self.first_batch_s is None else f"{self.first_batch_s * 1e3:,.1f} ms"
        waits = ", ".join(f"{name} {value:,.2f}" for name, value in self.waits_ms.items())
        return [
            f"{self.verdict.value}: {self.sentence}",
            f"  loader       {self.loader.describe()}",
            f"  seen         {self.steps:,} steps, {self.images:,} images, epochs: {self.epochs}",
            f"  images/s     {rate}",
            (
                f"  waited       {self.later_waited_share:.1%} of the time, "
                f"{self.waited_share:.1%} with the first batch of each epoch"
            ),
            f"  in seconds   waited {self.waited_s:,.2f}, computed {self.computed_s:,.2f}",
            f"  first batch  {first}",
            f"  waits (ms)   {waits or 'none'}",
            *self.inside_lines(),
        ]

    def __str__(self) -> str:
        return printable_lines("\n".join(self.lines()))


def summarise(times: StepTimes, facts: LoaderFacts, samples: LoaderSamples) -> WatchReport:
    """Make a report of the steps so far."""
    waited_s, computed_s = times.waited_s, times.computed_s
    images, is_first = times.images, times.is_first
    has_ended = ~np.isnan(computed_s)
    later = has_ended & ~is_first
    share = _share(waited_s[has_ended], computed_s[has_ended])
    later_share = _share(waited_s[later], computed_s[later])
    inside = look_inside(samples, facts, times)
    cpu = cpu_use(samples, facts, times, inside, usable_cores(), usable_core_time())
    judged = judge(
        Shares(times.epochs if is_first.all() else 0, int(later.sum()), share, later_share),
        facts,
        usable_cores(),
        inside,
        cpu,
    )
    return WatchReport(
        loader=facts,
        epochs=times.epochs,
        steps=times.steps,
        images=int(images.sum()),
        images_per_s=_rate(images[has_ended], (waited_s + computed_s)[has_ended]),
        later_images_per_s=_rate(images[later], waited_s[later] + computed_s[later]),
        waited_s=float(waited_s[has_ended].sum()),
        computed_s=float(computed_s[has_ended].sum()),
        waited_share=share,
        later_waited_share=later_share,
        first_batch_s=float(waited_s[0]) if times.steps else None,
        waits_ms=_quantiles_ms(waited_s[~is_first]),
        verdict=judged.verdict,
        sentence=judged.sentence,
        promises=judged.promises,
        inside=inside,
        copying=share_of_copying(samples),
        cpu=cpu,
        gpu=samples.gpu,
    )


def ended_steps(times: StepTimes) -> Steps:
    """Return the ended steps as the analysis' record of them."""
    has_ended = ~np.isnan(times.computed_s)
    return Steps(
        tuple(times.waited_s[has_ended].tolist()), tuple(times.computed_s[has_ended].tolist())
    )


def _rate(images: NDArray[np.int64], seconds: NDArray[np.float64]) -> float | None:
    counted, total_s = int(images.sum()), float(seconds.sum())
    return counted / total_s if counted and total_s else None


def _share(waited_s: NDArray[np.float64], computed_s: NDArray[np.float64]) -> float:
    total_s = float(waited_s.sum() + computed_s.sum())
    return float(waited_s.sum()) / total_s if total_s else 0.0


def _quantiles_ms(waited_s: NDArray[np.float64]) -> dict[str, float]:
    if not len(waited_s):
        return {}
    return {name: float(np.quantile(waited_s, q)) * 1e3 for name, q in QUANTILES.items()}
