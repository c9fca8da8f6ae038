"""A packed data set in a store as a source: which of its bytes are read, and why."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.data.packed import PackedSource
from penstock.errors import LoaderError, PackError
from penstock.geometry import Ints
from penstock.packing.read import PackFile
from penstock.packing.remote import (
    OPENED_AT_ONCE,
    USUAL_MEMORY,
    Access,
    Check,
    RemotePackFile,
    Rows,
    open_remote,
)
from penstock.printable import printable
from penstock.storage.cache import BlockCache
from penstock.storage.counts import Counter, IoCounts
from penstock.storage.lent import Lent
from penstock.storage.options import StorageOptions, read_size
from penstock.storage.remote_object import AT_FULL_RATE

if TYPE_CHECKING:
    from typing_extensions import Self

_USUAL_CACHE = "50 GB"
_WINDOWS = 2  # that are in memory: one is used while the next one is read

# When to read rows alone: estimates of the share of a record that a random crop leaves out, and of
# the CPU time that leaving it out takes for an image.
_LEFT_OUT = 0.25
_ROWS_COST_S = 100e-6
_TELLING_BYTES = 1 << 20  # smaller requests tell too little of the bandwidth to decide by it
_USUAL_RATE = 100e6  # bytes a second of one request, before any was measured


class Reading(Enum):
    """What one request is for."""

    RECORDS = "records"  # each by itself, or with those beside it
    BLOCKS = "blocks"  # all records of a block
    ROWS = "rows"  # the rows of an image that its crop needs


@dataclass(frozen=True, slots=True)
class Order:
    """What a loader knows of the order of its samples."""

    local: bool  # whether samples that lie together come together
    window_blocks: int = 0  # how many blocks are used at the same time
    knows_crops: bool = False  # whether it says which rows it needs before they are read


@dataclass(frozen=True, slots=True)
class CacheAsked:
    """What the user said of a cache."""

    folder: str | None
    limit: int

    @classmethod
    def read(cls, cache: Any, cache_limit: Any) -> CacheAsked:
        """Read the arguments of `Loader`."""
        if cache is None:
            if cache_limit is not None:
                raise LoaderError(
                    f"Loader: cache_limit={cache_limit!r} without cache=. Name its folder, too."
                )
            return cls(None, 0)
        if not isinstance(cache, str) and not hasattr(cache, "__fspath__"):
            raise LoaderError(f"Loader: cache must be a folder, got {cache!r}.")
        limit = _USUAL_CACHE if cache_limit is None else cache_limit
        return cls(str(cache), read_size("Loader: cache_limit", limit))


class RemotePackedSource(PackedSource):
    """The samples of a packed file in a store, or of a folder of shards there."""

    def __init__(self, text: str, asked: CacheAsked, options: StorageOptions) -> None:
        counter = Counter()
        cache = None if asked.folder is None else BlockCache(asked.folder, asked.limit, counter)
        self._access = Access(options, cache, counter)
        self._text, self._asked = text, asked
        super().__init__(open_remote(text, self._access))
        self.reading, self._keeps = Reading.RECORDS, False
        self._reasons: tuple[str, ...] = ()

    @property
    def remote_files(self) -> tuple[RemotePackFile, ...]:
        """The files, as what they are."""
        return tuple(file for file in self.packed.files if isinstance(file, RemotePackFile))

    @property
    def io(self) -> IoCounts:
        """What was asked of the store so far."""
        return self._access.counter.read()

    @property
    def counter(self) -> Counter:
        """What counts it."""
        return self._access.counter

    def choose(self, order: Order) -> None:
        """Decide what requests are for, in the order that samples will be asked for."""
        files, cache = self.remote_files, self._access.cache
        has_blocks = all(file.has_blocks for file in files)
        total = self.packed.file_bytes
        self._keeps = False
        if not has_blocks:
            self.reading = Reading.RECORDS
            why = "the file is of version 1, which has no blocks; pack it again to have them"
        elif order.local:
            self.reading, self._keeps = Reading.BLOCKS, True
            why = "samples that lie together come together, so each block is read once in an epoch"
            needed = _WINDOWS * order.window_blocks * self._block_bytes()
            self._access.blocks.limit = max(USUAL_MEMORY, needed)
        elif cache is not None and total <= cache.limit:
            self.reading = Reading.BLOCKS
            why = f"the cache has room for all {_gb(total)}, so each block is read once at all"
        else:
            saves = cache is None and order.knows_crops and self._rows_save()
            self.reading = Reading.ROWS if saves else Reading.RECORDS
            lacking = "there is no cache" if cache is None else f"{_gb(cache.limit)} of cache"
            why = (
                f"samples come from everywhere and {lacking}, so that a block would be read for "
                f"one of its {self._samples_in_block():.0f} samples; cache= with cache_limit of at "
                f"least {_gb(total)}, or sampling=WindowShuffle(), would read each block once"
            )
        self._reasons = (f"reads {self.reading.value}: {why}.",)
        if self.reading is not Reading.BLOCKS and cache is None and order.knows_crops:
            self._reasons += (self._about_rows(),)
        if self.reading is Reading.ROWS:
            with ThreadPoolExecutor(OPENED_AT_ONCE, "penstock-open") as pool:
                list(pool.map(RemotePackFile.prepare_rows, files))

    def _record_bytes(self) -> int:
        """The mean size of a record, with what is between records."""
        return sum(file.tail.records_end for file in self.packed.files) // max(len(self), 1)

    def speed(self, least_bytes: int = 0) -> tuple[float | None, float | None]:
        """Return the store's latency in seconds, and bytes a second of one request, as measured.

        For the latter, only requests of at least so many bytes count.
        """
        speeds = [file.remote.speed for file in self.remote_files]
        latencies = [known for speed in speeds if (known := speed.latency_s()) is not None]
        rates = [known for speed in speeds if (known := speed.bytes_per_s(least_bytes)) is not None]
        return median(latencies) if latencies else None, median(rates) if rates else None

    def _saved_by_rows_s(self) -> float:
        """Return how long it takes to read what crops leave out of a record."""
        rate = self.speed(_TELLING_BYTES)[1] or _USUAL_RATE
        return _LEFT_OUT * self._record_bytes() / (rate * AT_FULL_RATE)

    def _rows_save(self) -> bool:
        """Whether what crops leave out takes longer to read than it takes to leave it out."""
        has_parts = all(file.has_blocks for file in self.remote_files)
        return has_parts and self._saved_by_rows_s() > _ROWS_COST_S

    def _about_rows(self) -> str:
        """Say why records are read as a whole, or in rows."""
        latency, rate = self.speed(_TELLING_BYTES)
        known = "measured" if rate is not None else "assumed, for too little was read to tell"
        whole = "whole records" if self.reading is Reading.RECORDS else "only rows that crops need"
        answer = "" if latency is None else f"; an answer took {latency * 1000:.3g} ms"
        return (
            f"{whole}: leaving out {_LEFT_OUT:.0%} of a record of {_gb(self._record_bytes())} "
            f"would save {self._saved_by_rows_s() * 1e6:.3g} µs at {AT_FULL_RATE} requests of "
            f"{(rate or _USUAL_RATE) / 1e6:.3g} MB/s each ({known}{answer}), and takes about "
            f"{_ROWS_COST_S * 1e6:.0f} µs of computing."
        )

    def forget(self) -> None:
        """Let go of what is kept in memory, so that it is read again; a cache on disk stays."""
        self._access.records.forget()
        self._access.blocks.forget()

    def elsewhere(self, asked: CacheAsked, options: StorageOptions | None = None) -> Self:
        """Open the same objects once more, with another cache or other options."""
        return type(self)(self._text, asked, options or self._access.options)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why requests are for what they are for."""
        return self._reasons

    @property
    def options(self) -> StorageOptions:
        """How the store is asked."""
        return self._access.options

    @property
    def cache_asked(self) -> CacheAsked:
        """What was said of a cache."""
        return self._asked

    def describe_reading(self) -> tuple[str, ...]:
        """Return what requests are for and why, and how fast the store was so far."""
        latency, rate = self.speed()
        told = []
        if latency is not None:
            told.append(f"an answer takes {latency * 1000:.3g} ms")
        if rate is not None:
            told.append(f"one request brings {rate / 1e6:.3g} MB/s")
        measured = (f"measured at {printable(self._text)}: {', '.join(told)}.",) if told else ()
        return self._reasons + measured

    def _address_of(self, file: PackFile) -> int:
        """Nothing is mapped: the addresses of `records` are places in the files."""
        del file
        return 0

    def prepare(self, indices: Ints) -> None:
        """Read samples together that somebody will ask for one by one."""
        for number, _, places in self.packed.by_file(np.unique(indices)):
            self.remote_files[number].load_records(places)

    def load(self, indices: Ints, check: Check) -> Lent:
        """Return the records of these samples."""
        found = Lent(np.zeros(len(indices), np.int64))
        for number, here, places in self.packed.by_file(indices):
            file = self.remote_files[number]
            if self.reading is Reading.BLOCKS:
                found.put(here, file.load_from_blocks(places, check, keeps=self._keeps))
            else:
                found.put(here, Lent.of(file.load_records(places, check)))
        return found

    def load_rows(self, indices: Ints, rows: Rows, check: Check) -> None:
        """Read what rows of these samples' images depend on into the memory of their records."""
        every = np.arange(len(indices))
        for number, here, places in self.packed.by_file(indices):
            self.remote_files[number].load_rows(places, rows.pick(every[here]), check)

    def check_unchanged(self, indices: Ints) -> None:
        """Nothing to do: requests are for the objects that were opened."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the objects anew wherever this is unpickled or copied to."""
        ids = [file.file_id for file in self.packed.files]
        return _open_again, (self._text, self._asked, self._access.options, self.title, ids)

    def _block_bytes(self) -> int:
        file = self.remote_files[0]
        blocks = len(file.blocks["offset"]) if file.has_blocks else 0
        return file.tail.records_end // max(blocks, 1)

    def _samples_in_block(self) -> float:
        file = self.remote_files[0]
        return len(file) / max(len(file.blocks["offset"]), 1)


def _open_again(
    text: str, asked: CacheAsked, options: StorageOptions, title: str, ids: list[bytes]
) -> RemotePackedSource:
    source = RemotePackedSource(text, asked, options)
    if [file.file_id for file in source.packed.files] != ids:
        raise PackError(f"{printable(text)}: was replaced since it was opened. Open it again.")
    source.title = title
    return source


def _gb(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 10**8 else f"{size / 1e6:.3g} MB"
