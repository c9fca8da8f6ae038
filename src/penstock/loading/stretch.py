"""Samples of several batches that come one after the other, for which work is prepared in one go.

To look up, draw and lower takes about as long for a few hundred samples as for a few: most of it is
the fixed cost of a call. So it is done for a whole stretch where everything is known beforehand,
and every part takes its share. What a sample becomes does not depend on who is beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from penstock.data.packed import Records
from penstock.errors import PenstockError
from penstock.geometry import Ints, Sizes
from penstock.planner.lower import Regions, Steps

MOST_IN_STRETCH = 1024  # samples, where batches are not larger


@dataclass(frozen=True, slots=True)
class Ready:
    """Where samples lie, how large their images are, and the steps that the core runs on them."""

    records: Records
    sizes: Sizes
    steps: Steps
    needed: Regions  # what the steps read

    def between(self, begin: int, end: int) -> Ready:
        """The same of some samples that follow each other."""
        some = slice(begin, end)
        sizes = Sizes(self.sizes.height[some], self.sizes.width[some])
        top, left, bottom, right = (side[some] for side in self.needed.sides)
        needed = Regions(top, left, bottom, right, self.needed.scale)
        return Ready(self.records.at(some), sizes, self.steps.between(begin, end), needed)


class Stretch:
    """Some samples of an epoch in their order; whoever needs them first makes them ready for all.

    Threads may share it.
    """

    def __init__(self, samples: Ints, keys: Ints) -> None:
        self.samples = samples
        self.keys = keys  # of their random draws
        self._ready: Ready | None = None
        self._tried = False
        self._lock = threading.Lock()

    def ready(self, begin: int, end: int, make: Callable[[Stretch], Ready | None]) -> Ready | None:
        """What `make` gives, for samples `begin` to before `end`; None if it cannot be made.

        An error is not raised here: it is about some sample, perhaps of a later batch. The part
        with that sample, prepared on its own, raises it in its turn.
        """
        with self._lock:
            if not self._tried:
                self._tried = True
                try:
                    self._ready = make(self)
                except (PenstockError, OSError, IndexError):
                    self._ready = None
            ready = self._ready
        return None if ready is None else ready.between(begin, end)
