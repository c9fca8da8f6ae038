"""Tell the layout of a data set from its files. Each function returns its evidence, or None."""

from __future__ import annotations

import os
from collections.abc import Callable

from penstock.errors import SourceError
from penstock.packing.datasets.coco_images import coco_files
from penstock.packing.datasets.files import images_below, names_in, read_bytes
from penstock.packing.datasets.imagenet_txt import NAMES, listed_splits
from penstock.packing.datasets.kitti import LABELS, kitti_root
from penstock.packing.datasets.record_files import TF_EXTENSIONS, record_sets
from penstock.packing.datasets.segmentation import VOC_IMAGES, VOC_MASKS, segmentation_folders
from penstock.packing.datasets.tar_members import is_tar_name, tar_members
from penstock.packing.datasets.voc_layout import VocLayout
from penstock.packing.datasets.widerface import LISTS, widerface_splits
from penstock.packing.datasets.yolo_layout import find_parts
from penstock.printable import printable

HDF5_EXTENSIONS = (".h5", ".hdf5", ".hdf")
YOLO_FILES = (".yaml", ".yml", "obj.data")
Evidence = Callable[[str], str | None]


def coco(path: str) -> str | None:
    """A json file, or a folder that holds COCO's."""
    if os.path.isfile(path):
        return _extension(path, (".json",))
    files = sorted(coco_files(path).values())
    return os.path.relpath(files[0], path) if files else None


def voc(path: str) -> str | None:
    """Xml files in `Annotations`, beside the images, or beside them in folders of splits."""
    if not os.path.isdir(path):
        return None
    layout = VocLayout.find(path)
    for stem in layout.annotated()[:1]:
        start = read_bytes(os.path.join(layout.annotations, stem + ".xml"), "document_bytes")
        # LabelMe's <annotation> has outlines.
        if b"<annotation" in start and b"<polygon" not in start:
            return f"{stem}.xml"
    return None


def segmentation(path: str) -> str | None:
    """A folder of images and one of masks, which are images, too; COCO's PNGs have a json."""
    if not os.path.isdir(path) or coco(path) is not None:
        return None
    found = segmentation_folders(path)
    if found is None or os.path.basename(found[1]) == VOC_MASKS:
        return None
    masks = images_below(found[1])
    return os.path.relpath(os.path.join(found[1], masks[0]), path) if masks else None


def voc_segmentation(path: str) -> str | None:
    """VOC's masks where there are no boxes; with boxes, say so by `kind`."""
    if not os.path.isdir(path) or voc(path) is not None:
        return None
    is_there = all(os.path.isdir(os.path.join(path, name)) for name in (VOC_IMAGES, VOC_MASKS))
    return VOC_MASKS if is_there else None


def yolo(path: str) -> str | None:
    """Folders of images and of label files, darknet's lists, or the file that describes them."""
    if not os.path.isdir(path):
        return _extension(path, YOLO_FILES)
    for part in find_parts(path).values():
        if part.listed or any(name.endswith(".txt") for name in names_in(part.labels)):
            return os.path.relpath(part.labels, path)
    return None


def webdataset(path: str) -> str | None:
    """Tar archives whose first file is not of ImageNet."""
    return next((tar for tar in _tars(path) if _imagenet_member(tar) is None), None)


def imagenet(path: str) -> str | None:
    """A tar archive of tar archives, or of ImageNet's validation images."""
    return next((tar for tar in _tars(path) if _imagenet_member(tar) is not None), None)


def parquet(path: str) -> str | None:
    """Parquet files."""
    return _records(path, (".parquet",))


def tfrecord(path: str) -> str | None:
    """TFRecord files."""
    return _records(path, TF_EXTENSIONS)


def recordio(path: str) -> str | None:
    """A .rec file."""
    return _single_files(path, (".rec",))


def hdf5(path: str) -> str | None:
    """An HDF5 file."""
    return _single_files(path, HDF5_EXTENSIONS)


def lmdb(path: str) -> str | None:
    """An LMDB environment."""
    if os.path.isdir(path):
        return "data.mdb" if "data.mdb" in names_in(path) else None
    return _extension(path, (".mdb", ".lmdb"))


def kitti(path: str) -> str | None:
    """`image_2` and `label_2`."""
    return LABELS if os.path.isdir(path) and kitti_root(path) else None


def widerface(path: str) -> str | None:
    """The folder of lists of faces."""
    return LISTS if os.path.isdir(path) and widerface_splits(path) else None


def imagenet_txt(path: str) -> str | None:
    """Lists beside a list of class names."""
    return NAMES if os.path.isdir(path) and listed_splits(path) else None


def only_file(path: str, extensions: tuple[str, ...]) -> str:
    """Return the file to read: the one given, or the only one of a folder."""
    if not os.path.isdir(path):
        return path
    found = [name for name in names_in(path) if name.lower().endswith(extensions)]
    if len(found) != 1:
        raise SourceError(
            f"{printable(path)}: {len(found)} files to choose from ({', '.join(found[:10])}). "
            "Give one of them."
        )
    return os.path.join(path, found[0])


def _extension(path: str, extensions: tuple[str, ...]) -> str | None:
    return os.path.basename(path) if path.lower().endswith(extensions) else None


def _records(path: str, extensions: tuple[str, ...]) -> str | None:
    folder, name = (path, None) if os.path.isdir(path) else os.path.split(path)
    files = [file for found in record_sets(folder or ".", extensions).values() for file in found]
    names = [os.path.relpath(file, folder or ".") for file in files]
    if name is None:
        return names[0] if names else None
    return name if name in names else None


def _single_files(path: str, extensions: tuple[str, ...]) -> str | None:
    if not os.path.isdir(path):
        return _extension(path, extensions)
    return next((name for name in names_in(path) if name.lower().endswith(extensions)), None)


def _tars(path: str) -> list[str]:
    names = names_in(path) if os.path.isdir(path) else [path]
    return [os.path.join(path, n) if n != path else path for n in names if is_tar_name(n)]


def _imagenet_member(tar: str) -> str | None:
    for member in tar_members(tar):
        name = os.path.basename(member.name)
        return name if name.endswith(".tar") or name.startswith("ILSVRC2012_val_") else None
    return None
