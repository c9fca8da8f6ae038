"""A list of image files, from wherever the user's own code found them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.errors import SourceError
from penstock.printable import printable
from penstock.sources.file_source import FileSource
from penstock.sources.image_folder import existing_folder
from penstock.sources.label_column import labels_from_values, refuse_unordered
from penstock.sources.path_table import PathTable

TITLE = "list of files"


def open_file_list(
    paths: Iterable[str | bytes | os.PathLike[str]],
    labels: Iterable[object] | Mapping[Any, object] | None = None,
) -> FileSource:
    """Open the images at `paths`, in that order.

    Args:
        paths: Any iterable; read once. Relative paths count from the working directory of now.
            bytes, and strings with surrogate escapes, name files that are not valid UTF-8.
        labels: One per file: integers, floats (regression), vectors of equal length (multi-hot)
            or class names (label i is the i-th name in sorted order). Or a dictionary from path
            to label, in which every file is looked up. None: the samples have no labels.

    Files are not looked at until a batch needs them.
    """
    refuse_unordered(paths, f"{TITLE}: the files")
    files = PathTable.from_paths(_checked(paths))
    if not len(files):
        raise SourceError(f"{TITLE}: it is empty. Give at least one path.")
    here = str(Path.cwd())
    if labels is None:
        return FileSource(TITLE, here, files, None, None)
    if isinstance(labels, Mapping):
        labels = _looked_up(files, labels, here)
    values, classes = labels_from_values(labels, len(files), TITLE)
    return FileSource(TITLE, here, files, values, classes)


def open_labelled_files(
    folder: str | bytes | os.PathLike[str], label_of: Mapping[Any, object]
) -> FileSource:
    """Open the files that a dictionary names, in its order, each with its label.

    Args:
        folder: Where the files are; keys are relative to it, or absolute.
        label_of: From path to label, of the kinds that `open_file_list` takes.
    """
    root, title = existing_folder(folder), f"{printable(folder)} with a dictionary of labels"
    if not label_of:
        raise SourceError(f"{title}: it is empty. Give at least one file with its label.")
    for key, path in _absolute_keys(label_of, root, title).items():
        if not os.path.isfile(key):
            raise SourceError(f"{title}: no file {printable(path)} in {printable(root)}.")
    files = PathTable.from_paths(os.fsencode(path) for path in label_of)
    values, classes = labels_from_values(label_of.values(), len(files), title)
    return FileSource(title, root, files, values, classes)


def _looked_up(files: PathTable, label_of: Mapping[Any, object], root: str) -> list[object]:
    """The label of each file, by its path and by nothing else."""
    keys = _absolute_keys(label_of, root, f"{TITLE}: labels")
    found, missing = [], []
    for index in range(len(files)):
        path = files[index]
        key = keys.get(_absolute(path, root))
        if key is None:
            missing.append(path)
        else:
            found.append(label_of[key])
    if missing:
        example = next(iter(label_of), None)
        raise SourceError(
            f"{TITLE}: {len(missing):,} of {len(files):,} files are not among the keys of the "
            f"dictionary of labels; the first is {printable(missing[0])}, a key is {example!r}. "
            "Keys are paths, as in the list; or give one label per file as a list."
        )
    return found


def _absolute_keys(label_of: Mapping[Any, object], root: str, where: str) -> dict[str, Any]:
    """From absolute path to key; two keys for one file are refused."""
    keys: dict[str, Any] = {}
    for key in label_of:
        if not isinstance(key, (str, bytes, os.PathLike)):
            raise SourceError(
                f"{where}: the keys of a dictionary of labels must be paths, got "
                f"{type(key).__name__} {key!r}. Or give one label per file as a list."
            )
        path = _absolute(key, root)
        if path in keys:
            raise SourceError(
                f"{where}: {keys[path]!r} and {key!r} are the same file. Remove one of the two."
            )
        keys[path] = key
    return keys


def _absolute(path: str | bytes | os.PathLike[str], root: str) -> str:
    return os.path.normpath(os.path.join(root, os.path.expanduser(os.fsdecode(path))))


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
