"""Whatever the user wants packed, as samples to pack."""

from __future__ import annotations

import os
from typing import Any

from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.datasets.segmentation import pairs_to_pack
from penstock.packing.file_items import FileItems
from penstock.packing.items import PackSource
from penstock.sources import open_mask_pairs, open_source


def open_pack_source(
    source: Any,
    *,
    labels: Any = None,
    kind: str | None = None,
    split: str | None = None,
    images: str | os.PathLike[str] | None = None,
    masks: Any = None,
) -> PackSource:
    """Open a data set for packing; the arguments are those of `pack`."""
    if masks is not None:
        if any(given is not None for given in (labels, kind, split, images)):
            raise SourceError("masks: labels, kind, split and images do not go with it.")
        return pairs_to_pack(open_mask_pairs(source, masks))
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
    return FileItems(open_source(source, labels))
