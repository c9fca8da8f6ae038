"""Pascal VOC: one xml file per image, below `Annotations` or beside the images.

Coordinates are kept as the files give them. The original VOC counts pixels from 1 and includes
the last one, most tools since then do not, and nothing in a file tells which.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.packing.datasets.annotations import NO_BOXES, Boxes, boxes_from_rows, note_odd_boxes
from penstock.packing.datasets.files import (
    check_limit,
    is_image_name,
    names_in,
    read_bytes,
    read_text,
    safe_name,
)
from penstock.packing.datasets.layout_source import Asked, Findings, Layout, LayoutSource
from penstock.packing.items import BOX_LABELS, BOXES, Column, PackItem
from penstock.printable import printable
from penstock.sources.scan import IMAGE_EXTENSIONS

# The classes of the original challenges in the order of their numbers, which begin with 1.
VOC_CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train",
    "tvmonitor",
)  # fmt: skip
PARTS = "boxes of parts of objects (such as a head) are not kept"


FLAGS = ("difficult", "truncated", "occluded")  # one per box; false where a file does not say
CORNERS = ("xmin", "ymin", "xmax", "ymax")
# Folder of PNGs, and the column that keeps them as they are.
SEGMENTATIONS = {
    "SegmentationClass": Column("segmentation_class", "bytes"),
    "SegmentationObject": Column("segmentation_object", "bytes"),
}


def recognise_voc(path: str) -> str | None:
    """Recognise xml files in `Annotations`, beside the images, or in folders of splits."""
    if not os.path.isdir(path):
        return None
    layout = VocLayout.find(path)
    for stem in layout.annotated()[:1]:
        start = read_bytes(os.path.join(layout.annotations, stem + ".xml"), "document_bytes")
        # LabelMe's <annotation> has outlines.
        if b"<annotation" in start and b"<polygon" not in start:
            return f"{stem}.xml"
    return None


def open_voc(folder: str, asked: Asked) -> LayoutSource:
    """Open a folder with `Annotations` and `JPEGImages`, or images and xml files side by side.

    Classes are VOC's own 20 if no other is in it, else those of all its splits, sorted.
    The split is a list in `ImageSets/Main`, or a folder; "all" takes every annotated image.
    """
    layout = VocLayout.find(folder)
    stems = layout.chosen(asked)
    if not stems:
        raise SourceError(f"{printable(folder)}: no image is listed in it, so none can be packed.")
    boxes_of = dict.fromkeys(stems, 0)
    names: set[str] = set()
    for stem in layout.annotated():
        annotation = layout.annotation(stem)
        names.update(annotation.names)
        if stem in boxes_of:
            boxes_of[stem] = len(annotation.names)
    classes = VOC_CLASSES if names <= set(VOC_CLASSES) else tuple(sorted(names))
    label_of = {name: label for label, name in enumerate(classes)}
    findings = Findings()

    def read(index: int) -> PackItem:
        stem = stems[index]
        annotation = layout.annotation(stem)
        note_odd_boxes(annotation.boxes, annotation.size, findings, annotation.where)
        findings.add(PARTS, annotation.where, annotation.parts)
        file = layout.image(stem, annotation.filename)
        labels = [label_of[name] for name in annotation.names]
        values: dict[str, Any] = {
            "boxes": annotation.boxes,
            "box_labels": np.array(labels, np.int64),
            **annotation.flags,
        }
        for kind in layout.segmentations:
            values[SEGMENTATIONS[kind].name] = layout.segmentation(kind, stem)
        return PackItem(file.relative_to(layout.images).as_posix(), file, values)

    return LayoutSource(
        kind="voc",
        title=asked.title(folder),
        columns=(
            BOXES,
            BOX_LABELS,
            *(Column(flag, "ragged", "bool") for flag in FLAGS),
            *(SEGMENTATIONS[name] for name in layout.segmentations),
        ),
        read=read,
        length=len(stems),
        box_classes=classes,
        details=f"{sum(boxes_of.values()):,} boxes",
        findings=findings,
    )


VOC = Layout("voc", recognise_voc, open_voc)


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

    def chosen(self, asked: Asked) -> list[str]:
        """Return the images of a split, or all there are."""
        if asked.all_splits:
            return self.annotated()
        lists = self._lists()
        folders = () if lists else self._split_folders()
        if lists:
            path = lists[asked.choose_split(self.folder, sorted(lists))]
            return [safe_name(row[0], printable(path)) for row in _rows(path)]
        if folders and not _xml_stems(self.annotations, ""):
            return _xml_stems(self.annotations, asked.choose_split(self.folder, folders))
        if asked.split is not None:
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


@dataclass(frozen=True, slots=True, eq=False)
class VocAnnotation:
    """What an xml file says of its image."""

    where: str
    filename: str | None
    size: Size | None
    names: tuple[str, ...]  # one per box
    boxes: Boxes
    flags: dict[str, npt.NDArray[np.bool_]]
    parts: int  # boxes of parts of objects

    @classmethod
    def without_objects(cls, path: str) -> VocAnnotation:
        """Return the annotation of an image that has no xml file."""
        none = {flag: np.zeros(0, np.bool_) for flag in FLAGS}
        return cls(printable(path), None, None, (), NO_BOXES, none, 0)


def read_voc_xml(path: str) -> VocAnnotation:
    """Read one xml file."""
    where = printable(path)
    text = read_bytes(path, "document_bytes")
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise SourceError(f"{where}: it declares its own entities. Remove the DOCTYPE.")
    elements = text.count(b"<")
    check_limit("nodes", elements, f"{where}: {elements:,} tags")
    try:
        root = ET.fromstring(text)  # noqa: S314 - declarations are refused above
    except (ET.ParseError, ValueError, LookupError) as error:
        raise SourceError(f"{where}: not valid xml ({error}). Correct or remove it.") from error
    if root.tag != "annotation":
        raise SourceError(f"{where}: <annotation> expected, found <{root.tag[:60]}>.")
    objects = root.findall("object")
    names, rows = [], []
    for number, element in enumerate(objects):
        name = (element.findtext("name") or "").strip()
        box = element.find("bndbox")
        if not name or box is None:
            raise SourceError(f"{where}, object {number}: it needs a <name> and a <bndbox>.")
        names.append(name)
        rows.append([_number(box, corner, f"{where}, object {number}") for corner in CORNERS])
    return VocAnnotation(
        where=where,
        filename=_file_name(root),
        size=_size(root),
        names=tuple(names),
        boxes=boxes_from_rows(rows, where),
        flags={
            flag: np.array([_flag(element, flag) for element in objects], np.bool_)
            for flag in FLAGS
        },
        parts=sum(len(element.findall("part")) for element in objects),
    )


def _file_name(root: ET.Element) -> str | None:
    # <path> is on the author's own disk, and some tools write it into <filename> too.
    name = (root.findtext("filename") or "").strip().replace("\\", "/")
    return os.path.basename(name) or None


def _size(root: ET.Element) -> Size | None:
    texts = [root.findtext(f"size/{side}") or "" for side in ("height", "width")]
    if not all(re.fullmatch(r"\s*[0-9]{1,9}\s*", text) for text in texts):
        return None
    height, width = (int(text) for text in texts)
    return Size(height, width) if height and width else None


def _number(box: ET.Element, corner: str, where: str) -> float:
    text = box.findtext(corner)
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SourceError(f"{where}: <{corner}> must be a number, got {(text or '')[:60]!r}.")
    return value


def _flag(element: ET.Element, flag: str) -> bool:
    return (element.findtext(flag) or "0").strip() not in {"", "0", "false", "False"}
