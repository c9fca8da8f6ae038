"""A penstock loader under analysis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from penstock.analysis.subject.subject import WorkerKind
from penstock.costs.costs import Costs
from penstock.costs.loader_costs import measure_loader, worst_lock_share
from penstock.costs.plan_variants import MeasuredLoader, with_layers, with_size
from penstock.costs.slow_files import SlowFiles, slow_files_of_loader
from penstock.data.column_source import ColumnSource
from penstock.sources import has_paths

_FILES_LOOKED_AT = 512


class PenstockSubject:
    """Makes replicas of a loader, so that the user's own is left as it is."""

    worker_kind: WorkerKind = "threads"
    keeps_workers = True

    def __init__(self, loader: MeasuredLoader) -> None:
        self.loader = loader
        self.title = repr(loader)
        self.batch_size = loader.batch_size
        self.images = len(loader.source)
        self.workers = loader.threads

    def in_flight(self, workers: int | None = None) -> int:
        """As many batches as the loader prepares ahead, for any number of threads."""
        del workers
        return self.loader.prefetch + 1

    @contextmanager
    def open(self, workers: int | None = None) -> Iterator[Iterable[Any]]:
        """Make a replica, and end its threads afterwards."""
        replica = self.loader.replica(threads=workers)
        try:
            yield replica
        finally:
            replica.close()

    def with_batch_size(self, images: int) -> PenstockSubject:
        """Make smaller or larger batches."""
        return PenstockSubject(self.loader.replica(batch_size=images))

    def costs(self, seconds: float) -> Costs | None:
        """Add op after op and take the CPU time that each one adds."""
        costs = measure_loader(self.loader, seconds=seconds)
        return replace(costs, lock_share=worst_lock_share(self.loader))

    def files(self) -> Sequence[str]:
        """Return some files of a folder or a list; a packed file is not looked at."""
        source = self.loader.source
        if not has_paths(source):
            return ()
        count = min(len(source), _FILES_LOOKED_AT)
        return source.paths(np.linspace(0, len(source) - 1, count).astype(np.int64))

    def stored_in(self, most: int) -> Sequence[str]:
        """Return the images, or the files that hold many of them."""
        source = self.loader.source
        if isinstance(source, ColumnSource) and source.files():
            files = source.files()
            return files if len(files) <= most else ()
        if not has_paths(source) or len(source) > most:
            return ()
        return source.paths(np.arange(len(source), dtype=np.int64))

    def with_layers(self, layers: int) -> PenstockSubject:
        """Change the plan."""
        return PenstockSubject(self.loader.replica(plan=with_layers(self.loader.plan, layers)))

    def with_size(self, factor: float) -> PenstockSubject | None:
        """Change the ops of the plan that set a size."""
        plan = with_size(self.loader.plan, factor)
        return None if plan is None else PenstockSubject(self.loader.replica(plan=plan))

    def slowest_files(self) -> SlowFiles:
        """Load some of the files one by one."""
        return slow_files_of_loader(self.loader, self.files())
