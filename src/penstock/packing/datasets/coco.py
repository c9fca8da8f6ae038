"""COCO's json: objects with boxes, masks and keypoints; also captions, plain labels and panoptic.

Category ids have gaps, so `box_labels` count the categories in the order of their ids; loaders
deliver the ids, which the table `box_class_ids` holds. `category_ids` keeps the json's own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.packing.datasets.annotations import (
    boxes_from_corner_and_size,
    check_mask_area,
    draw_segmentation,
    image_size,
    note_odd_boxes,
)
from penstock.packing.datasets.coco_index import (
    CocoImages,
    CocoIndex,
    choose_coco_file,
    coco_files,
    read_coco_index,
)
from penstock.packing.datasets.files import read_bytes, recognise_file, safe_name
from penstock.packing.datasets.layout_source import Asked, Findings, Layout, LayoutSource
from penstock.packing.items import (
    BOX_LABELS,
    BOXES,
    LABEL,
    MASKS,
    Column,
    PackItem,
    keypoints_column,
)
from penstock.packing.mask_runs import encode_runs

IMAGE_ID = Column("image_id", "fixed", "int64")
# One value per box:
CATEGORY_IDS = Column("category_ids", "ragged", "int64")  # COCO's own
CROWD = Column("iscrowd", "ragged", "int64")  # 1 if it holds many objects
SEGMENT_IDS = Column("segment_ids", "ragged", "int64")  # its colour in `panoptic`
# One value per image:
PANOPTIC = Column("panoptic", "bytes")  # the PNG file as it is
CAPTIONS = Column("captions", "text")  # a JSON list of strings
LABELS = Column("labels", "ragged", "int64")  # any number of classes

RENUMBERED = (
    "categories got numbers of their own, as their ids begin below 1, where detection models have "
    "the background, or are too large to count classes"
)
STRAY = "annotations are of images that the file does not list, and were left out"


def recognise_coco(path: str) -> str | None:
    """Recognise a json file, or a folder that holds one of COCO's."""
    if os.path.isfile(path):
        return recognise_file(path, (".json",))
    files = sorted(coco_files(path).values())
    return os.path.relpath(files[0], path) if files else None


def open_coco(path: str, asked: Asked) -> LayoutSource:
    """Open one COCO file: the json file itself, or that of a split in a folder.

    Keypoints in a `person_keypoints_<split>.json` beside `instances_<split>.json` come along.
    """
    if os.path.isdir(path):
        path = choose_coco_file(path, asked)
    index = read_coco_index(path)
    if not len(index.image_ids):
        raise SourceError(f"{index.title}: its list of images is empty.")
    images = CocoImages.beside(path, index, asked.images)
    if "segments_info" in index.fields:
        return _panoptic(path, index, images)
    if "bbox" not in index.fields and "caption" in index.fields:
        return _captions(index, images)
    if "bbox" not in index.fields and "category_id" in index.fields:
        return _labels(index, images)
    return _objects(index, images, _keypoints_beside(path, index))


COCO = Layout("coco", recognise_coco, open_coco, images=True)


@dataclass(frozen=True, slots=True)
class _Image:
    """One image of a COCO file, with its annotations."""

    id: int
    entry: dict[str, Any]
    annotations: list[dict[str, Any]]
    file: Path
    where: str


def _source(
    index: CocoIndex,
    images: CocoImages,
    columns: tuple[Column, ...],
    values: Callable[[_Image], dict[str, Any]],
    unmasked: Callable[[_Image], dict[str, Any]] | None = None,
    **facts: Any,
) -> LayoutSource:
    def read(values: Callable[[_Image], dict[str, Any]], position: int) -> PackItem:
        image_id, entry = int(index.image_ids[position]), index.image(position)
        name, file = images.find(entry)
        where = f"{index.title}, image {image_id} ({name})"
        image = _Image(image_id, entry, index.annotations(image_id), file, where)
        return PackItem(name, file, values(image))

    return LayoutSource(
        kind="coco",
        title=index.title,
        columns=columns,
        read=partial(read, values),
        length=len(index.image_ids),
        read_unmasked=None if unmasked is None else partial(read, unmasked),
        **facts,
    )


