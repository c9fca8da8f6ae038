"""A loader that does the same as another one, to other data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.loading.loader import Loader
from penstock.transforms.values import ToDtype


def like(
    loader: Loader,
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
