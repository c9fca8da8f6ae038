"""Whatever the user wants packed, as samples to pack."""

from __future__ import annotations

import os
from typing import Any

from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.file_items import FileItems
from penstock.packing.items import PackSource
from penstock.sources import Source, open_source


def open_pack_source(
    source: Any,
    *,
    labels: Any = None,
    kind: str | None = None,
    split: str | None = None,
    images: str | os.PathLike[str] | None = None,
) -> PackSource:
    """Open a data set for packing; the arguments are those of `pack`."""
    is_path = isinstance(source, (str, os.PathLike))
    if is_path and labels is None:
        return open_dataset(source, kind, split=split, images=images)
    if kind is not None or split is not None or images is not None:
        raise SourceError(
            "kind, split and images: they go with a file or folder without labels, got "
            f"{type(source).__name__}{'' if labels is None else ' and labels'}. Leave them out."
        )
    if isinstance(source, PackSource):
        if labels is not None:
            raise SourceError(f"labels: {source.describe()} has its own. Leave labels out.")
        return source
    # A list of files alone has no labels; a Source has its own.
    return FileItems(
        open_source(source, labels), labelled=labels is not None or isinstance(source, Source)
    )
