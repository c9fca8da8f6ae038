"""Pascal VOC: an xml file an image, below `Annotations` or beside the images.

Coordinates are kept as the files give them. The original VOC counts pixels from 1 and includes
the last one, most tools since then do not, and nothing in a file tells which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import SourceError
from penstock.packing.datasets.boxes import note_odd_boxes
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.voc_layout import SEGMENTATIONS, VocLayout
from penstock.packing.datasets.voc_xml import FLAGS, VocAnnotation
from penstock.packing.items import BOX_LABELS, BOXES, Column, PackItem
from penstock.printable import printable

# The classes of the original challenges in the order of their numbers, which begin with 1.
VOC_CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train",
    "tvmonitor",
)  # fmt: skip
PARTS = "boxes of parts of objects (such as a head) are not kept"


def open_voc(folder: str, split: str | None = None) -> LayoutSource:
    """Open a VOC folder.

    Classes are VOC's own 20 if no other is in it, else those of all its splits, sorted.

    Args:
        folder: It holds `Annotations` and `JPEGImages`, or images and xml files side by side.
        split: A list in `ImageSets/Main`, or a folder; "all" takes every annotated image.
    """
    layout = VocLayout.find(folder)
    stems = layout.chosen(split)
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
    return LayoutSource(
        kind="voc",
        title=printable(folder) + (f", {split}" if split else ""),
        columns=(
            BOXES,
            BOX_LABELS,
            *(Column(flag, "ragged", "bool") for flag in FLAGS),
            *(SEGMENTATIONS[name] for name in layout.segmentations),
        ),
        read=_VocReader(layout, stems, label_of, findings).items,
        length=len(stems),
        box_classes=tuple(label_of),
        details=f"{sum(boxes_of.values()):,} boxes",
        findings=findings,
    )


@dataclass(frozen=True, slots=True)
class _VocReader:
    layout: VocLayout
    stems: list[str]
    label_of: dict[str, int]
    findings: Findings

    def items(self, start: int) -> Iterator[PackItem]:
        for position in range(start, len(self.stems)):
            stem = self.stems[position]
            annotation = self.layout.annotation(stem)
            note_odd_boxes(annotation.boxes, annotation.size, self.findings, annotation.where)
            if annotation.parts:
                self.findings.add(PARTS, annotation.where, annotation.parts)
            file = self.layout.image(stem, annotation.filename)
            name = file.relative_to(self.layout.images).as_posix()
            yield PackItem(name, file, self._columns(stem, annotation))

    def _columns(self, stem: str, annotation: VocAnnotation) -> dict[str, Any]:
        labels = [self.label_of[name] for name in annotation.names]
        columns: dict[str, Any] = {
            "boxes": annotation.boxes,
            "box_labels": np.array(labels, np.int64),
            **annotation.flags,
        }
        for kind in self.layout.segmentations:
            columns[SEGMENTATIONS[kind].name] = self.layout.segmentation(kind, stem)
        return columns
