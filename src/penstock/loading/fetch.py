"""Gets samples into the core: files are read whole, records only as far as their rows are used."""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
import numpy.typing as npt

from penstock._core import Engine, EnginePart, StepColumn
from penstock.errors import LoaderError
from penstock.loading.packed_source import PackedSource
from penstock.loading.work import Part
from penstock.planner.lower import NO_RESIZE, Steps
from penstock.sources import PathSource, Source

Items = npt.NDArray[np.int32]


class Fetch(Protocol):
    """How a source's samples become chunks.

    With `reads_first`, all is read by `begin`, and sizes are known only then; without, sizes are
    known at once and reading is left to `read`.
    """

    reads_first: bool

    def begin(self, part: Part) -> EnginePart:
        """Start what is needed to know the images' sizes."""
        ...

    def read(self, chunk: EnginePart, items: Items, steps: Steps) -> None:
        """Start to read what the items' first steps need."""
        ...


class FileFetch:
    """Image files: the size stands in the file, so the whole file is read first."""

    reads_first = True

    def __init__(self, engine: Engine, source: PathSource) -> None:
        self._engine = engine
        self._source = source

    def begin(self, part: Part) -> EnginePart:
        """Start to read the files."""
        paths = [os.fsencode(path) for path in self._source.paths(part.files)]
        return self._engine.fetch(part.rank, paths)

    def read(self, chunk: EnginePart, items: Items, steps: Steps) -> None:
        """Do nothing: all is there."""


class RecordFetch:
    """Records of a packed file: sizes stand in the index, what is read follows from the crops."""

    reads_first = False

    def __init__(self, engine: Engine, source: PackedSource) -> None:
        self._engine = engine
        self._source = source

    def begin(self, part: Part) -> EnginePart:
        """Look the records up."""
        found = self._source.records(part.files)
        return self._engine.open_mapped(
            part.rank,
            self._source.memory,
            found.addresses,
            found.sizes,
            found.storages,
            found.heights,
            found.widths,
        )

    def read(self, chunk: EnginePart, items: Items, steps: Steps) -> None:
        """Start to read the rows that the crops cover."""
        first = steps.table[:, 0]
        padded = first[:, : StepColumn.PAD_MODE].any(axis=1)
        plain = first[:, StepColumn.FILTER] == NO_RESIZE
        top = first[:, StepColumn.CROP_TOP] + np.where(plain, first[:, StepColumn.WINDOW_TOP], 0)
        height = np.where(
            plain, first[:, StepColumn.WINDOW_HEIGHT], first[:, StepColumn.CROP_HEIGHT]
        )
        chunk.read_mapped(
            items,
            np.where(padded, 0, top).astype(np.int32),
            np.where(padded, chunk.height[items], height).astype(np.int32),
        )


def fetch_for(engine: Engine, source: Source) -> Fetch:
    """Return the way to fetch from this source."""
    if isinstance(source, PackedSource):
        return RecordFetch(engine, source)
    if isinstance(source, PathSource):
        return FileFetch(engine, source)
    raise LoaderError(
        f"Loader: {type(source).__name__} has no `paths`, so the core cannot read its samples. "
        "Add that method, or use backend='pillow', which needs only `open`."
    )
