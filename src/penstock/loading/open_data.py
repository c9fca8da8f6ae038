"""What a user hands the loader: a packed data set, or anything `open_source` knows."""

from __future__ import annotations

import os
from typing import Any

from penstock.errors import LoaderError
from penstock.loading.packed_source import PackedSource
from penstock.packing.datasets.open_dataset import refuse_unpacked
from penstock.packing.format import SUFFIX
from penstock.packing.shards import MANIFEST, open_packed
from penstock.sources import Source, open_source


def open_data(data: Any, labels: Any) -> Source:
    """Open a data set by what it is."""
    if not _is_packed(data):
        if labels is None and isinstance(data, (str, os.PathLike)):
            refuse_unpacked(os.path.expanduser(os.fspath(data)))
        return open_source(data, labels)
    if labels is not None:
        raise LoaderError(
            f"Loader: {os.fspath(data)} holds its labels itself. Leave out labels=, or repack."
        )
    return PackedSource(open_packed(os.path.expanduser(data)))


def _is_packed(data: Any) -> bool:
    if not isinstance(data, (str, os.PathLike)):
        return False
    path = os.path.expanduser(os.fspath(data))
    return str(path).endswith(SUFFIX) or os.path.exists(os.path.join(path, MANIFEST))
