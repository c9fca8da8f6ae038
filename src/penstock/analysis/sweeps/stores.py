"""Other ways to read from a store: a cache, windows of blocks, more requests at a time.

Each is predicted from the latency and bandwidth that were measured and, if there is time, measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock.analysis.advice import CACHE, MORE_REQUESTS, WINDOW
from penstock.analysis.measure import enough_batches, run_pipeline
from penstock.analysis.subject.subject import PenstockSubject
from penstock.analysis.sweeps.sweep import SweepContext
from penstock.analysis.what_if import Change
from penstock.costs.costs import Costs
from penstock.costs.plan_variants import like
from penstock.data.remote import CacheAsked, Reading, RemotePackedSource
from penstock.errors import PenstockError
from penstock.loading.sampling.window import WindowShuffle
from penstock.results.records import Prediction, StoreReading

STORES = 2  # measurements, at most
_WINDOW_BLOCKS = 16  # enough to keep the store busy; more of them are read at the same rate
_WINDOWS_TIMED = 3
_MORE = 4  # times as many requests


@dataclass(frozen=True, slots=True)
class Demand:
    """What an image asks of a store, and how many requests there may be at a time."""

    requests: float
    bytes_read: float
    in_flight: int
    full_rate: int = 1  # requests under way when the bandwidth of one was measured

    def rate(self, costs: Costs, store: StoreReading, cores: int) -> float:
        """Predict the pipeline alone: cores, answers or bandwidth, whichever is scarcest."""
        seconds = [costs.cpu_s / cores]
        if store.latency_ms is not None:
            seconds.append(self.requests * store.latency_ms / 1e3 / self.in_flight)
        if store.megabytes_per_s is not None:
            seconds.append(self.bytes_read / (store.megabytes_per_s * 1e6 * self.full_rate))
        return 1 / max(*seconds, 1e-9)


def measure_stores(context: SweepContext, costs: Costs | None) -> None:
    """Look for a better way to read, where the data is in a store."""
    subject = context.subject
    source = subject.loader.source if isinstance(subject, PenstockSubject) else None
    if costs is None or costs.store is None or not isinstance(source, RemotePackedSource):
        context.budget.drop(STORES)
        return
    store, tried = costs.store, 0
    _think_of_cache(context, costs, store, source)
    if source.reading is not Reading.BLOCKS:
        tried += _try_window(context, costs, store, source)
        tried += _try_more_requests(context, costs, store, source)
    context.budget.drop(STORES - tried)


def _think_of_cache(
    context: SweepContext, costs: Costs, store: StoreReading, source: RemotePackedSource
) -> None:
    """Say what a cache that has everything would bring; it was measured with the costs."""
    total = source.packed.file_bytes
    if source.cache_asked.folder is not None and source.cache_asked.limit >= total:
        return  # it is there already
    line = f'Loader(..., cache="FOLDER", cache_limit="{_rounded_up(total)}")'
    predicted = Demand(0, 0, 1).rate(costs, store, context.cores)
    note = "from the second epoch on, in which nothing is read from the store"
    _add(context, CACHE, predicted, store.warm_images_per_s, note, line)


def _try_window(
    context: SweepContext, costs: Costs, store: StoreReading, source: RemotePackedSource
) -> int:
    blocks = source.blocks()
    if blocks is None:
        return 0
    window = WindowShuffle(min(_WINDOW_BLOCKS, max(1, len(blocks) // _WINDOWS_TIMED)))
    in_block = len(source) / len(blocks)
    record = source.packed.file_bytes / len(source)
    at_once = source.options.in_flight
    demand = Demand(1 / in_block, record, at_once, full_rate=at_once)
    least = int(_WINDOWS_TIMED * window.blocks * in_block / max(1, context.subject.batch_size)) + 1

    def measure() -> float:
        other = source.elsewhere(CacheAsked(None, 0))
        return _rate(context, other, least_batches=least, sampling=window)

    note = "each block is read once in an epoch; docs/object-stores.md says how well that mixes"
    line = f"Loader(..., sampling=penstock.WindowShuffle({window.blocks}))"
    return _try(context, WINDOW, demand.rate(costs, store, context.cores), measure, note, line)


def _try_more_requests(
    context: SweepContext, costs: Costs, store: StoreReading, source: RemotePackedSource
) -> int:
    batch = max(1, context.subject.batch_size)
    options = replace(source.options, in_flight=_MORE * source.options.in_flight)
    demand = Demand(
        store.requests_per_batch / batch,
        store.bytes_per_batch / batch,
        options.in_flight,
        full_rate=source.options.in_flight,
    )

    def measure() -> float:
        return _rate(context, source.elsewhere(source.cache_asked, options), least_batches=0)

    note = "more is read ahead at the same time; stores bound how many a second they answer"
    line = f"Loader(..., storage=penstock.StorageOptions(in_flight={options.in_flight}))"
    predicted = demand.rate(costs, store, context.cores)
    return _try(context, MORE_REQUESTS, predicted, measure, note, line)


def _rate(
    context: SweepContext, source: RemotePackedSource, *, least_batches: int, **order: Any
) -> float:
    """Return the rate of one epoch at most, from a store of which nothing is in memory."""
    subject = context.subject
    assert isinstance(subject, PenstockSubject)  # noqa: S101  as measure_stores has seen
    with like(subject.loader, source, targets="none", shuffle=True, **order) as loader:
        other = PenstockSubject(loader)
        least = max(least_batches, enough_batches(other))
        run = run_pipeline(
            other, None, context.cores, context.effort, epochs=1, least_batches=least
        )
    return run.images_per_s


def _try(
    context: SweepContext,
    what: str,
    predicted: float,
    measure: Callable[[], float],
    note: str,
    line: str,
) -> int:
    """Measure if there is time; else what was predicted must do. Returns how often."""
    measured: float | None = None
    tried = context.allows(what, runs=2, measurements=0)
    if tried:
        context.budget.begin(f"the same pipeline, {what}")
        try:
            measured = measure()
        except PenstockError as error:
            context.results.note(what, error)
    _add(context, what, predicted, measured, note, line)
    return int(tried)


def _add(
    context: SweepContext,
    what: str,
    predicted: float,
    measured: float | None,
    note: str,
    line: str,
) -> None:
    if measured is not None:
        check = Prediction(f"the pipeline alone, {what}", predicted, measured)
        context.results.checks.append(check)
    is_measured = measured is not None
    rate = predicted if measured is None else measured
    change = Change(what, rate, note=note, line=line, is_measured=is_measured)
    context.results.changes.append(change)


def _rounded_up(size: int) -> str:
    """Return a size for `cache_limit`, with some room for the index."""
    needed = 1.05 * size
    unit, name = (1e9, "GB") if needed >= 1e9 else (1e6, "MB")
    return f"{int(needed / unit) + 1} {name}"
