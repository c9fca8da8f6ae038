"""A part: some samples of a batch, few enough to hold their files in memory; and who runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.resources import Pool

if TYPE_CHECKING:
    from penstock.loading.batch import Batch

# Enough samples to spread the cost of drawing and lowering, few enough that the files of some
# parts in flight stay far below the memory of a batch.
PART_SIZE = 64


@dataclass(frozen=True, slots=True)
class Part:
    """Some samples of a batch, which are read and transformed together."""

    batch: Batch
    epoch: int
    slots: npt.NDArray[np.int32]  # their places in the batch
    keys: Ints  # of their random draws: the samples that the epoch's order has here
    samples: Ints  # those that are read: the same, unless one stands in for another
    rank: int  # order of parts: lower goes first
    attempt: int = 0

    def pick(self, items: npt.NDArray[Any]) -> Part:
        """Return the part that consists of these items only."""
        return Part(
            self.batch,
            self.epoch,
            self.slots[items],
            self.keys[items],
            self.samples[items],
            self.rank,
            self.attempt,
        )


class PartRunner(ABC):
    """Reads and transforms the samples of a part; `pool` is for what runs in Python."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._closed = False

    def run(self, part: Part) -> None:
        """Fill the part's places in its batch; raises what the user is to see."""
        left: Part | None = part
        while left is not None:
            left = self._run_once(left)

    def close(self) -> None:
        """Stop threads, and wait until they have; parts under way end with an error."""
        self.abandon()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def end(self) -> None:  # noqa: B027 (most have nothing to end)
        """End what parts needed, now that none is under way."""

    def holds_this_thread(self) -> bool:
        """Whether the caller runs on one of its threads."""
        return self._pool.holds_this_thread()

    def abandon(self) -> None:
        """Let parts under way end early. Takes no lock, for the garbage collector may call it."""
        self._closed = True

    @abstractmethod
    def _run_once(self, part: Part) -> Part | None:
        """Fill what can be filled; returns what must be run again with other samples."""

    def _check_open(self) -> None:
        if self._closed:
            raise LoaderError("The loader was closed.")
