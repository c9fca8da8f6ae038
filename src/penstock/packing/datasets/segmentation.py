"""Images with a mask each: two folders, or VOC's SegmentationClass.

Masks are kept as their PNGs, whatever palette those have; other files become gray PNGs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from penstock.errors import DecodeError, SourceError
from penstock.geometry import Size
from penstock.packing.datasets.files import names_in, read_bytes, read_text
from penstock.packing.datasets.images import image_size
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.names import safe_name
from penstock.packing.datasets.splits import ALL, choose_split
from penstock.packing.file_items import name_below
from penstock.packing.items import MASKS, PackItem
from penstock.printable import printable
from penstock.sources import MaskPairs, open_mask_pairs, read_label_map
from penstock.sources.image_folder import SPLIT_FOLDERS, image_and_mask_folders
from penstock.sources.mask_pairs import png_of_label_map, sizes_differ

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
VOC_IMAGES, VOC_MASKS = "JPEGImages", "SegmentationClass"


def segmentation_folders(folder: str) -> tuple[str, str] | None:
    """Return the folders of images and masks in `folder`, if there is one of each."""
    folders = [name for name in names_in(folder) if os.path.isdir(os.path.join(folder, name))]
    found = image_and_mask_folders(folders)
    if found is None:
        return None
    return os.path.join(folder, found[0]), os.path.join(folder, found[1])


def open_segmentation(folder: str, split: str | None = None) -> LayoutSource:
    """Open a folder with a folder of images and one of masks in it.

    Both may have folders of splits ("train", "val"); then `split` chooses one.
    """
    found = segmentation_folders(folder)
    if found is None:
        raise SourceError(
            f"{printable(folder)}: one folder of images and one of masks (images, masks) are "
            "needed in it. Give both: pack(images, target, masks=masks), or --masks."
        )
    images, masks = found
    splits = [
        name
        for name in names_in(images)
        if name.lower() in SPLIT_FOLDERS and os.path.isdir(os.path.join(images, name))
    ]
    if split is not None and split != ALL and not splits:
        raise SourceError(f"{printable(folder)}: split={split!r}, but it has no folders of splits.")
    below = choose_split(folder, splits, split) if splits and split != ALL else ""
    return pairs_to_pack(open_mask_pairs(images, masks, below=below), printable(folder))


def pairs_to_pack(pairs: MaskPairs, title: str | None = None) -> LayoutSource:
    """Return pairs of files as samples to pack."""
    findings = Findings()

    def read(start: int, *, masks: bool = True) -> Iterator[PackItem]:
        for index in range(start, len(pairs)):
            (image,) = pairs.paths(np.array([index]))
            name = name_below(pairs.root, image)
            yield _item(name, image, pairs.mask_path(index) if masks else None, findings)

    return LayoutSource(
        kind="segmentation",
        title=title or pairs.title,
        columns=(MASKS,),
        read=read,
        length=len(pairs),
        details="a mask each",
        findings=findings,
        read_unmasked=partial(read, masks=False),
    )


def open_voc_segmentation(folder: str, split: str | None = None) -> LayoutSource:
    """Open a VOC folder for its class masks: `JPEGImages`, `SegmentationClass`.

    `split` is a list in `ImageSets/Segmentation`; "all" takes every image that has a mask.
    """
    reader = _VocReader(folder)
    stems = reader.chosen(split)
    if not stems:
        raise SourceError(f"{printable(folder)}: no image with a mask is listed in it.")
    findings = Findings()
    return LayoutSource(
        kind="voc_segmentation",
        title=printable(folder) + (f", {split}" if split else ""),
        columns=(MASKS,),
        read=partial(reader.items, stems, findings),
        length=len(stems),
        details="a mask each",
        findings=findings,
        read_unmasked=partial(reader.items, stems, findings, masks=False),
    )


@dataclass(frozen=True, slots=True)
class _VocReader:
    folder: str

    def chosen(self, split: str | None) -> list[str]:
        lists = os.path.join(self.folder, "ImageSets", "Segmentation")
        names = names_in(lists) if os.path.isdir(lists) else []
        splits = [name.removesuffix(".txt") for name in names if name.endswith(".txt")]
        if splits and split != ALL:
            path = os.path.join(lists, choose_split(self.folder, splits, split) + ".txt")
            rows = read_text(path, "text_bytes").split()
            return [safe_name(row, printable(path)) for row in rows]
        if split not in (None, ALL):
            raise SourceError(
                f"{printable(self.folder)}: no lists of splits in ImageSets/Segmentation."
            )
        masks = names_in(os.path.join(self.folder, VOC_MASKS))
        return [name.removesuffix(".png") for name in masks if name.endswith(".png")]

    def items(
        self, stems: list[str], findings: Findings, start: int, *, masks: bool = True
    ) -> Iterator[PackItem]:
        for position in range(start, len(stems)):
            stem = stems[position]
            image = os.path.join(self.folder, VOC_IMAGES, stem + ".jpg")
            mask = os.path.join(self.folder, VOC_MASKS, stem + ".png")
            for path in (image, mask):
                if not os.path.exists(path):
                    raise SourceError(
                        f"{printable(path)}: no such file, though the data set lists it. Add it, "
                        "or take it off the list."
                    )
            yield _item(stem + ".jpg", image, mask if masks else None, findings)


def mask_column(mask: bytes, size: Size | None, where: str) -> bytes:
    """Return what is packed of a mask file; SourceError, beginning with `where`, if it is none.

    `size` is that of the image, None if the image cannot be read anyway.
    """
    try:
        labels = read_label_map(mask)
    except DecodeError as error:
        raise SourceError(f"{where}: {error}.") from error
    if size is not None and labels.shape != (size.height, size.width):
        raise SourceError(f"{where}: {sizes_differ(labels.shape, (size.height, size.width))}.")
    return mask if mask.startswith(PNG_SIGNATURE) else png_of_label_map(labels)


def _item(name: str, image: str, mask: str | None, findings: Findings) -> PackItem:
    if mask is None:
        return PackItem(name, Path(image))
    size = image_size(Path(image), name, findings)
    encoded = mask_column(read_bytes(mask, "record_bytes"), size, printable(mask))
    return PackItem(name, Path(image), {MASKS.name: encoded})
