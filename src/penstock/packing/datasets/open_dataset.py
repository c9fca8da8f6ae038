"""Open whatever the user wants packed, and find out how a data set is laid out.

A layout is one reader, and one line in `LAYOUTS`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any

from penstock.errors import SourceError
from penstock.packing.datasets.coco import COCO
from penstock.packing.datasets.files import TF_EXTENSIONS, has_folder, is_image_name, names_in
from penstock.packing.datasets.hdf5 import EXTENSIONS as HDF5_EXTENSIONS
from penstock.packing.datasets.hdf5 import HDF5
from penstock.packing.datasets.hugging_face import is_hugging_face, open_hugging_face
from penstock.packing.datasets.imagenet import IMAGENET, IMAGENET_TXT
from penstock.packing.datasets.kitti import KITTI
from penstock.packing.datasets.layout_source import Asked, Layout, explaining_parsers
from penstock.packing.datasets.lmdb import LMDB
from penstock.packing.datasets.parquet import PARQUET
from penstock.packing.datasets.recordio import RECORDIO
from penstock.packing.datasets.segmentation import SEGMENTATION, VOC_SEGMENTATION, pairs_to_pack
from penstock.packing.datasets.shard_list import tar_list
from penstock.packing.datasets.tfrecord import TFRECORD
from penstock.packing.datasets.voc import VOC
from penstock.packing.datasets.webdataset import WEBDATASET, open_tars
from penstock.packing.datasets.widerface import WIDERFACE
from penstock.packing.datasets.yolo import YOLO
from penstock.packing.items import FileItems, PackSource
from penstock.printable import printable
from penstock.regular_file import special_kind
from penstock.sources import open_mask_pairs, open_source
from penstock.sources.image_folder import (
    IMAGE_FOLDERS,
    MASK_FOLDERS,
    SPLIT_FOLDERS,
    open_image_folder,
    open_loose_images,
)

LAYOUTS: dict[str, Layout] = {
    layout.kind: layout
    for layout in (
        *(COCO, VOC, YOLO, SEGMENTATION, VOC_SEGMENTATION, WEBDATASET, IMAGENET, PARQUET),
        *(TFRECORD, RECORDIO, LMDB, HDF5, KITTI, WIDERFACE, IMAGENET_TXT),
    )
}
FOLDER = "folder"
KINDS = (*LAYOUTS, FOLDER)
PART_FOLDERS = frozenset(["images", "labels", "annotations", "masks"])  # are no classes

# Folders in layouts other than class folders, none of which has more of them than MOST_PARTS.
PARTS = PART_FOLDERS | SPLIT_FOLDERS | IMAGE_FOLDERS | MASK_FOLDERS | {"image_2", "label_2"}
MOST_PARTS = 100
SAY_WHICH = "Say which is meant: --kind, pack(..., kind=...) or Loader(open_data(..., kind=...))"
ARCHIVES = (".zip", ".7z", ".rar", ".gz", ".bz2", ".xz", ".zst")
FILE_EXTENSIONS = frozenset(
    [".tar", ".gz", ".tgz", ".bz2", ".xz", ".parquet", ".rec", ".mdb", ".lmdb", ".json", ".yaml"]
).union([".yml"], HDF5_EXTENSIONS, TF_EXTENSIONS)


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
    tars = None if labels is not None or kind not in {None, WEBDATASET.kind} else tar_list(source)
    if tars is not None:
        if split is not None or images is not None:
            raise SourceError(
                "split and images: a pattern or list of archives has none. Leave them out."
            )
        named = printable(source) if isinstance(source, (str, os.PathLike)) else "list of archives"
        with explaining_parsers(named):
            return open_tars(tars, named)[0]
    is_path = isinstance(source, (str, os.PathLike))
    if is_path and labels is None:
        return open_dataset(source, kind, split=split, images=images)
    if kind is not None or split is not None or images is not None:
        raise SourceError(
            "kind, split and images: they go with a file or folder without labels, got "
            f"{type(source).__name__}{'' if labels is None else ' and labels'}. Leave them out."
        )
    if is_hugging_face(source):
        source = open_hugging_face(source)[0]
    if isinstance(source, PackSource):
        if labels is not None:
            raise SourceError(f"labels: {source.describe()} has its own. Leave labels out.")
        return source
    return FileItems(open_source(source, labels))


def open_dataset(
    path: str | os.PathLike[str],
    kind: str | None = None,
    *,
    split: str | None = None,
    images: str | os.PathLike[str] | None = None,
) -> PackSource:
    """Open a data set for packing, whatever its layout; `describe()` says what was found.

    Args:
        path: A file or a folder.
        kind: One of `KINDS`; None recognises the layout, and refuses where there are several.
        split: Which part, where a data set has several: "train", "val", ...
        images: For COCO, the folder of the images, if it is not near the json file.

    Raises SourceError if nothing, or more than one layout, is recognised, or the data is damaged.
    """
    where = os.path.expanduser(os.fspath(path))
    special = special_kind(where)
    if special is not None:
        raise SourceError(f"{printable(path)}: {special}, not a file or folder. Check the path.")
    if not os.path.exists(where):
        raise SourceError(f"{printable(path)}: no such file or folder. Check the path.")
    folder = None if images is None else os.fspath(images)
    with explaining_parsers(printable(path)):
        return _open(where, printable(path), kind, Asked(split, folder))


def _open(where: str, title: str, kind: str | None, asked: Asked) -> PackSource:
    is_said = kind is not None
    if kind is None:
        kind = recognise(where)
    if kind not in KINDS:
        raise SourceError(f"kind: must be one of {', '.join(KINDS)}, got {kind!r}.")
    layout = LAYOUTS.get(kind)
    if asked.split is not None and not (layout and layout.splits):
        raise SourceError(
            f"{title}: split={asked.split!r} (--split), but {kind} data has no splits. "
            "Leave it out."
        )
    if asked.images is not None and not (layout and layout.images):
        raise SourceError(
            f"{title}: images= (--images) is for COCO, but this is {kind} data. Leave it out."
        )
    if layout is None:
        loose = open_loose_images(where)
        return FileItems(loose or open_image_folder(where, any_names=is_said))
    return layout.open(where, asked)


def _refuse_hidden(path: str) -> None:
    """Raise for a folder like .ipynb_checkpoints, which would shift the labels of all classes."""
    for name in filter(_is_hidden, names_in(path)):
        if has_folder(path, name) and any(map(is_image_name, names_in(os.path.join(path, name)))):
            raise SourceError(
                f"{printable(path)}: the hidden folder {printable(name)} has images in it and "
                "would be a class, as with torchvision. Remove it, or if that is meant, pack with "
                f'penstock.pack(..., kind="{FOLDER}") or --kind {FOLDER}.'
            )


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def how_to_pack(path: str, said: Mapping[str, str | os.PathLike[str] | None]) -> str:
    """Return the call and the command that pack a data set; `said` are further arguments."""
    title, target = printable(path), _packed_name(path)
    told = [(name, printable(value)) for name, value in said.items() if value is not None]
    arguments = "".join(f', {name}="{value}"' for name, value in told)
    options = "".join(f" --{name} {shlex.quote(value)}" for name, value in told)
    return (
        f'Pack it once: penstock.pack("{title}", "{target}"{arguments}), or on the command line: '
        f"penstock pack {shlex.quote(title)} {shlex.quote(target)}{options}. "
        f'Then: Loader("{target}").'
    )


def _packed_name(path: str) -> str:
    stem = path.rstrip(os.sep)
    while os.path.isfile(path) and os.path.splitext(stem)[1].lower() in FILE_EXTENSIONS:
        stem = os.path.splitext(stem)[0]
    return printable(stem) + ".pen"


def _evidence(path: str) -> dict[str, str]:
    found = ((kind, layout.recognise(path)) for kind, layout in LAYOUTS.items())
    return {kind: evidence for kind, evidence in found if evidence is not None}


def recognise(path: str) -> str:
    """Return the layout of what is at a path; SourceError if it is not known, or may be several."""
    found = {} if _has_only_classes(path) else _evidence(path)
    if len(found) == 1:
        return next(iter(found))
    if found:
        each = ", ".join(f"{kind} ({printable(seen)})" for kind, seen in found.items())
        raise SourceError(
            f"{printable(path)}: it may be {each}. {SAY_WHICH}, or give the file or folder itself."
        )
    if os.path.isdir(path):
        _refuse_hidden(path)
        _refuse_parts(path)
        return FOLDER
    title = printable(path)
    if is_image_name(path):
        raise SourceError(f"{title}: a single image. Give a list of files: [path, ...].")
    if path.lower().endswith(ARCHIVES):
        raise SourceError(f"{title}: an archive that is not read as it is. Unpack it first.")
    raise SourceError(
        f"{title}: not a folder, a packed file (.pen) or a data set that is known by its name. "
        f"{SAY_WHICH}: {', '.join(KINDS)}."
    )


def _has_only_classes(path: str) -> bool:
    """Whether a folder can be nothing but class folders, without a look into thousands of them."""
    if not os.path.isdir(path):
        return False
    with os.scandir(path) as entries:
        is_folder = {entry.name.lower(): entry.is_dir() for entry in entries}
    return len(is_folder) > MOST_PARTS and all(is_folder.values()) and not is_folder.keys() & PARTS


def _refuse_parts(path: str) -> None:
    """Raise if folders of a data set in another layout would pass as classes."""
    parts = [n for n in names_in(path) if n.lower() in PART_FOLDERS and has_folder(path, n)]
    if parts:
        raise SourceError(
            f"{printable(path)}: one folder per class was expected, but {', '.join(parts)} are "
            f"parts of a data set. Give one of them, or kind={FOLDER!r} (--kind {FOLDER}) if these "
            "are the classes."
        )
