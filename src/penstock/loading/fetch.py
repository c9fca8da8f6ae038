"""Gets samples into the core: files are read whole, records only as far as their rows are used."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from penstock._core import Engine, EnginePart, Storage
from penstock.data.packed import PackedSource, Records
from penstock.data.remote import Reading, RemotePackedSource
from penstock.geometry import Ints
from penstock.loading.batch import PART_SIZE, Part, part_size_for
from penstock.packing.records import jpeg_size
from penstock.packing.remote import Rows
from penstock.planner.lower import Regions
from penstock.resources import raise_if_refused
from penstock.sources import PathSource, Source, has_paths, lends
from penstock.storage.lent import Lent

Positions = npt.NDArray[np.int32]
SourceT = TypeVar("SourceT")

_SLACK = bytes(64)  # the decoder may read a little past the end


class Fetch(ABC, Generic[SourceT]):
    """How a source's samples get into the core, part by part.

    With `reads_first`, `begin` reads everything, and sizes are known only then; without, sizes are
    known at once and reading is left to `read`.
    """

    reads_first = True

    def __init__(self, engine: Engine, source: SourceT) -> None:
        self._engine = engine
        self._source = source

    @abstractmethod
    def begin(self, part: Part) -> EnginePart:
        """Start what is needed to know the images' sizes."""

    def read(self, engine_part: EnginePart, positions: Positions, needed: Regions) -> None:
        """Start to read what these regions need, unless `begin` has read everything."""

    def end(self, engine_part: EnginePart) -> None:
        """Forget a part that has begun."""


class FileFetch(Fetch[PathSource]):
    """Image files: the size is inside the file, so the whole file is read first."""

    def begin(self, part: Part) -> EnginePart:
        """Start to read the files."""
        paths = [os.fsencode(path) for path in self._source.paths(part.samples)]
        return self._engine.fetch(part.rank, paths)


class RecordFetch(Fetch[PackedSource]):
    """Records of a packed file: the index has the sizes, and crops decide what is read."""

    reads_first = False

    def begin(self, part: Part) -> EnginePart:
        """Look the records up."""
        return self.open(part, self.look_up(part.samples))

    def look_up(self, samples: Ints) -> Records:
        """Find where samples lie."""
        return self._source.records(samples)

    def open(self, part: Part, found: Records) -> EnginePart:
        """Begin with records that were looked up."""
        return self._engine.open_mapped(
            part.rank,
            self._source.memory,
            found.addresses,
            found.sizes,
            found.storages,
            found.heights,
            found.widths,
        )

    def read(self, engine_part: EnginePart, positions: Positions, needed: Regions) -> None:
        """Start to read the rows that the regions cover."""
        height = needed.bottom - needed.top
        engine_part.read_mapped(positions, needed.top.astype(np.int32), height.astype(np.int32))


class RemoteFetch(Fetch[RemotePackedSource]):
    """Records of a packed file in a store: read while earlier batches are computed.

    What is read waits in memory for its batch's turn, so that no more is computed than is wanted.
    """

    reads_first = False

    def __init__(
        self, engine: Engine, source: RemotePackedSource, check: Callable[[], None]
    ) -> None:
        super().__init__(engine, source)
        self._check = check
        # Parts whose rows are not read yet: the part, memory for its records, heights of images.
        self._unread: dict[
            EnginePart, tuple[Part, list[npt.NDArray[np.uint8]], npt.NDArray[np.int32]]
        ] = {}
        self._used: dict[EnginePart, Lent] = {}

    def begin(self, part: Part) -> EnginePart:
        """Read the records, unless crops decide what is read of them."""
        found = self._source.records(part.samples)
        by_rows = self._source.reading is Reading.ROWS
        if by_rows:
            lent = Lent.of([np.zeros(n + len(_SLACK), np.uint8)[:n] for n in found.sizes.tolist()])
        else:
            lent = self._source.load(part.samples, self._check)
            part.batch.await_turn(self._check)
        engine_part = self._engine.open_mapped(
            part.rank,
            lent,
            lent.addresses,
            found.sizes,
            found.storages,
            found.heights,
            found.widths,
        )
        if by_rows:
            self._unread[engine_part] = part, lent.memory, found.heights
        else:
            self._used[engine_part] = lent
        return engine_part

    def read(self, engine_part: EnginePart, positions: Positions, needed: Regions) -> None:
        """Read the rows that the regions cover, unless they are in memory already."""
        height = needed.bottom - needed.top
        if engine_part in self._unread:
            part, memory, heights = self._unread[engine_part]
            top = np.clip(needed.top, 0, heights[positions] - 1)
            rows = Rows(
                top,
                np.clip(needed.bottom, top + 1, heights[positions]),
                needed.scale,
                [memory[position] for position in positions.tolist()],
            )
            self._source.load_rows(part.samples[positions], rows, self._check)
            part.batch.await_turn(self._check)
        engine_part.read_mapped(positions, needed.top.astype(np.int32), height.astype(np.int32))

    def end(self, engine_part: EnginePart) -> None:
        """Forget what was to be read, and raise if what was read has changed meanwhile."""
        self._unread.pop(engine_part, None)
        used = self._used.pop(engine_part, None)
        if used is not None:
            used.check()


