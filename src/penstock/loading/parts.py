"""The unit of work: a part of a batch small enough to hold its files in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from penstock.errors import DecodeError, LoaderError
from penstock.geometry import Ints
from penstock.resources import Pool

if TYPE_CHECKING:
    from penstock.loading.batch import Batch
    from penstock.loading.ledger import Ledger
    from penstock.sources import Source

# Enough samples to spread the cost of drawing and lowering, few enough that the files of some
# parts in flight stay far below the memory of a batch.
PART_SIZE = 64

# More bad neighbours in a row than this mean that the data set, not a file, is broken.
MOST_SUBSTITUTIONS = 100


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


class Failures:
    """What is done about files that cannot be used.

    Only samples that may take part in an epoch stand in for others: `allowed`, in ascending order;
    None allows the whole data set.
    """

    def __init__(
        self, on_error: str, source: Source, ledger: Ledger, allowed: Ints | None = None
    ) -> None:
        self.ledger = ledger
        self._on_error = on_error
        self._source = source
        self._allowed = allowed

    def handle(self, part: Part, failed: dict[int, str]) -> Part | None:
        """Apply the policy to the items in `failed` (item: reason).

        Returns the part that must be run again with neighbours in their places, if any.
        """
        if not failed:
            return None
        if self._on_error == "raise":
            item = min(failed)
            name = self._source.name(int(part.samples[item]))
            raise DecodeError(
                f"{name}: {failed[item]}. "
                "Use on_error='skip' or 'substitute' (--on-error) to go on without such files."
            )
        items = np.array(sorted(failed), dtype=np.int64)
        event = "skipped" if self._on_error == "skip" else "substituted"
        for item in items.tolist():
            self.ledger.note(int(part.samples[item]), event, failed[item])
        if self._on_error == "skip":
            part.batch.leave_out(part.slots[items])
            return None
        return self._neighbours(part.pick(items))

    def _neighbours(self, part: Part) -> Part:
        length = len(self._source if self._allowed is None else self._allowed)
        if part.attempt + 1 >= min(MOST_SUBSTITUTIONS, length):
            name = self._source.name(int(part.samples[0]))
            raise DecodeError(
                f"{name}: it and the {part.attempt} samples before it cannot be decoded, so there "
                "is nothing to substitute. Check the data set, or use on_error='skip' "
                "(--on-error skip)."
            )
        if self._allowed is None:
            samples = (part.samples + 1) % length
        else:
            behind = np.searchsorted(self._allowed, part.samples, side="right")
            samples = self._allowed[behind % length]
        part.batch.samples[part.slots] = samples
        return Part(
            part.batch, part.epoch, part.slots, part.keys, samples, part.rank, part.attempt + 1
        )
