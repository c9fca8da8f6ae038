"""What is analysed: a loader that can be made again with other workers, layers or sizes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from penstock.costs.costs import Costs
from penstock.costs.loader_costs import measure_loader, worst_lock_share
from penstock.costs.plan_variants import MeasuredLoader, with_layers, with_size
from penstock.costs.slow_files import SlowFiles, slow_files_of_loader
from penstock.costs.store_costs import measure_far_loader
from penstock.data.column_source import ColumnSource
from penstock.data.remote import RemotePackedSource
from penstock.errors import AnalysisError
from penstock.loading.loader import Loader
from penstock.loading.read_ahead import batches_in_flight
from penstock.sources import has_paths
from penstock.translation.delivery import AcceleratedLoader

WorkerKind = Literal["threads", "processes", "unknown"]
_FILES_LOOKED_AT = 512


class Subject:
    """A loader, and what is known about it; of a plain iterable of batches, hardly anything is.

    Loaders are made anew with something changed; the user's own stays as it is.
    """

    title: str  # one line on what it is
    batch_size = 0  # images in a batch; 0 if that is not known before one is there
    images = 0  # in the data set; 0 if that is not known
    workers = 0  # threads or processes beside the training loop's own
    worker_kind: WorkerKind = "unknown"
    keeps_workers = False  # from one epoch to the next
    is_far = False  # whether its data is in a store

    def __init__(self, loader: Any) -> None:
        self.loader = loader
        self.title = f"{type(loader).__name__} of batches"

    def in_flight(self, workers: int | None = None) -> int:
        """Return how many batches are prepared ahead: by most loaders, two."""
        del workers
        return 2

    def open(self, workers: int | None = None) -> AbstractContextManager[Iterable[Any]]:
        """Make the loader anew, with its own number of workers or another, if that is possible."""
        del workers
        return nullcontext(self.loader)

    def with_batch_size(self, images: int) -> Subject | None:
        """Return the same with batches of this many images, if that is possible."""
        del images
        return None

    def costs(self, seconds: float) -> Costs | None:
        """Measure for about `seconds` what an image costs, part by part; None if that is hidden."""
        del seconds
        return None

    def files(self) -> Sequence[str]:
        """Return images that are files of their own, or a sample; none if they are not known."""
        return ()

    def stored_in(self, most: int) -> Sequence[str]:
        """Return all files that hold the data; none if they are more, or not known."""
        del most
        return ()

    def with_layers(self, layers: int) -> Subject | None:
        """Return the same with this many layers of RandAugment, if that is possible."""
        del layers
        return None

    def with_size(self, factor: float) -> Subject | None:
        """Return the same with images of `factor` times the height and width, if possible."""
        del factor
        return None

    def slowest_files(self) -> SlowFiles:
        """Return the slowest of some files, with milliseconds; none if files are not known."""
        return ()


class PenstockSubject(Subject):
    """Makes replicas of a loader, so that the user's own is left as it is."""

    worker_kind: WorkerKind = "threads"
    keeps_workers = True
    loader: MeasuredLoader

    def __init__(self, loader: MeasuredLoader) -> None:
        self.loader = loader
        self.title = repr(loader)
        self.batch_size = loader.batch_size
        self.images = len(loader.source)
        self.workers = loader.threads
        self.is_far = isinstance(loader.source, RemotePackedSource)

    def in_flight(self, workers: int | None = None) -> int:
        """As many batches as the loader reads or prepares ahead, for any number of threads."""
        del workers
        loader = self.loader
        return batches_in_flight(loader.source, loader.batch_size, loader.prefetch)

    @contextmanager
    def open(self, workers: int | None = None) -> Iterator[Iterable[Any]]:
        """Make a replica, and end its threads afterwards; what is far is read again."""
        if isinstance(self.loader.source, RemotePackedSource):
            self.loader.source.forget()
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
        source = self.loader.source
        if isinstance(source, RemotePackedSource):
            costs = measure_far_loader(self.loader, source, seconds)
        else:
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
        """Return the images, or the packed files; of what is in a store, nothing is here."""
        source = self.loader.source
        if isinstance(source, RemotePackedSource):
            return ()
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


def open_subject(loader: Any) -> Subject:
    """Find out what kind of loader this is."""
    if isinstance(loader, (Loader, AcceleratedLoader)):
        return PenstockSubject(loader)
    ours = sys.modules.get("penstock.torch")
    if ours is not None and isinstance(loader, ours.DataLoader):
        return Subject(loader)  # torch's kind, but with other numbers of workers nothing changes
    torch_data = sys.modules.get("torch.utils.data")
    if torch_data is not None and isinstance(loader, torch_data.DataLoader):
        from penstock.analysis.subject.torch_subject import TorchSubject

        return TorchSubject(loader)
    if iter(loader) is loader if hasattr(loader, "__iter__") else True:
        raise AnalysisError(
            f"analyze: needs a loader that can be iterated more than once, got "
            f"{type(loader).__name__}. Give the loader itself, not its iterator."
        )
    return Subject(loader)
