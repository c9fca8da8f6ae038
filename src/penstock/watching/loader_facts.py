"""What can be seen of any loader from outside, and how many images are in a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

DEEPEST = 4  # containers in containers


@dataclass(frozen=True, slots=True)
class LoaderFacts:
    """What can be seen of a loader from outside; None is unknown."""

    kind: str
    batch_size: int | None = None
    workers: int | None = None  # worker processes; 0 loads in the training process itself
    keeps_workers: bool = False  # from one epoch to the next
    samples: int | None = None
    data: str | None = None  # the kind of data set
    prefetch: int | None = None  # batches that each worker makes ahead

    def describe(self) -> str:
        """Return it as a call with its arguments."""
        parts = [] if self.data is None else [self.data]
        parts += [] if self.samples is None else [f"{self.samples:,} samples"]
        parts += [] if self.batch_size is None else [f"batch_size={self.batch_size}"]
        parts += [] if self.workers is None else [f"num_workers={self.workers}"]
        return f"{self.kind}({', '.join(parts)})"


def read_facts(loader: Any) -> LoaderFacts:
    """Read the attributes that torch's DataLoader, ours and similar loaders have."""
    data = getattr(loader, "dataset", None)
    if data is None:
        data = getattr(loader, "source", None)
    batch_size = _whole(getattr(loader, "batch_size", None))
    if batch_size is None:
        batch_size = _whole(getattr(getattr(loader, "batch_sampler", None), "batch_size", None))
    facts = LoaderFacts(
        kind=type(loader).__name__,
        batch_size=batch_size,
        samples=_length(data),
        data=None if data is None else type(data).__name__,
    )
    if type(loader).__module__.partition(".")[0] == "penstock":
        return facts  # ours say num_workers for the sake of frameworks, but start no processes
    return replace(
        facts,
        workers=_whole(getattr(loader, "num_workers", None)),
        keeps_workers=getattr(loader, "persistent_workers", False) is True,
        prefetch=_whole(getattr(loader, "prefetch_factor", None)),
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _length(data: Any) -> int | None:
    try:
        return len(data)
    except Exception:  # noqa: BLE001 (a user's own: one that fails is not for us to report)
        return None


def count_images(batch: Any) -> int:
    """Return the first length found: of a tensor, or of the first in a tuple or dictionary.

    A list of tensors or arrays is a list of images, as detection models take them, and so is such
    a tuple inside of another: `tuple(zip(*samples))` makes one. 0 where nothing has a length.
    """
    try:
        return _first_length(batch)
    except Exception:  # noqa: BLE001 (objects of users: whatever they do, their loop must go on)
        return 0


def _first_length(batch: Any) -> int:
    for depth in range(DEEPEST):
        if hasattr(batch, "shape"):
            return int(batch.shape[0]) if len(batch.shape) else 0
        if isinstance(batch, Mapping):
            batch = next(iter(batch.values()), None)
        elif isinstance(batch, (list, tuple)) and batch:
            if (depth or isinstance(batch, list)) and is_list_of_images(batch):
                return len(batch)
            batch = batch[0]
        else:
            break
    return 0


def is_list_of_images(batch: Sequence[Any]) -> bool:
    """Tell a list of images from the [images, labels] that torch's collate makes."""
    first = batch[0]
    dimensions = len(getattr(first, "shape", ()))
    return dimensions in {2, 3} and all(
        len(getattr(other, "shape", ())) == dimensions for other in batch
    )
