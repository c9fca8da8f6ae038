"""What is analysed: a loader that can be made again with other workers, layers or sizes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, Protocol

from penstock.costs.costs import Costs
from penstock.errors import AnalysisError

WorkerKind = Literal["threads", "processes", "unknown"]


class Subject(Protocol):
    """A loader, and what can be asked of it."""

    @property
    def title(self) -> str:
        """One line on what it is."""
        ...

    @property
    def batch_size(self) -> int:
        """Images in a batch; 0 if that is not known before one is there."""
        ...

    @property
    def images(self) -> int:
        """Images in the data set; 0 if nobody knows."""
        ...

    @property
    def workers(self) -> int:
        """Threads or processes beside the training loop's own."""
        ...

    @property
    def worker_kind(self) -> WorkerKind:
        """What the workers are."""
        ...

    def in_flight(self, workers: int | None = None) -> int:
        """Batches that are prepared ahead."""
        ...

    def open(self, workers: int | None = None) -> AbstractContextManager[Iterable[Any]]:
        """Make the loader anew, with its own number of workers or another."""
        ...

    @property
    def keeps_workers(self) -> bool:
        """Whether workers live on from one epoch to the next."""
        ...

    def with_batch_size(self, images: int) -> Subject | None:
        """Return the same with batches of so many images, if that can be done."""
        ...

    def costs(self, seconds: float) -> Costs | None:
        """Measure what an image costs, part by part, for about so long; None if that is hidden."""
        ...

    def files(self) -> Sequence[str]:
        """Return images that are files of their own, or a sample; none if they are not known."""
        ...

    def stored_in(self, most: int) -> Sequence[str]:
        """Return all files that hold the data; none if they are more, or not known."""
        ...

    def with_layers(self, layers: int) -> Subject | None:
        """Return the same with so many layers of RandAugment, if that can be done."""
        ...

    def with_size(self, factor: float) -> Subject | None:
        """Return the same with images of `factor` times the height and width, if possible."""
        ...

    def slowest_files(self) -> tuple[tuple[str, float], ...]:
        """Return the slowest of some files, with milliseconds; none if files are not known."""
        ...


class IterableSubject:
    """Any iterable of batches: nothing is known of what happens inside."""

    worker_kind: WorkerKind = "unknown"
    workers = 0
    keeps_workers = False
    batch_size = 0
    images = 0

    def __init__(self, loader: Iterable[Any]) -> None:
        self._loader = loader
        self.title = f"{type(loader).__name__} of batches"

    def in_flight(self, workers: int | None = None) -> int:
        """Assume what most loaders do."""
        del workers
        return 2

    def open(self, workers: int | None = None) -> AbstractContextManager[Iterable[Any]]:
        """Return the iterable itself."""
        del workers
        return nullcontext(self._loader)

    def with_batch_size(self, images: int) -> Subject | None:
        """Nothing can be changed."""
        del images
        return None

    def costs(self, seconds: float) -> Costs | None:
        """Nothing can be told from outside."""
        del seconds
        return None

    def files(self) -> Sequence[str]:
        """None are known."""
        return ()

    def stored_in(self, most: int) -> Sequence[str]:
        """None are known."""
        del most
        return ()

    def with_layers(self, layers: int) -> Subject | None:
        """Nothing can be changed."""
        del layers
        return None

    def with_size(self, factor: float) -> Subject | None:
        """Nothing can be changed."""
        del factor
        return None

    def slowest_files(self) -> tuple[tuple[str, float], ...]:
        """None are known."""
        return ()


def open_subject(loader: Any) -> Subject:
    """Find out what kind of loader this is."""
    from penstock.analysis.subject.penstock_subject import PenstockSubject
    from penstock.loading.loader import Loader
    from penstock.translation.delivery import AcceleratedLoader

    if isinstance(loader, (Loader, AcceleratedLoader)):
        return PenstockSubject(loader)
    torch_data = sys.modules.get("torch.utils.data")
    if torch_data is not None and isinstance(loader, torch_data.DataLoader):
        from penstock.analysis.subject.torch_subject import TorchSubject

        return TorchSubject(loader)
    if iter(loader) is loader if hasattr(loader, "__iter__") else True:
        raise AnalysisError(
            f"analyze: needs a loader that can be iterated more than once, got "
            f"{type(loader).__name__}. Give the loader itself, not its iterator."
        )
    return IterableSubject(loader)
