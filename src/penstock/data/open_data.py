"""One way to open data, for Loader, pack, analyze and show alike."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from penstock.data.column_source import ColumnSource
from penstock.data.packed import PackedSource
from penstock.data.remote import CacheAsked, RemotePackedSource
from penstock.errors import LoaderError, SourceError
from penstock.limits import Limits, limits_in_force, obeying_limits
from penstock.packing.format import SUFFIX
from penstock.packing.shards import MANIFEST, open_packed
from penstock.sources import Source, open_mask_pairs, open_source
from penstock.storage.address import is_address
from penstock.storage.options import StorageOptions

_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")


@obeying_limits
def open_data(
    data: Any,
    *,
    labels: Any = None,
    kind: str | None = None,
    split: str | None = None,
    images: str | os.PathLike[str] | None = None,
    masks: Any = None,
    cache: str | os.PathLike[str] | None = None,
    cache_limit: int | str | None = None,
    storage: StorageOptions | None = None,
    limits: Limits | None = None,  # noqa: ARG001 (obeying_limits reads it)
) -> Source:
    """Open a data set for `Loader`, or for `pack`: packed, or in any layout that `pack` reads.

    `Loader(path)` and `pack(path)` do this themselves; call it to say more about the data.

    Args:
        data: A packed file (`.pen`) or a folder of its shards, also in a store
            ("s3://bucket/train.pen", docs/object-stores.md); a file or folder in any layout that
            is recognised (a folder of class folders, COCO, VOC, YOLO, tar, Parquet ...); several
            tar archives, in a list or as "train-{000..009}.tar"; a folder of images with `labels`;
            a list of files; a `datasets.Dataset` of Hugging Face's
            (see `from_hf`); or a `Source`, which is returned as it is.
        labels: A CSV or TSV file, one label per file, or a dictionary from path to label.
        kind: The layout, where it is not recognised: "coco", "voc", "folder" ...
        split: Which part of a data set that has several: "train", "val" ...
        images: For COCO, the folder of the images, if it is not near the json file.
        masks: For a folder or list of images, that of their masks, matched by name.
        cache: For data in a store, a folder of this machine to keep what was read.
        cache_limit: The most bytes that it may take: a number, or a text as "50 GB", the default.
        storage: How the store is asked, if not as usual (`penstock.StorageOptions`).
        limits: The largest inputs that are read, against files that ask for endless memory.

    Raises SourceError where several layouts or splits are there to choose from, and names them.
    """
    said = {"kind": kind, "split": split, "images": images}
    if is_address(data) and not str(data).endswith(_ARCHIVES):  # which are refused below
        _refuse_said(f"{data}: a packed data set", {"labels": labels, "masks": masks, **said})
        asked = CacheAsked.read(cache, cache_limit)
        return RemotePackedSource(data, asked, storage or StorageOptions())
    _refuse_far(data, {"cache": cache, "cache_limit": cache_limit, "storage": storage})
    _refuse_packed_list(data)
    if masks is not None:
        return _open_pairs(data, masks, labels, said)
    if is_packed(data):
        _refuse_said(f"{os.fspath(data)}: a packed data set", {"labels": labels, **said})
        return PackedSource(open_packed(os.path.expanduser(data)))
    if isinstance(data, ColumnSource):  # before `Source`, whose check would ask for the labels
        _refuse_said(data.describe(), {"labels": labels, **said})
        return data
    return _open_layout(data, labels, said)


def _open_layout(data: Any, labels: Any, said: dict[str, Any]) -> Source:
    """Open what is not packed."""
    # Late, since the readers of all layouts take a third of the time that a first loader takes.
    from penstock.data.hugging_face import from_hf
    from penstock.data.unpacked import open_unpacked
    from penstock.packing.datasets import LayoutSource
    from penstock.packing.datasets.hugging_face import is_hugging_face
    from penstock.packing.datasets.open_dataset import how_to_pack, open_pack_source
    from penstock.packing.datasets.shard_list import tar_list
    from penstock.packing.items import FileItems

    if is_hugging_face(data):
        _refuse_said("a Hugging Face data set", {"labels": labels, **said})
        return from_hf(data)
    if isinstance(data, bytes):
        data = os.fsdecode(data)
    names_tars = labels is None and tar_list(data) is not None
    if not (isinstance(data, (str, os.PathLike)) or names_tars) or labels is not None:
        _refuse_said("kind, split and images", said)
        return _warned(open_source(data, labels))
    opened = open_pack_source(data, **said)
    if isinstance(opened, FileItems):
        return _warned(opened.source)
    assert isinstance(opened, LayoutSource)  # noqa: S101  all other layouts
    path = "archives" if names_tars else os.path.expanduser(os.fspath(data))
    source = open_unpacked(opened, how_to_pack(path, said))
    source.opened_by = partial(
        open_data,
        data if names_tars else path,
        **said,
        limits=limits_in_force(),
    )
    return source


@dataclass(frozen=True, slots=True)
class Far:
    """What a `Loader` is told of data in a store."""

    cache: str | os.PathLike[str] | None = None
    cache_limit: int | str | None = None
    storage: StorageOptions | None = None


NEAR = Far()


def open_loader_data(data: Any, labels: Any, masks: Any, limits: Limits, far: Far = NEAR) -> Source:
    """Open what a `Loader` is given; `masks` may also be a bool, which says nothing of files."""
    if masks is None or isinstance(masks, bool):
        return open_data(
            data,
            labels=labels,
            limits=limits,
            cache=far.cache,
            cache_limit=far.cache_limit,
            storage=far.storage,
        )
    if not isinstance(masks, (str, os.PathLike, Iterable)):
        raise LoaderError(
            f"Loader: masks must be True, False, a folder or a list of files, got {masks!r}."
        )
    return open_data(data, labels=labels, masks=masks, limits=limits)


def is_packed(data: Any) -> bool:
    """Whether this is the path of a packed file, or of a folder of its shards."""
    if not isinstance(data, (str, os.PathLike)):
        return False
    path = os.path.expanduser(os.fspath(data))
    return str(path).endswith(SUFFIX) or os.path.exists(os.path.join(path, MANIFEST))


def _refuse_far(data: Any, said: dict[str, Any]) -> None:
    given = [f"{name}=" for name, value in said.items() if value is not None]
    if given:
        what = f"{data!r}" if isinstance(data, (str, os.PathLike)) else "this data"
        raise LoaderError(
            f"{' and '.join(given)}: for data in a store, as s3://bucket/train.pen; {what} is "
            "read where it lies. Leave out what is for stores."
        )


def _refuse_packed_list(data: Any) -> None:
    """Files in a list are images, and a packed file is none."""
    if not isinstance(data, (list, tuple)):
        return
    paths = (file for file in data if isinstance(file, (str, os.PathLike)))
    packed = next((path for path in paths if str(path).endswith(SUFFIX)), None)
    if packed is not None:
        raise SourceError(
            f"{packed}: a packed file, in a list of {len(data):,}; a list is one of image files. "
            "Give one packed file, or the folder of its shards, by itself."
        )


def _open_pairs(data: Any, masks: Any, labels: Any, said: dict[str, Any]) -> Source:
    from penstock.packing.datasets.hugging_face import is_hugging_face  # late, as above

    if isinstance(masks, bool) or not isinstance(masks, (str, os.PathLike, Iterable)):
        raise LoaderError(f"masks: a folder or a list of files is needed, got {masks!r}.")
    if labels is not None:
        raise LoaderError("labels= and masks= both say what goes with the images. Leave one out.")
    if is_packed(data) or is_hugging_face(data) or isinstance(data, (ColumnSource, Source)):
        raise LoaderError(
            f"masks={masks!r} goes with a folder or a list of images. Leave it out; "
            "Loader(..., masks=True) delivers the masks that a data set has."
        )
    _refuse_said("masks", said)
    return open_mask_pairs(data, masks)


def _refuse_said(what: str, said: dict[str, Any]) -> None:
    given = [name for name, value in said.items() if value is not None]
    if given:
        raise SourceError(
            f"{what}: {' and '.join(given)} cannot be said of it. Leave "
            f"{'it' if len(given) == 1 else 'them'} out."
        )


def _warned(source: Source) -> Source:
    if getattr(source, "left_out", ()):
        warnings.warn(f"{source.describe()}. Remove them to be rid of this warning.", stacklevel=4)
    return source
