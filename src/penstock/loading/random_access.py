"""Any samples, in any order, whenever they are asked for: for the data sources of other frameworks.

A `Loader` decides which samples come next, and prepares them ahead. Here somebody else decides, and
waits; the threads that decode and augment are the same.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from penstock.data.column_source import ColumnSource
from penstock.geometry import Ints
from penstock.loading.batch import Batch, BatchMaker, Part, parts_of
from penstock.loading.deliver import Delivery
from penstock.loading.failures import Ledger
from penstock.loading.pipeline import Pipeline
from penstock.loading.runner import PartRunner
from penstock.loading.runtime import check_not_forked

_MOST_IDLE = 4  # buffers that wait to be filled again


class RandomAccess:
    """Reads samples through a pipeline, in the process that made it; any thread may ask."""

    def __init__(self, pipeline: Pipeline, delivery: Delivery) -> None:
        self._pipeline = pipeline
        self._delivery = delivery
        self._maker = BatchMaker(pipeline.output, _MOST_IDLE)
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._runner: PartRunner | None = None  # its threads start with the first sample
        self._order = count()

    def read(self, samples: Ints, epochs: Ints, keys: Ints) -> Any:
        """Return a batch of these samples, as a loader would deliver it.

        `epochs` and `keys` are what the draws of each sample depend on, beside the seed.
        """
        check_not_forked(self._owner)
        runner = self._started()
        one_size = not self._pipeline.beside.sizes_may_differ
        batch = Batch(self._maker, next(self._order), keys, samples, one_size=one_size)
        for part in self._parts(batch, epochs, runner.part_size):
            runner.run(part)
        delivered = self._delivery.deliver(batch)
        source = self._pipeline.source
        if isinstance(source, ColumnSource):
            source.check_unchanged(samples)
        return delivered

    def close(self) -> None:
        """Stop its threads."""
        with self._lock:
            runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()
            self._maker.close()
            runner.end()

    def _started(self) -> PartRunner:
        with self._lock:
            if self._runner is None:
                source = self._pipeline.source
                ledger = Ledger(len(source), source.name)
                self._runner = self._pipeline.make_runner(self._pipeline.choose_rules(), ledger)
            return self._runner

    def _parts(self, batch: Batch, epochs: Ints, part_size: int) -> Iterator[Part]:
        """Cut a batch into parts; the samples of a part are of one epoch."""
        seed = self._pipeline.seed
        for epoch in np.unique(epochs).tolist():
            slots = np.flatnonzero(epochs == epoch).astype(np.int32)
            for some in np.array_split(slots, parts_of(len(slots), part_size)):
                keys, samples = batch.keys[some], batch.samples[some]
                yield Part(batch, seed, epoch, some, keys, samples, next(self._order))
