"""Cold against cached: what it costs that files are not in memory, as in a first epoch."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.analysis.budget import Budget
from penstock.analysis.device.devices import Device
from penstock.analysis.measure import Effort, Run, rate_of, run_pipeline
from penstock.analysis.rate_model import Model
from penstock.analysis.subject.subject import Subject
from penstock.analysis.verdict import Measurements
from penstock.costs.clocks import StageClock
from penstock.results.records import FirstEpoch, WhatIf

_FILES_READ = 24
_ROUNDS = 3
_SMALL_SHARE = 0.1
_MOST_FORGOTTEN = 20_000  # files: dropping more takes longer than it is worth


@dataclass(frozen=True, slots=True)
class ReadTimes:
    """Seconds in which a file keeps its reader waiting."""

    cold_s: float | None  # None where the system cannot be made to forget
    cached_s: float


def measure_reads(files: Sequence[str]) -> ReadTimes | None:
    """Read some files twice, first after dropping them from the cache; None if there are none.

    The system may keep pages that other processes use; then cold is no slower than cached.
    """
    chosen = list(files[:: max(1, len(files) // _FILES_READ)])[:_FILES_READ]
    chosen = [name for name in chosen if os.path.isfile(name)]
    if not chosen:
        return None
    if not _can_forget():
        return ReadTimes(None, _blocked_s(chosen))
    forget(chosen)
    return ReadTimes(_blocked_s(chosen), _blocked_s(chosen))


def measure_first_epoch(
    subject: Subject, device: Device, cores: int, effort: Effort, budget: Budget
) -> FirstEpoch | None:
    """Run an epoch with all files forgotten and one with them in memory, some times in turn.

    More than once only while that takes little of the time that is left. None where the files are
    not known, are too many to drop, or cannot be dropped.
    """
    files = subject.stored_in(_MOST_FORGOTTEN)
    if not files or not _can_forget():
        return None
    cold: list[Run] = []
    cached: list[Run] = []
    began_s = time.perf_counter()
    for number in range(_ROUNDS):
        if number and time.perf_counter() - began_s > _SMALL_SHARE * budget.left_s:
            break
        forget(files)
        for runs in (cold, cached):
            runs.append(run_pipeline(subject, device, cores, effort, epochs=1))
    return FirstEpoch(rate_of(cold), rate_of(cached))


def what_if_cold_cache(
    facts: Measurements, model: Model, reads: ReadTimes | None
) -> tuple[WhatIf, ...]:
    """Predict rates if files are not in memory, as in a first epoch or a large data set."""
    if reads is None or reads.cold_s is None or facts.costs is None:
        return ()
    extra = max(0.0, reads.cold_s - reads.cached_s)
    readers = max(1, facts.workers)
    slowed = 1 / (1 / facts.pipeline + extra / readers)
    rate = model.end_to_end(facts.synthetic, slowed, facts.cores)
    now = model.end_to_end(facts.synthetic, facts.pipeline, facts.cores)
    return (WhatIf("files that are not in memory", rate, rate / now),)


def tell_cold_cache(
    reads: ReadTimes | None,
    first_epoch: FirstEpoch | None,
    synthetic: float,
    assumption: str = "",
) -> Iterator[str]:
    """Yield what was seen, in words."""
    if reads is not None and reads.cold_s is not None:
        cold, cached = (f"{seconds * 1e6:,.0f} µs" for seconds in (reads.cold_s, reads.cached_s))
        yield f"a file keeps its reader waiting {cold} cold, {cached} cached"
    if first_epoch is not None:
        lost = first_epoch.lost(synthetic)
        loses, condition = ("would lose", f", {assumption}") if assumption else ("loses", "")
        yield (
            f"an epoch with files that are not in memory: {first_epoch.cold.median:,.0f} images/s, "
            f"then {first_epoch.cached.median:,.0f}: fetching {loses} {lost['fetch']:.0%} of the "
            f"accelerator's time, preparing and starting {lost['prepare']:.0%}{condition}"
        )


def forget(files: Sequence[str]) -> None:
    """Drop files from the system's cache, unless another program uses them."""
    for name in files:
        try:
            descriptor = os.open(name, os.O_RDONLY)
        except OSError:  # whoever loads it will say so
            continue
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def _can_forget() -> bool:
    return hasattr(os, "posix_fadvise")


def _blocked_s(files: Sequence[str]) -> float:
    clock = StageClock()
    try:
        for name in files:
            descriptor = os.open(name, os.O_RDONLY)
            try:
                size = os.fstat(descriptor).st_size
                with clock.stage("read"):
                    os.pread(descriptor, size, 0)
            finally:
                os.close(descriptor)
    finally:
        clock.close()
    return clock.spent["read"].blocked_s / len(files)
