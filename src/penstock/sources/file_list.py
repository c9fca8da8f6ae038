"""A list of image files, from wherever the user's own code found them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from penstock.errors import SourceError
from penstock.sources.file_source import FileSource, printable
from penstock.sources.label_column import labels_from_values
from penstock.sources.path_table import PathTable

TITLE = "list of files"


def open_file_list(
    paths: Iterable[str | bytes | os.PathLike[str]], labels: Iterable[object] | None = None
) -> FileSource:
    """Open the images at `paths`, in that order.

    Args:
        paths: Any iterable; read once. Relative paths count from the working directory of now.
            bytes, and strings with surrogate escapes, name files that are not valid UTF-8.
        labels: One a file: integers, floats (regression) or class names (label i is the i-th name
            in sorted order). None gives every sample the label 0, and no class names.

    Files are not looked at until a batch needs them.
    """
    files = PathTable.from_paths(_checked(paths))
    if not len(files):
        raise SourceError(f"{TITLE}: it is empty. Give at least one path.")
    here = str(Path.cwd())
    if labels is None:
        return FileSource(TITLE, here, files, np.zeros(len(files), np.int64), None)
    values, classes = labels_from_values(labels, len(files), TITLE)
    return FileSource(TITLE, here, files, values, classes)


def _checked(paths: Iterable[str | bytes | os.PathLike[str]]) -> Iterator[bytes]:
    for index, path in enumerate(paths):
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise SourceError(
                f"{TITLE}, item {index:,}: a path is needed, got {type(path).__name__}. "
                "Give str, bytes or pathlib.Path."
            )
        try:
            encoded = os.fsencode(path)
        except UnicodeEncodeError as error:
            raise SourceError(
                f"{TITLE}, item {index:,}: {path!r} cannot name a file ({error.reason})."
            ) from error
        if not encoded or b"\0" in encoded:
            raise SourceError(
                f"{TITLE}, item {index:,}: {printable(encoded)!r} cannot name a file: "
                f"it {'contains a zero byte' if encoded else 'is empty'}."
            )
        yield encoded
