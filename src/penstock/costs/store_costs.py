"""What it costs that data lies in a store: the loader as it is, beside one whose cache is warm.

Threads that read ahead wait most of the time, and that costs nothing as long as others compute. So
what counts is what is left over: the time of all threads that should compute, less what preparing
an image takes if its data is at hand.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from penstock.costs.costs import Cost, Costs
from penstock.costs.loader_costs import measure_loader
from penstock.costs.plan_variants import MeasuredLoader, like
from penstock.data.remote import CacheAsked, Reading, RemotePackedSource
from penstock.errors import AnalysisError, PenstockError
from penstock.geometry import Ints
from penstock.loading.loader import Loader
from penstock.loading.read_ahead import batches_in_flight
from penstock.results.records import StoreReading
from penstock.storage.counts import IoCounts
from penstock.storage.remote_object import AT_FULL_RATE
from penstock.usable_cores import usable_cores
from penstock.watching.loader_facts import count_images

READING = "reading from the store"
_FAR, _WARM = 0.35, 0.15  # shares of the time: the loader as it is, and with a warm cache
_LEAST_BATCHES = _COUNTED_BATCHES = 4
_PATIENCE, _LEAST_PATIENCE_S = 4, 5.0  # times the seconds asked for, until these are there
_SAMPLE_BATCHES = 16  # that a warm cache is filled with, if that takes no longer than
_SAMPLE_S = 3.0
_SAMPLE_BYTES = 200_000_000
_MOST_SAMPLES = 10_000_000  # of a data set whose index may well be read once more


@dataclass(frozen=True, slots=True)
class FarRun:
    """Some batches of a loader: how long they took, and what the store was asked for."""

    images: int
    batches: int
    seconds: float
    requests_per_batch: float = 0.0
    bytes_per_batch: float = 0.0
    hits: float | None = None
    retries: int = 0

    @property
    def images_per_s(self) -> float:
        """The rate."""
        return self.images / self.seconds


def measure_far_loader(loader: MeasuredLoader, source: RemotePackedSource, seconds: float) -> Costs:
    """Measure for about `seconds` what an image costs, with reading apart from computing."""
    far = _with_exact_counts(run_far(loader, source, _FAR * seconds), loader, source)
    warm: float | None = None
    try:
        with warm_sample(loader, source) as near:
            warm = _rate_of(near, _WARM * seconds)
            # A whole epoch: what is read ahead at its beginning is used by its end.
            left_s = (1 - _FAR - _WARM) * seconds
            costs = measure_loader(near, seconds=left_s, batches=len(near))
    except PenstockError:  # its samples cannot be loaded alone, without their targets, say
        costs = measure_loader(loader, seconds=(1 - _FAR) * seconds)
    threads = min(loader.threads, usable_cores())
    waiting_s = max(0.0, threads / far.images_per_s - costs.cpu_s)
    parts = [part for part in costs.parts if part.kind != "read"]
    note = "time in which the loader's threads do not prepare images"
    reading = _reading(source, far, waiting_s, warm)
    return replace(
        costs, parts=(Cost("read", READING, waiting_s, "store", note), *parts), store=reading
    )


def run_far(loader: MeasuredLoader, source: RemotePackedSource, seconds: float) -> FarRun:
    """Load for a while, of a source of which nothing is in memory.

    What is read ahead comes in a burst. So batches after it count, or a whole epoch if it ends.
    """
    replica = loader.replica()
    source.forget()
    burst = batches_in_flight(source, loader.batch_size, loader.prefetch)
    start = began = time.perf_counter()
    first = before = source.io
    images = batches = done = everything = 0
    try:
        for batch in replica:
            now = time.perf_counter()
            done += 1
            everything += count_images(batch)
            if done <= burst:
                began, before = now, source.io
            else:
                images += count_images(batch)
                batches += 1
            enough = batches >= _LEAST_BATCHES and now - start > seconds
            if enough or (done > 1 and now - start > max(_PATIENCE * seconds, _LEAST_PATIENCE_S)):
                break
        else:
            images, batches, began, before = everything, done, start, first
        ended = time.perf_counter()
    finally:
        replica.close()
    after = source.io
    if not batches:  # too slow to see more than the burst: as if all that was read had come
        return _counted(FarRun(everything, done, ended - start), first, after, begun=burst + done)
    return _counted(FarRun(images, batches, ended - began), before, after, begun=batches)


def _with_exact_counts(run: FarRun, loader: MeasuredLoader, source: RemotePackedSource) -> FarRun:
    """Count what a batch asks for on the last batches of an epoch, after which nothing is read.

    Only where requests are for single records: of a block that is read for the last batches, most
    would have been used by those before.
    """
    if source.reading is Reading.BLOCKS or not isinstance(loader, Loader):
        return run
    replica = loader.replica()
    state = replica.state_dict()
    batches = min(_COUNTED_BATCHES, len(replica))
    if "batches" in state:  # which samples are left depends on more than their number
        return run
    ranks = round(state["samples_per_epoch"] / len(replica.sampler))
    left_out = (len(replica) - batches) * loader.batch_size * ranks
    source.forget()
    before = source.io
    try:
        replica.load_state_dict({**state, "consumed": left_out})
        done = sum(1 for _ in replica)
    finally:
        replica.close()
    return _counted(run, before, source.io, begun=max(done, 1))


def _counted(run: FarRun, before: IoCounts, after: IoCounts, begun: int) -> FarRun:
    """Add what each of the batches that were begun asked of the store."""
    hits, misses = after.cache_hits - before.cache_hits, after.cache_misses - before.cache_misses
    return replace(
        run,
        requests_per_batch=(after.requests - before.requests) / begun,
        bytes_per_batch=(after.bytes_read - before.bytes_read) / begun,
        hits=hits / (hits + misses) if hits + misses else None,
        retries=after.retries - before.retries,
    )


@contextmanager
def warm_sample(loader: MeasuredLoader, source: RemotePackedSource) -> Iterator[Loader]:
    """Give a loader on some of the samples, whose cache has them all; they are read now."""
    if len(source) > _MOST_SAMPLES:
        raise AnalysisError(
            f"{len(source):,} samples: their index is too large to be read once more."
        )
    with tempfile.TemporaryDirectory() as folder:
        near = source.elsewhere(CacheAsked(folder, 2 * source.packed.file_bytes + _SAMPLE_BYTES))
        chosen = _some_blocks(source, loader.batch_size)
        sample = like(loader, near, targets="none", indices=chosen, shuffle=True)
        try:
            for _ in sample:
                pass
            near.forget()
            yield sample
        finally:
            sample.close()


def _rate_of(loader: Loader, seconds: float) -> float:
    """Return images per second of a loader whose data is at hand, over whole epochs."""
    images, start = 0, time.perf_counter()
    while images == 0 or time.perf_counter() - start < seconds:
        images += sum(count_images(batch) for batch in loader)
    return images / (time.perf_counter() - start)


def _some_blocks(source: RemotePackedSource, batch_size: int) -> Ints:
    """Return the samples of some blocks, from all over the data set."""
    firsts = source.blocks()
    if firsts is None:
        raise AnalysisError(f"{source.title}: has no blocks. Pack it again.")
    edges = np.append(firsts, len(source))
    record = max(1, source.packed.file_bytes // len(source))
    rate = source.speed()[1]
    most = _SAMPLE_BYTES if rate is None else min(_SAMPLE_BYTES, _SAMPLE_S * rate * AT_FULL_RATE)
    wanted = max(batch_size, min(_SAMPLE_BATCHES * batch_size, int(most / record)))
    count = min(len(firsts), max(1, -(-wanted * len(firsts) // len(source))))
    numbers = np.unique(np.linspace(0, len(firsts) - 1, count).astype(np.int64))
    found = np.concatenate([np.arange(edges[n], edges[n + 1]) for n in numbers.tolist()])
    samples: Ints = found.astype(np.int64)
    return samples


def _reading(
    source: RemotePackedSource, far: FarRun, waiting_s: float, warm: float | None
) -> StoreReading:
    latency, rate = source.speed()
    record = sum(file.tail.records_end for file in source.packed.files) / max(len(source), 1)
    return StoreReading(
        address=source.title,
        reads=source.reading.value,
        reasons=source.reasons,
        images_per_s=far.images_per_s,
        waiting_us=waiting_s * 1e6,
        latency_ms=None if latency is None else latency * 1e3,
        megabytes_per_s=None if rate is None else rate / 1e6,
        requests_per_batch=far.requests_per_batch,
        bytes_per_batch=far.bytes_per_batch,
        least_bytes_per_batch=record * far.images / far.batches,
        hits=far.hits,
        retries=far.retries,
        warm_images_per_s=warm,
    )
