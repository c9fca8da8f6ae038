"""Find out how a data set is laid out, and open it for packing."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.errors import SourceError
from penstock.packing.datasets import recognise
from penstock.packing.datasets.coco import open_coco
from penstock.packing.datasets.coco_images import choose_coco_file
from penstock.packing.datasets.files import is_image_name, names_in
from penstock.packing.datasets.hdf5 import open_hdf5
from penstock.packing.datasets.imagenet_tar import open_imagenet_tar
from penstock.packing.datasets.imagenet_txt import open_imagenet_txt
from penstock.packing.datasets.kitti import open_kitti
from penstock.packing.datasets.layout_source import explaining_parsers
from penstock.packing.datasets.lmdb_values import open_lmdb
from penstock.packing.datasets.parquet import open_parquet
from penstock.packing.datasets.record_files import TF_EXTENSIONS
from penstock.packing.datasets.recordio import open_recordio
from penstock.packing.datasets.segmentation import open_segmentation, open_voc_segmentation
from penstock.packing.datasets.tfrecord import open_tfrecord
from penstock.packing.datasets.voc import open_voc
from penstock.packing.datasets.webdataset import open_webdataset
from penstock.packing.datasets.widerface import open_widerface
from penstock.packing.datasets.yolo import open_yolo
from penstock.packing.file_items import FileItems
from penstock.packing.items import PackSource
from penstock.printable import printable
from penstock.regular_file import special_kind
from penstock.sources.image_folder import open_image_folder, open_loose_images

FOLDER = "folder"
PART_FOLDERS = frozenset(["images", "labels", "annotations", "masks"])  # are no classes
TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked for beside the path."""

    split: str | None
    images: str | None


@dataclass(frozen=True, slots=True)
class Layout:
    """How one kind of data set is recognised and opened."""

    evidence: recognise.Evidence
    open: Callable[[str, Asked], PackSource]
    splits: bool = False  # whether `split` means something
    images: bool = False  # whether `images` does


def _open_coco(path: str, asked: Asked) -> PackSource:
    file = choose_coco_file(path, asked.split) if os.path.isdir(path) else path
    return open_coco(file, asked.images)


def _open_yolo(path: str, asked: Asked) -> PackSource:
    if os.path.isdir(path):
        return open_yolo(path, asked.split)
    return open_yolo(os.path.dirname(path) or ".", asked.split, path)


LAYOUTS = {
    "coco": Layout(recognise.coco, _open_coco, splits=True, images=True),
    "voc": Layout(recognise.voc, lambda path, asked: open_voc(path, asked.split), splits=True),
    "yolo": Layout(recognise.yolo, _open_yolo, splits=True),
    "segmentation": Layout(
        recognise.segmentation,
        lambda path, asked: open_segmentation(path, asked.split),
        splits=True,
    ),
    "voc_segmentation": Layout(
        recognise.voc_segmentation,
        lambda path, asked: open_voc_segmentation(path, asked.split),
        splits=True,
    ),
    "webdataset": Layout(
        recognise.webdataset, lambda path, asked: open_webdataset(path, asked.split), splits=True
    ),
    "imagenet": Layout(
        recognise.imagenet, lambda path, _: open_imagenet_tar(recognise.only_file(path, TAR))
    ),
    "parquet": Layout(
        recognise.parquet, lambda path, asked: open_parquet(path, asked.split), splits=True
    ),
    "tfrecord": Layout(
        recognise.tfrecord, lambda path, asked: open_tfrecord(path, asked.split), splits=True
    ),
    "recordio": Layout(
        recognise.recordio, lambda path, _: open_recordio(recognise.only_file(path, (".rec",)))
    ),
    "lmdb": Layout(recognise.lmdb, lambda path, _: open_lmdb(path)),
    "hdf5": Layout(
        recognise.hdf5,
        lambda path, asked: open_hdf5(
            recognise.only_file(path, recognise.HDF5_EXTENSIONS), asked.split
        ),
        splits=True,
    ),
    "kitti": Layout(
        recognise.kitti, lambda path, asked: open_kitti(path, asked.split), splits=True
    ),
    "widerface": Layout(
        recognise.widerface, lambda path, asked: open_widerface(path, asked.split), splits=True
    ),
    "imagenet_txt": Layout(
        recognise.imagenet_txt,
        lambda path, asked: open_imagenet_txt(path, asked.split),
        splits=True,
    ),
}
KINDS = (*LAYOUTS, FOLDER)

SAY_WHICH = "Say which is meant: --kind, pack(..., kind=...) or Loader(open_data(..., kind=...))"
ARCHIVES = (".zip", ".7z", ".rar", ".gz", ".bz2", ".xz", ".zst")
FILE_EXTENSIONS = frozenset(
    [".tar", ".gz", ".tgz", ".bz2", ".xz", ".parquet", ".rec", ".mdb", ".lmdb", ".json", ".yaml"]
).union([".yml"], recognise.HDF5_EXTENSIONS, TF_EXTENSIONS)


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
        kind = _recognise(where)
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
        if _is_folder(path, name) and any(map(is_image_name, names_in(os.path.join(path, name)))):
            raise SourceError(
                f"{printable(path)}: the hidden folder {printable(name)} has images in it and "
                "would be a class, as with torchvision. Remove it, or if that is meant, pack with "
                f'penstock.pack(..., kind="{FOLDER}") or --kind {FOLDER}.'
            )


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _is_folder(path: str, name: str) -> bool:
    return os.path.isdir(os.path.join(path, name))


def how_to_pack(path: str, said: Mapping[str, str | os.PathLike[str] | None]) -> str:
    """Return the call and the command that pack a data set; `said` is what `pack` must be told."""
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
    found = {}
    for kind, layout in LAYOUTS.items():
        evidence = layout.evidence(path)
        if evidence is not None:
            found[kind] = evidence
    return found


def _recognise(path: str) -> str:
    found = _evidence(path)
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


def _refuse_parts(path: str) -> None:
    """Raise if folders of a data set in another layout would pass as classes."""
    parts = [n for n in names_in(path) if n.lower() in PART_FOLDERS and _is_folder(path, n)]
    if parts:
        raise SourceError(
            f"{printable(path)}: one folder per class was expected, but {', '.join(parts)} are "
            f"parts of a data set. Give one of them, or kind={FOLDER!r} (--kind {FOLDER}) if these "
            "are the classes."
        )
