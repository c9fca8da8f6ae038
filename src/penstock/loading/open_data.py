"""What a user hands the loader: a packed data set, or anything `open_source` knows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

from penstock.errors import LoaderError
from penstock.loading.packed_source import PackedSource
from penstock.packing.datasets.open_dataset import refuse_unpacked
from penstock.packing.format import SUFFIX
from penstock.packing.shards import MANIFEST, open_packed
from penstock.sources import Source, open_mask_pairs, open_source


def open_data(data: Any, labels: Any, masks: Any = None) -> Source:
    """Open a data set by what it is; `masks` is a bool, or where the masks of its images are."""
    if masks is not None and not isinstance(masks, bool):
        if not isinstance(masks, (str, os.PathLike, Iterable)):
            raise LoaderError(
                f"Loader: masks must be True, False, a folder or a list of files, got {masks!r}."
            )
        if labels is not None:
            raise LoaderError(
                "Loader: labels= and masks= both say what goes with the images. Leave one out."
            )
        if _is_packed(data) or isinstance(data, Source):
            raise LoaderError(
                f"Loader: masks={masks!r} goes with a folder or a list of images. Leave it out, or "
                "give masks=True for the masks that the data set has."
            )
        return open_mask_pairs(data, masks)
    if not _is_packed(data):
        if labels is None and isinstance(data, (str, os.PathLike)):
            refuse_unpacked(os.path.expanduser(os.fspath(data)))
        source = open_source(data, labels)
        if getattr(source, "left_out", ()):
            warnings.warn(
                f"{source.describe()}. Remove them to be rid of this warning.", stacklevel=3
            )
        return source
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
