"""COCO's json: objects with boxes, masks and keypoints; also captions, plain labels and panoptic.

Category ids have gaps, so `box_labels` count the categories in the order of their ids; loaders
deliver the ids, which the table `box_class_ids` holds. `category_ids` keeps the json's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.packing.datasets.boxes import boxes_from_corner_and_size, note_odd_boxes
from penstock.packing.datasets.coco_images import CocoImages
from penstock.packing.datasets.coco_index import CocoIndex, each_image, read_coco_index
from penstock.packing.datasets.coco_other import (
    CROWD,
    read_captions,
    read_labels,
    read_panoptic,
)
from penstock.packing.datasets.images import image_size
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.polygons import check_mask_area, draw_segmentation
from penstock.packing.items import BOX_LABELS, BOXES, MASKS, Column, PackItem, keypoints_column
from penstock.packing.mask_runs import encode_runs

IMAGE_ID = Column("image_id", "fixed", "int64")
CATEGORY_IDS = Column("category_ids", "ragged", "int64")  # COCO's own, one a box

RENUMBERED = (
    "categories got numbers of their own, as their ids begin below 1, where detection models have "
    "the background, or are too large to count classes"
)
STRAY = "annotations are of images that the file does not list, and were left out"


def open_coco(path: str, images: str | None = None) -> LayoutSource:
    """Open one COCO file.

    Args:
        path: The json file.
        images: The folder that its file names start from; None looks around the json file.
            Keypoints in a `person_keypoints_<split>.json` beside `instances_<split>.json`
            come along.
    """
    index = read_coco_index(path)
    if not len(index.image_ids):
        raise SourceError(f"{index.title}: its list of images is empty.")
    found = CocoImages.beside(path, index, images)
    if "segments_info" in index.fields:
        return read_panoptic(path, index, found)
    if "bbox" not in index.fields and "caption" in index.fields:
        return read_captions(index, found)
    if "bbox" not in index.fields and "category_id" in index.fields:
        return read_labels(index, found)
    return _objects(index, found, _keypoints_beside(path, index))


def _objects(index: CocoIndex, images: CocoImages, keypoints: CocoIndex | None) -> LayoutSource:
    columns = [IMAGE_ID, BOXES, BOX_LABELS, CATEGORY_IDS, CROWD]
    findings = Findings()
    known = np.isin(index.annotation_images, index.image_ids)
    stray = int(np.count_nonzero(~known))
    reader = _ObjectReader(index, images, keypoints, findings, stray)
    if "segmentation" in index.fields:
        columns.append(MASKS)
    if keypoints is not None and keypoints.keypoints is not None:
        columns.append(keypoints_column(keypoints.keypoints))
    return LayoutSource(
        kind="coco",
        title=index.title,
        columns=tuple(columns),
        read=reader.items,
        read_unmasked=replace(reader, masks=False).items,
        length=len(index.image_ids),
        box_classes=index.names,
        box_class_ids=index.class_ids,
        details=f"{len(index.annotation_images):,} boxes",
        findings=findings,
    )


def _keypoints_beside(path: str, index: CocoIndex) -> CocoIndex | None:
    if index.keypoints is not None:
        return index
    folder, name = os.path.split(path)
    beside = os.path.join(folder, name.replace("instances_", "person_keypoints_", 1))
    if beside == path or not os.path.exists(beside):
        return None
    return read_coco_index(beside)


@dataclass(slots=True)
class _ObjectReader:
    index: CocoIndex
    images: CocoImages
    keypoints: CocoIndex | None
    findings: Findings
    stray: int  # annotations of images that are not listed
    masks: bool = True

    def items(self, start: int) -> Iterator[PackItem]:
        if self.index.class_ids != tuple(self.index.label_of):
            self.findings.add(RENUMBERED, self.index.title, len(self.index.label_of))
        if self.stray:
            self.findings.add(STRAY, self.index.title, self.stray)
        for image_id, image in each_image(self.index, start):
            name, file = self.images.find(image)
            where = f"{self.index.title}, image {image_id} ({name})"
            yield PackItem(name, file, self._columns(image_id, image, file, where))

    def _columns(
        self, image_id: int, image: dict[str, Any], file: os.PathLike[str], where: str
    ) -> dict[str, Any]:
        entries = self.index.annotations(image_id)
        boxes = boxes_from_corner_and_size([_bbox(entry, where) for entry in entries], where)
        size = _size(image)
        note_odd_boxes(boxes, size, self.findings, where)
        labels = [self.index.label(entry, where) for entry in entries]
        columns = {
            "image_id": image_id,
            "boxes": boxes,
            "box_labels": np.array(labels, np.int64),
            "category_ids": np.array([entry["category_id"] for entry in entries], np.int64),
            "iscrowd": np.array([bool(entry.get("iscrowd", 0)) for entry in entries], np.int64),
        }
        if "segmentation" in self.index.fields and self.masks:
            if entries and size is None:
                size = image_size(file, where, self.findings)
            columns["masks"] = _masks(entries, size, where) if size else b""
        if self.keypoints is not None and self.keypoints.keypoints is not None:
            columns["keypoints"] = self._points(image_id, entries, self.keypoints, where)
        return columns

    def _points(
        self, image_id: int, entries: list[dict[str, Any]], source: CocoIndex, where: str
    ) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return a row an object; objects without keypoints have zeros, so none is visible."""
        given = entries if source is self.index else source.annotations(image_id)
        points_of = {entry.get("id"): entry.get("keypoints") for entry in given}
        points = source.keypoints or 0
        none = [0.0] * (3 * points)
        rows = [points_of.get(entry.get("id")) or none for entry in entries]
        try:
            return np.array(rows, np.float32).reshape(len(rows), points, 3)
        except (ValueError, TypeError, OverflowError) as error:
            raise SourceError(f"{where}: keypoints must be numbers ({error}).") from error


def _bbox(entry: dict[str, Any], where: str) -> list[float]:
    bbox = entry.get("bbox")
    if (
        not isinstance(bbox, list)
        or len(bbox) != 4
        or not all(type(value) in {int, float} for value in bbox)
    ):
        raise SourceError(
            f"{where}, annotation {entry.get('id')}: bbox must be left, top, width, height; "
            f"got {str(bbox)[:60]}."
        )
    return bbox


def _size(image: dict[str, Any]) -> Size | None:
    height, width = image.get("height"), image.get("width")
    if type(height) is not int or type(width) is not int:
        return None
    return Size(height, width) if 0 < height < 2**31 and 0 < width < 2**31 else None


def _masks(entries: list[dict[str, Any]], size: Size, where: str) -> bytes:
    outlines = [entry.get("segmentation") or [] for entry in entries]
    # Each outline is drawn on a mask of its own.
    drawn = sum(max(1, len(outline)) for outline in outlines if isinstance(outline, list))
    check_mask_area(max(drawn, len(outlines)), size, where)
    masks = (draw_segmentation(outline, size, where) for outline in outlines)
    return encode_runs(masks, len(outlines), size)
