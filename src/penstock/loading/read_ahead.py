"""How far ahead of its use data is read: enough to hide how long a store takes to answer."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.data.remote import Order, RemotePackedSource
from penstock.loading.batch import parts_of
from penstock.loading.sampling.window import WindowSelection
from penstock.loading.selection import Chosen, Selection
from penstock.sources import Source


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """Samples that are read beyond the batches under way, and parts that are under way at once.

    Each part has a thread that takes it through its stages, asleep while it waits.
    """

    samples: int
    parts: int

    def batches(self, batch_size: int, prefetch: int) -> int:
        """How many batches that are, so that all parts under way have a thread."""
        room = self.parts // parts_of(batch_size) - prefetch - 1
        return max(0, min(-(-self.samples // batch_size), room))


def choose_reading(source: Source, selection: Selection) -> None:
    """Tell a source that is far away in which order its samples will be asked for."""
    if not isinstance(source, RemotePackedSource):
        return
    if isinstance(selection, WindowSelection):
        source.choose(Order(local=True, window_blocks=selection.asked.blocks))
        return
    in_order = isinstance(selection, Chosen) and not selection.shuffle
    source.choose(Order(local=in_order, knows_crops=True))


# Parts of batches whose files are in memory at the same time.
NEAR = ReadAhead(samples=0, parts=4)
FAR = ReadAhead(samples=1024, parts=32)


def batches_in_flight(source: Source, batch_size: int, prefetch: int) -> int:
    """Return how many batches of a loader may be under way at once; they may come in a burst."""
    ahead = FAR if isinstance(source, RemotePackedSource) else NEAR
    return prefetch + 1 + ahead.batches(batch_size, prefetch)
