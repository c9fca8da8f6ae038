"""A simulated disk or network in front of any loader.

The data come from memory as fast as they are; what is simulated is that a batch cannot be had
before the storage has delivered its bytes. The storage works ahead of the loop by a few batches,
never idles while there is something to fetch, and has its latency and rate for everybody alike.
That is kinder than real storage: nothing waits to be decoded because its bytes come late within a
batch.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.watching.loader_facts import count_images

AHEAD = 4  # batches that are fetched before the loop asks for them
CONTIGUOUS_BYTES = 1 << 20  # of one request, where neighbours are read one after the other


@dataclass(frozen=True, slots=True)
class Storage:
    """What a request costs."""

    title: str
    latency_s: float  # before the first byte of a request: a seek, or a round trip
    parallel: int  # requests that wait at the same time
    bytes_per_s: float

    def seconds(self, size: float, requests: float) -> float:
        """Return how long it takes to deliver some bytes in some requests."""
        return size / self.bytes_per_s + requests * self.latency_s / self.parallel

    def describe(self) -> str:
        """Return it in figures."""
        rate = f"{self.bytes_per_s / 1e6:,.0f} MB/s"
        if not self.latency_s:
            return f"{self.title} at {rate}"
        many = "one request" if self.parallel == 1 else f"{self.parallel} requests"
        return f"{self.title}: {self.latency_s * 1e3:g} ms per request, {many} at a time, {rate}"


STORAGES = {
    "500 MB/s": Storage("a disk without seeks", 0.0, 1, 500e6),
    "seeks": Storage("a disk with seeks", 0.008, 1, 200e6),
    "network": Storage("a network", 0.02, 8, 1250e6),
}


@dataclass(frozen=True, slots=True)
class Access:
    """What a loader asks of the storage for one sample."""

    size: float  # bytes
    alone: bool  # whether it is a request of its own, or read with its neighbours

    @property
    def requests(self) -> float:
        """Requests per sample."""
        return 1.0 if self.alone else self.size / CONTIGUOUS_BYTES


class Throttled:
    """A loader behind a storage."""

    def __init__(self, loader: Iterable[Any], storage: Storage, access: Access) -> None:
        self._loader, self._storage, self._access = loader, storage, access

    def __iter__(self) -> Iterator[Any]:
        access = self._access
        fetched = time.perf_counter()  # when the storage is done with all so far
        taken: deque[float] = deque(maxlen=AHEAD)  # when the loop got the latest batches
        for batch in self._loader:
            images = count_images(batch)
            if len(taken) == AHEAD:
                fetched = max(fetched, taken[0])
            fetched += self._storage.seconds(images * access.size, images * access.requests)
            left = fetched - time.perf_counter()
            if left > 0:
                time.sleep(left)
            taken.append(time.perf_counter())
            yield batch