def _objects(index: CocoIndex, images: CocoImages, keypoints: CocoIndex | None) -> LayoutSource:
    columns = [IMAGE_ID, BOXES, BOX_LABELS, CATEGORY_IDS, CROWD]
    findings = Findings()
    if "segmentation" in index.fields:
        columns.append(MASKS)
    if keypoints is not None and keypoints.keypoints is not None:
        columns.append(keypoints_column(keypoints.keypoints))

    reader = _ObjectReader(index, keypoints, findings)

    renumbered = len(index.label_of) if index.class_ids != tuple(index.label_of) else 0
    listed = np.isin(index.annotation_images, index.image_ids)
    stray = int(np.count_nonzero(~listed))
    return _source(
        index,
        images,
        tuple(columns),
        reader.values,
        replace(reader, masks=False).values,
        box_classes=index.names,
        box_class_ids=index.class_ids,
        details=f"{len(index.annotation_images):,} boxes",
        findings=findings,
        known=((RENUMBERED, index.title, renumbered), (STRAY, index.title, stray)),
    )


def _keypoints_beside(path: str, index: CocoIndex) -> CocoIndex | None:
    if index.keypoints is not None:
        return index
    folder, name = os.path.split(path)
    beside = os.path.join(folder, name.replace("instances_", "person_keypoints_", 1))
    if beside == path or not os.path.exists(beside):
        return None
    return read_coco_index(beside)


@dataclass(frozen=True, slots=True)
class _ObjectReader:
    index: CocoIndex
    keypoints: CocoIndex | None
    findings: Findings
    masks: bool = True

    def values(self, image: _Image) -> dict[str, Any]:
        entries, where = image.annotations, image.where
        boxes = boxes_from_corner_and_size([_bbox(entry, where) for entry in entries], where)
        size = _size(image.entry)
        note_odd_boxes(boxes, size, self.findings, where)
        labels = [self.index.label(entry, where) for entry in entries]
        values = {
            "image_id": image.id,
            "boxes": boxes,
            "box_labels": np.array(labels, np.int64),
            "category_ids": np.array([entry["category_id"] for entry in entries], np.int64),
            "iscrowd": np.array([bool(entry.get("iscrowd", 0)) for entry in entries], np.int64),
        }
        if "segmentation" in self.index.fields and self.masks:
            if entries and size is None:
                size = image_size(image.file, where, self.findings)
            values["masks"] = _masks(entries, size, where) if size else b""
        if self.keypoints is not None and self.keypoints.keypoints is not None:
            values["keypoints"] = self._points(image, self.keypoints)
        return values

    def _points(self, image: _Image, source: CocoIndex) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return one row per object; objects without keypoints have zeros, so none is visible."""
        entries = image.annotations
        given = entries if source is self.index else source.annotations(image.id)
        points_of = {entry.get("id"): entry.get("keypoints") for entry in given}
        points = source.keypoints or 0
        none = [0.0] * (3 * points)
        rows = [points_of.get(entry.get("id")) or none for entry in entries]
        try:
            return np.array(rows, np.float32).reshape(len(rows), points, 3)
        except (ValueError, TypeError, OverflowError) as error:
            raise SourceError(f"{image.where}: keypoints must be numbers ({error}).") from error


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


def _captions(index: CocoIndex, images: CocoImages) -> LayoutSource:
    """Read images with sentences about them."""

    def values(image: _Image) -> dict[str, Any]:
        texts = [str(entry.get("caption", "")) for entry in image.annotations]
        return {"captions": json.dumps(texts, ensure_ascii=False)}

    return _source(index, images, (CAPTIONS,), values)


def _labels(index: CocoIndex, images: CocoImages) -> LayoutSource:
    """Read images with categories but no boxes: one per image, or any number."""
    owners, counts = np.unique(index.annotation_images, return_counts=True)
    single = bool(np.all(counts == 1)) and np.array_equal(owners, np.sort(index.image_ids))

    def values(image: _Image) -> dict[str, Any]:
        labels = [index.label(entry, image.where) for entry in image.annotations]
        return {"label": labels[0]} if single else {"labels": np.array(labels, np.int64)}

    return _source(index, images, (LABEL if single else LABELS,), values, classes=index.names)


def _panoptic(path: str, index: CocoIndex, images: CocoImages) -> LayoutSource:
    """Read images with a PNG that colours every pixel by its segment."""
    folder = os.path.splitext(path)[0]

    def values(image: _Image) -> dict[str, Any]:
        entries, where = image.annotations, image.where
        if len(entries) > 1:
            raise SourceError(f"{where}: {len(entries)} panoptic annotations; one is needed.")
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
                f"{where}: segments_info needs an id and a bbox per segment ({error!r})."
            ) from error
        labels = np.array([index.label(segment, where) for segment in segments], np.int64)
        return {
            "boxes": boxes,
            "box_labels": labels,
            "iscrowd": crowd,
            "segment_ids": ids,
            "panoptic": png,
        }

    return _source(
        index,
        images,
        (BOXES, BOX_LABELS, CROWD, SEGMENT_IDS, PANOPTIC),
        values,
        box_classes=index.names,
        box_class_ids=index.class_ids,
        details="panoptic",
    )
