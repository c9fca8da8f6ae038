"""Images with a mask each: two folders, or VOC's SegmentationClass.

Masks are kept as their PNGs, whatever palette those have; other files become gray PNGs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from penstock.errors import DecodeError, SourceError
from penstock.geometry import Size
from penstock.packing.datasets.annotations import image_size
from penstock.packing.datasets.coco import recognise_coco
from penstock.packing.datasets.files import (
    has_folder,
    images_below,
    names_in,
    read_bytes,
    read_text,
    safe_name,
)
from penstock.packing.datasets.layout_source import Asked, Findings, Layout, LayoutSource
from penstock.packing.datasets.voc import recognise_voc
from penstock.packing.items import MASKS, PackItem, name_below
from penstock.printable import printable
from penstock.sources import MaskPairs, open_mask_pairs, read_label_map
from penstock.sources.image_folder import SPLIT_FOLDERS, image_and_mask_folders
from penstock.sources.mask_pairs import png_of_label_map, sizes_differ

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
VOC_IMAGES, VOC_MASKS = "JPEGImages", "SegmentationClass"


def segmentation_folders(folder: str) -> tuple[str, str] | None:
    """Return the folders of images and masks in `folder`, if there is one of each."""
    found = image_and_mask_folders([name for name in names_in(folder) if has_folder(folder, name)])
    if found is None:
        return None
    return os.path.join(folder, found[0]), os.path.join(folder, found[1])


def recognise_segmentation(path: str) -> str | None:
    """Recognise a folder of images and one of masks, which are images, too; COCO's have a json."""
    if not os.path.isdir(path) or recognise_coco(path) is not None:
        return None
    found = segmentation_folders(path)
    if found is None or os.path.basename(found[1]) == VOC_MASKS:
        return None
    masks = images_below(found[1])
    return os.path.relpath(os.path.join(found[1], masks[0]), path) if masks else None


def open_segmentation(folder: str, asked: Asked) -> LayoutSource:
    """Open a folder with a folder of images and one of masks in it.

    Both may have folders of splits ("train", "val"); then the split chooses one.
    """
    found = segmentation_folders(folder)
    if found is None:
        raise SourceError(
            f"{printable(folder)}: one folder of images and one of masks (images, masks) are "
            "needed in it. Give both: pack(images, target, masks=masks), or --masks."
        )
    images, masks = found
    splits = [n for n in names_in(images) if n.lower() in SPLIT_FOLDERS and has_folder(images, n)]
    if asked.split is not None and not asked.all_splits and not splits:
        raise SourceError(
            f"{printable(folder)}: split={asked.split!r}, but it has no folders of splits."
        )
    below = asked.choose_split(folder, splits) if splits and not asked.all_splits else ""
    return pairs_to_pack(open_mask_pairs(images, masks, below=below), printable(folder))


def pairs_to_pack(pairs: MaskPairs, title: str | None = None) -> LayoutSource:
    """Return pairs of files as samples to pack."""

    def files(index: int) -> tuple[str, str, str]:
        (image,) = pairs.paths(np.array([index]))
        return name_below(pairs.root, image), image, pairs.mask_path(index)

    return _source("segmentation", title or pairs.title, files, len(pairs))


def recognise_voc_segmentation(path: str) -> str | None:
    """Recognise VOC's masks where there are no boxes; with boxes, say so by `kind`."""
    if not os.path.isdir(path) or recognise_voc(path) is not None:
        return None
    return VOC_MASKS if has_folder(path, VOC_IMAGES) and has_folder(path, VOC_MASKS) else None


def open_voc_segmentation(folder: str, asked: Asked) -> LayoutSource:
    """Open a VOC folder for its class masks: `JPEGImages`, `SegmentationClass`.

    The split is a list in `ImageSets/Segmentation`; "all" takes every image that has a mask.
    """
    stems = _voc_stems(folder, asked)
    if not stems:
        raise SourceError(f"{printable(folder)}: no image with a mask is listed in it.")

    def files(index: int) -> tuple[str, str, str]:
        name = stems[index] + ".jpg"
        image = os.path.join(folder, VOC_IMAGES, name)
        mask = os.path.join(folder, VOC_MASKS, stems[index] + ".png")
        for path in (image, mask):
            if not os.path.exists(path):
                raise SourceError(
                    f"{printable(path)}: no such file, though the data set lists it. Add it, "
                    "or take it off the list."
                )
        return name, image, mask

    return _source("voc_segmentation", asked.title(folder), files, len(stems))


SEGMENTATION = Layout("segmentation", recognise_segmentation, open_segmentation)
VOC_SEGMENTATION = Layout("voc_segmentation", recognise_voc_segmentation, open_voc_segmentation)


def _voc_stems(folder: str, asked: Asked) -> list[str]:
    lists = os.path.join(folder, "ImageSets", "Segmentation")
    names = names_in(lists) if os.path.isdir(lists) else []
    splits = [name.removesuffix(".txt") for name in names if name.endswith(".txt")]
    if splits and not asked.all_splits:
        path = os.path.join(lists, asked.choose_split(folder, splits) + ".txt")
        rows = read_text(path, "text_bytes").split()
        return [safe_name(row, printable(path)) for row in rows]
    if asked.split is not None and not asked.all_splits:
        raise SourceError(f"{printable(folder)}: no lists of splits in ImageSets/Segmentation.")
    masks = names_in(os.path.join(folder, VOC_MASKS))
    return [name.removesuffix(".png") for name in masks if name.endswith(".png")]


def _source(
    kind: str, title: str, files: Callable[[int], tuple[str, str, str]], length: int
) -> LayoutSource:
    """Return a source; `files` gives the name, the image and the mask of a sample."""
    findings = Findings()

    def read(index: int, *, masks: bool = True) -> PackItem:
        name, image, mask = files(index)
        if not masks:
            return PackItem(name, Path(image))
        size = image_size(Path(image), name, findings)
        encoded = mask_column(read_bytes(mask, "record_bytes"), size, printable(mask))
        return PackItem(name, Path(image), {MASKS.name: encoded})

    return LayoutSource(
        kind=kind,
        title=title,
        columns=(MASKS,),
        read=read,
        length=length,
        details="a mask each",
        findings=findings,
        read_unmasked=partial(read, masks=False),
    )


def mask_column(mask: bytes, size: Size | None, where: str) -> bytes:
    """Return what is packed of a mask file; SourceError, beginning with `where`, if it is wrong.

    `size` is that of the image, None if the image cannot be read anyway.
    """
    try:
        labels = read_label_map(mask)
    except DecodeError as error:
        raise SourceError(f"{where}: {error}.") from error
    if size is not None and labels.shape != (size.height, size.width):
        raise SourceError(f"{where}: {sizes_differ(labels.shape, (size.height, size.width))}.")
    return mask if mask.startswith(PNG_SIGNATURE) else png_of_label_map(labels)
