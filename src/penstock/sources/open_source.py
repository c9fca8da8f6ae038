"""Find out what the user's data is, and open it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from penstock.errors import SourceError
from penstock.printable import printable
from penstock.sources.file_list import open_file_list, open_labelled_files
from penstock.sources.image_folder import open_image_folder
from penstock.sources.labels_file import open_labels_file
from penstock.sources.source import Source

PACKED_SUFFIX = ".pen"

PathLike = str | bytes | os.PathLike[str]
Data = Source | PathLike | Iterable[PathLike]


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
            f"data: a folder, a list of paths or a Source is needed, got {type(data).__name__}."
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
