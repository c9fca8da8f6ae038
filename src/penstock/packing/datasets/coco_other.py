"""COCO files without objects' boxes at heart: panoptic, captions, labels of whole images."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock.errors import SourceError
from penstock.packing.datasets.boxes import boxes_from_corner_and_size
from penstock.packing.datasets.coco_images import CocoImages
from penstock.packing.datasets.coco_index import CocoIndex, each_image
from penstock.packing.datasets.files import read_bytes
from penstock.packing.datasets.layout_source import LayoutSource
from penstock.packing.datasets.names import safe_name
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, Column, PackItem

CROWD = Column("iscrowd", "ragged", "int64")  # one for each box: 1 if it holds many objects
CAPTIONS = Column("captions", "text")  # a JSON list of strings
LABELS = Column("labels", "ragged", "int64")  # any number of classes an image
SEGMENT_IDS = Column("segment_ids", "ragged", "int64")  # one a box: its colour in `panoptic`
PANOPTIC = Column("panoptic", "bytes")  # the PNG file as it is


def read_captions(index: CocoIndex, images: CocoImages) -> LayoutSource:
    """Read images with sentences about them."""

    def items(start: int) -> Iterator[PackItem]:
        for image_id, image in each_image(index, start):
            name, file = images.find(image)
            texts = [str(entry.get("caption", "")) for entry in index.annotations(image_id)]
            yield PackItem(name, file, {"captions": json.dumps(texts, ensure_ascii=False)})

    return LayoutSource("coco", index.title, (CAPTIONS,), items, len(index.image_ids))


def read_labels(index: CocoIndex, images: CocoImages) -> LayoutSource:
    """Read images with categories but no boxes: one a sample, or any number."""
    owners, counts = np.unique(index.annotation_images, return_counts=True)
    single = bool(np.all(counts == 1)) and np.array_equal(owners, np.sort(index.image_ids))

    def items(start: int) -> Iterator[PackItem]:
        for image_id, image in each_image(index, start):
            name, file = images.find(image)
            where = f"{index.title}, image {image_id}"
            labels = [index.label(e, where) for e in index.annotations(image_id)]
            values = {"label": labels[0]} if single else {"labels": np.array(labels, np.int64)}
            yield PackItem(name, file, values)

    return LayoutSource(
        kind="coco",
        title=index.title,
        columns=(LABEL if single else LABELS,),
        read=items,
        length=len(index.image_ids),
        classes=index.names,
    )


def read_panoptic(path: str, index: CocoIndex, images: CocoImages) -> LayoutSource:
    """Read images with a PNG that colours every pixel by its segment."""
    folder = os.path.splitext(path)[0]

    def items(start: int) -> Iterator[PackItem]:
        for image_id, image in each_image(index, start):
            name, file = images.find(image)
            where = f"{index.title}, image {image_id}"
            entries = index.annotations(image_id)
            if len(entries) > 1:
                raise SourceError(f"{where}: {len(entries)} panoptic annotations; one is needed.")
            yield PackItem(name, file, _panoptic(index, entries, folder, where))

    return LayoutSource(
        kind="coco",
        title=index.title,
        columns=(BOXES, BOX_LABELS, CROWD, SEGMENT_IDS, PANOPTIC),
        read=items,
        length=len(index.image_ids),
        box_classes=index.names,
        box_class_ids=index.class_ids,
        details="panoptic",
    )


def _panoptic(
    index: CocoIndex, entries: list[dict[str, Any]], folder: str, where: str
) -> dict[str, Any]:
    segments: list[dict[str, Any]] = entries[0].get("segments_info", []) if entries else []
    png = b""
    if entries:
        file = safe_name(str(entries[0].get("file_name")), where)
        png = read_bytes(os.path.join(folder, file), "record_bytes")
    try:
        boxes = boxes_from_corner_and_size([segment["bbox"] for segment in segments], where)
        ids = np.array([segment["id"] for segment in segments], np.int64)
        crowd = np.array([bool(segment.get("iscrowd", 0)) for segment in segments], np.int64)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(
            f"{where}: segments_info needs an id and a bbox a segment ({error!r})."
        ) from error
    labels = np.array([index.label(segment, where) for segment in segments], np.int64)
    return {
        "boxes": boxes,
        "box_labels": labels,
        "iscrowd": crowd,
        "segment_ids": ids,
        "panoptic": png,
    }