class OpenedFetch(Fetch[Source]):
    """Images that a source opens or lends us, such as files in archives: read whole, in Python."""

    def begin(self, part: Part) -> EnginePart:
        """Read the images, and let the core look at their headers."""
        images = [self._read(sample) for sample in part.samples.tolist()]
        return open_images(self._engine, part.rank, images)

    def _read(self, sample: int) -> bytes | memoryview:
        try:
            if lends(self._source):
                return self._source.content(sample)
            with self._source.open(sample) as file:
                return file.read()
        except Exception as error:  # noqa: BLE001 (a source may be the user's own)
            # With no bytes, the sample goes to Pillow, which opens it again and says what is wrong.
            raise_if_refused(error, self._source.name(sample))
            return b""


def open_images(engine: Engine, rank: int, images: Sequence[bytes | memoryview]) -> EnginePart:
    """Let the core look at the headers of images that lie in memory, and take them as read."""
    files = [b"".join((image, _SLACK)) for image in images]
    sizes = [_size_of(file) for file in files]
    heights = np.array([height for height, _ in sizes], dtype=np.int32)
    padded = [np.frombuffer(file, np.uint8) for file in files]
    engine_part = engine.open_mapped(
        rank,
        padded,
        np.array([image.ctypes.data for image in padded], dtype=np.int64),
        np.array([max(1, len(image)) for image in images], dtype=np.int64),
        np.full(len(images), Storage.JPEG, dtype=np.int32),
        heights,
        np.array([width for _, width in sizes], dtype=np.int32),
    )
    positions = np.arange(len(images), dtype=np.int32)
    engine_part.read_mapped(positions, np.zeros(len(images), dtype=np.int32), heights)
    return engine_part


def _size_of(image: bytes) -> tuple[int, int]:
    """Return what a JPEG's header says; (1, 1) for anything else, which Pillow will decode."""
    height, width = jpeg_size(image)
    return (height, width) if height > 0 and width > 0 else (1, 1)


def part_size_of(source: Source) -> int:
    """Return how many samples of this source go through the core together, at most."""
    if isinstance(source, PackedSource) and not isinstance(source, RemotePackedSource):
        return part_size_for(source.packed.file_bytes / max(len(source), 1))
    return PART_SIZE


def is_local(source: Source) -> bool:
    """Whether the core itself reads this source, from files of this machine."""
    is_packed = isinstance(source, PackedSource) and not isinstance(source, RemotePackedSource)
    return is_packed or has_paths(source)


def fetch_for(engine: Engine, source: Source, check: Callable[[], None]) -> Fetch[Any]:
    """Return the way to fetch from this source; `check` raises once the loader is closed."""
    if isinstance(source, RemotePackedSource):
        return RemoteFetch(engine, source, check)
    if isinstance(source, PackedSource):
        return RecordFetch(engine, source)
    if has_paths(source):
        return FileFetch(engine, source)
    return OpenedFetch(engine, source)
