"""Opens what the user's own code found: folders with labels, and lists of image files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.errors import SourceError
from penstock.printable import printable
from penstock.sources.image_folder import existing_folder, open_image_folder
from penstock.sources.label_column import labels_from_values, refuse_unordered
from penstock.sources.labels_file import open_labels_file
from penstock.sources.source import FileSource, PathTable, Source

PACKED_SUFFIX = ".pen"

PathLike = str | bytes | os.PathLike[str]
Data = Source | PathLike | Iterable[PathLike]
TITLE = "list of files"


def open_source(data: Data, labels: PathLike | Iterable[object] | None = None) -> Source:
    """Open a data set, whatever it is.

    Args:
        data: A folder of class folders; a folder of images, with a labels file in `labels`;
            a list or iterator of paths; or a Source, which is returned as it is.
        labels: For a folder, the path of a CSV or TSV file of files and labels, or a dictionary
            from path to label. For a list of paths, one label per path, or such a dictionary;
            None means that there are none.

    Raises SourceError if the data is missing, empty, unreadable or of another kind.
    """
    if isinstance(data, Source):
        if labels is not None:
            raise SourceError(f"labels: {data.describe()} has its own. Leave labels out.")
        return data
    if isinstance(data, (str, bytes, os.PathLike)):
        return _open_path(data, labels)
    if not isinstance(data, Iterable) or isinstance(data, Mapping):
        raise SourceError(
            f"data: a path, a list of paths or a Source is needed, got {type(data).__name__}. Give "
            "the path of a folder, a packed file or an archive, for example."
        )
    if isinstance(labels, (str, bytes, os.PathLike)):
        raise SourceError(
            f"labels: a labels file ({printable(labels)}) goes with a folder, but the data is a "
            "list of files. Give a list of labels, or the folder."
        )
    return open_file_list(data, labels)


def _open_path(path: PathLike, labels: PathLike | Iterable[object] | None) -> Source:
    if os.fsdecode(path).endswith(PACKED_SUFFIX):
        raise SourceError(
            f"{printable(path)}: a packed file, where files of images are needed. "
            "Give the folder it was made from; Loader takes the packed file itself."
        )
    if labels is None:
        return open_image_folder(path)
    if isinstance(labels, (str, bytes, os.PathLike)):
        return open_labels_file(path, labels)
    if isinstance(labels, Mapping):
        return open_labelled_files(path, labels)
    raise SourceError(
        f"labels: the data is the folder {printable(path)}, so labels must be the path of a labels "
        f"file or a dictionary from path to label, got {type(labels).__name__}. For a list of "
        "labels give the list of files too."
    )


def open_file_list(
    paths: Iterable[str | bytes | os.PathLike[str]],
    labels: Iterable[object] | Mapping[Any, object] | None = None,
) -> FileSource:
    """Open the images at `paths`, in that order.

    Args:
        paths: Any iterable; read once. Relative paths are resolved now, from the working directory.
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
    """The label of each file, looked up by its path."""
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
