"""What is measured of a loader of ours, and a loader that does the same to other data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from penstock.loading.loader import Loader
from penstock.planner.plan import Plan
from penstock.sources import Source
from penstock.transforms.values import ToDtype


class MeasuredLoader(Protocol):
    """What `Loader` has, and the loader that `accelerate` returns, which holds one."""

    @property
    def source(self) -> Source:
        """The data set."""
        ...

    @property
    def plan(self) -> Plan:
        """The steps as they are run."""
        ...

    @property
    def batch_size(self) -> int:
        """Images in a batch."""
        ...

    @property
    def threads(self) -> int:
        """Threads that decode and augment."""
        ...

    @property
    def prefetch(self) -> int:
        """Batches under way beyond the one asked for."""
        ...

    def __iter__(self) -> Iterator[Any]: ...

    def replica(
        self,
        *,
        plan: Plan | None = None,
        threads: int | None = None,
        fidelity: str | None = None,
        batch_size: int | None = None,
    ) -> MeasuredLoader:
        """Return a loader over the same data from its first epoch on, changed as asked."""
        ...

    def close(self) -> None:
        """Stop its threads."""
        ...


def like(
    loader: MeasuredLoader,
    data: Any,
    *,
    batch_size: int | None = None,
    threads: int | None = None,
    labels: Sequence[int] | None = None,
) -> Loader:
    """Return a loader with the same plan; without targets, since other data may have none."""
    element = loader.plan.final.element.name.lower()
    other = Loader(
        data,
        batch_size=batch_size or loader.batch_size,
        threads=threads or loader.threads,
        labels=labels,
        targets="labels",
        # The plan replaces this, but for the type that batches end in.
        transform=None if element == "uint8" else ToDtype(element, scale=True),
    )
    return other.replica(plan=loader.plan)
