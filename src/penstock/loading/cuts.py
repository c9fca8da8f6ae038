"""Where an epoch is cut into batches: after so many samples, or where its order says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@runtime_checkable
class Cuts(Protocol):
    """The batches of one rank in one epoch, by the rank's own samples.

    An order of samples that has these methods decides itself where its batches end.
    """

    @property
    def total(self) -> int:
        """This rank's samples in all batches together."""
        ...

    @property
    def batches(self) -> int:
        """How many batches there are."""
        ...

    def batch_at(self, start: int) -> int:
        """Return how many batches end at or before this sample."""
        ...

    def start_of_batch(self, batch: int) -> int:
        """Return how many samples come before this batch."""
        ...

    def end_of_batch(self, start: int) -> int:
        """Return where the batch that begins with this sample ends."""
        ...


@dataclass(frozen=True, slots=True)
class EvenCuts:
    """Batches of one size from sample `first` on; the last may be shorter, or is left out."""

    samples: int
    first: int
    batch_size: int
    drop_last: bool

    @property
    def total(self) -> int:
        """This rank's samples in all batches together."""
        left_over = (self.samples - self.first) % self.batch_size if self.drop_last else 0
        return self.samples - left_over

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return -(-(self.total - self.first % self.batch_size) // self.batch_size)

    def batch_at(self, start: int) -> int:
        """Return how many batches end at or before this sample."""
        return start // self.batch_size

    def start_of_batch(self, batch: int) -> int:
        """Return how many samples come before this batch."""
        return self.first % self.batch_size + batch * self.batch_size

    def end_of_batch(self, start: int) -> int:
        """Return where the batch that begins with this sample ends."""
        return min(start + self.batch_size, self.total)
