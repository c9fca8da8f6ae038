"""The forms a VOC folder takes: where its xml files, images and lists of splits are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import SourceError
from penstock.packing.datasets.files import is_image_name, names_in, read_bytes, read_text
from penstock.packing.datasets.names import safe_name
from penstock.packing.datasets.splits import ALL, choose_split
from penstock.packing.datasets.voc_xml import VocAnnotation, read_voc_xml
from penstock.packing.items import Column
from penstock.printable import printable
from penstock.sources.scan import IMAGE_EXTENSIONS

# Folder of PNGs, and the column that keeps them as they are.
SEGMENTATIONS = {
    "SegmentationClass": Column("segmentation_class", "bytes"),
    "SegmentationObject": Column("segmentation_object", "bytes"),
}


@dataclass(frozen=True, slots=True)
class VocLayout:
    """A VOC folder; images are known by their path without extension below `annotations`."""

    folder: str
    annotations: str
    images: str
    segmentations: tuple[str, ...]

    @classmethod
    def find(cls, folder: str) -> VocLayout:
        """Find the parts: in VOC's own folders, or images and xml side by side."""
        annotations = os.path.join(folder, "Annotations")
        if not os.path.isdir(annotations):
            return cls(folder, folder, folder, ())
        present = [n for n in SEGMENTATIONS if os.path.isdir(os.path.join(folder, n))]
        return cls(folder, annotations, os.path.join(folder, "JPEGImages"), tuple(present))

    def annotated(self) -> list[str]:
        """Return all images that have an xml file, of every split."""
        stems = _xml_stems(self.annotations, "")
        for below in () if stems else self._split_folders():
            stems += _xml_stems(self.annotations, below)
        return stems

    def chosen(self, split: str | None) -> list[str]:
        """Return the images of a split, or all there are."""
        if split == ALL:
            return self.annotated()
        lists = self._lists()
        folders = () if lists else self._split_folders()
        if lists:
            path = lists[choose_split(self.folder, sorted(lists), split)]
            return [safe_name(row[0], printable(path)) for row in _rows(path)]
        if folders and not _xml_stems(self.annotations, ""):
            return _xml_stems(self.annotations, choose_split(self.folder, folders, split))
        if split is not None:
            raise SourceError(f"{printable(self.folder)}: no lists of splits in ImageSets/Main.")
        return self.annotated()

    def annotation(self, stem: str) -> VocAnnotation:
        """Read an image's xml file; an image without one has no objects."""
        path = os.path.join(self.annotations, stem + ".xml")
        return read_voc_xml(path) if os.path.exists(path) else VocAnnotation.without_objects(path)

    def image(self, stem: str, filename: str | None) -> Path:
        """Return the image's file: `<filename>` if it is there, else one with the xml's name."""
        where = os.path.join(self.annotations, stem + ".xml")
        if filename and is_image_name(filename):
            # <filename> lacks the folders that the list gives.
            below = os.path.join(os.path.dirname(stem), safe_name(filename, printable(where)))
            if os.path.exists(os.path.join(self.images, below)):
                return Path(self.images, below)
        found = (Path(self.images, stem + extension) for extension in IMAGE_EXTENSIONS)
        return next((path for path in found if path.exists()), Path(self.images, stem + ".jpg"))

    def segmentation(self, kind: str, stem: str) -> bytes:
        """Return the PNG of an image in a folder of segmentations; no bytes if it has none."""
        path = os.path.join(self.folder, kind, stem + ".png")
        return read_bytes(path, "record_bytes") if os.path.exists(path) else b""

    def _lists(self) -> dict[str, str]:
        folder = os.path.join(self.folder, "ImageSets", "Main")
        if not os.path.isdir(folder):
            return {}
        names = [name.removesuffix(".txt") for name in names_in(folder) if name.endswith(".txt")]
        return {
            name: os.path.join(folder, name + ".txt")
            for name in names
            # `cat_train` lists, for the images of `train`, whether a cat is in them.
            if not any(name.endswith("_" + other) for other in names)
        }

    def _split_folders(self) -> tuple[str, ...]:
        return tuple(n for n in names_in(self.annotations) if _xml_stems(self.annotations, n))


def _xml_stems(folder: str, below: str) -> list[str]:
    place = os.path.join(folder, below)
    if not os.path.isdir(place):
        return []
    prefix = below + "/" if below else ""
    return [prefix + n.removesuffix(".xml") for n in names_in(place) if n.endswith(".xml")]


def _rows(path: str) -> list[list[str]]:
    lines = read_text(path, "text_bytes").splitlines()
    return [line.split() for line in lines if line.strip() and not line.startswith("# ")]
