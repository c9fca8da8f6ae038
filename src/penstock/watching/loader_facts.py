"""What a loader says of itself, read without knowing its library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LoaderFacts:
    """A loader as far as it can be told from outside; None is unknown."""

    kind: str
    batch_size: int | None = None
    workers: int | None = None  # worker processes; 0 loads in the training process itself
    keeps_workers: bool = False  # from one epoch to the next
    samples: int | None = None
    data: str | None = None  # the kind of data set
    prefetch: int | None = None  # batches that each worker makes ahead

    def describe(self) -> str:
        """Return it as one would write it."""
        parts = [] if self.data is None else [self.data]
        parts += [] if self.samples is None else [f"{self.samples:,} samples"]
        parts += [] if self.batch_size is None else [f"batch_size={self.batch_size}"]
        parts += [] if self.workers is None else [f"num_workers={self.workers}"]
        return f"{self.kind}({', '.join(parts)})"


def read_facts(loader: Any) -> LoaderFacts:
    """Read the attributes that torch's DataLoader, ours and their like have."""
    data = getattr(loader, "dataset", None)
    if data is None:
        data = getattr(loader, "source", None)
    batch_size = _whole(getattr(loader, "batch_size", None))
    if batch_size is None:
        batch_size = _whole(getattr(getattr(loader, "batch_sampler", None), "batch_size", None))
    return LoaderFacts(
        kind=type(loader).__name__,
        batch_size=batch_size,
        workers=_whole(getattr(loader, "num_workers", None)),
        keeps_workers=getattr(loader, "persistent_workers", False) is True,
        samples=_length(data),
        data=None if data is None else type(data).__name__,
        prefetch=_whole(getattr(loader, "prefetch_factor", None)),
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _length(data: Any) -> int | None:
    try:
        return len(data)
    except Exception:  # noqa: BLE001 (a user's own: one that fails is not for us to report)
        return None
