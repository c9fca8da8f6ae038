"""Folders, labels files and lists of files as samples to pack."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from penstock.errors import SourceError
from penstock.packing.items import Column, PackItem
from penstock.sources import PathSource, Source, has_paths

_PATHS_AT_ONCE = 1024


class FileItems:
    """The files of a `Source`, each with its label if it has labels."""

    box_classes: tuple[str, ...] | None = None

    def __init__(self, source: Source) -> None:
        if not has_paths(source):
            raise SourceError(
                f"{source.describe()}: its samples are not files of their own, which pack needs. "
                "Give the folder or the list of files they come from."
            )
        self.source: PathSource = source
        self._root: str | None = getattr(source, "root", None)
        self._labels = source.labels
        self.columns: tuple[Column, ...] = ()
        if self._labels is not None:
            dtype, shape = self._labels.dtype.name, self._labels.shape[1:]
            self.columns = (Column("label", "fixed", dtype, shape),)

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the labels, if the source has them."""
        return self.source.classes

    @property
    def length(self) -> int | None:
        """Number of files."""
        return len(self.source)

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the files from position `start` on."""
        for first in range(start, len(self.source), _PATHS_AT_ONCE):
            indices = np.arange(first, min(first + _PATHS_AT_ONCE, len(self.source)))
            paths = self.source.paths(indices)
            for index, path in zip(indices.tolist(), paths, strict=True):
                values = {} if self._labels is None else {"label": self._labels[index]}
                yield PackItem(name_below(self._root, path), Path(path), values)

    def describe(self) -> str:
        """Return the source's own description."""
        return self.source.describe()


def name_below(root: str | None, path: str) -> str:
    """Return a path relative to a folder if it lies below it, else without what leads elsewhere."""
    if root is not None and path.startswith(os.path.join(root, "")):
        path = path[len(os.path.join(root, "")) :]
    parts = os.path.splitdrive(path)[1].replace(os.sep, "/").split("/")
    return "/".join(part for part in parts if part not in {"", ".", ".."})
