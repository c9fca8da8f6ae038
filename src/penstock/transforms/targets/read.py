"""Targets from what a data set says, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import TransformError
from penstock.geometry import Floats, Ints
from penstock.transforms.arguments import MAX_SIDE_PX
from penstock.transforms.targets.box_format import BoxFormat, read_box_format, to_corners
from penstock.transforms.targets.targets import Targets

_RESERVED = {"boxes", "labels", "keypoints", "image_id", "counts"}  # keys of delivered targets


def read_targets(
    offsets: Any,
    *,
    boxes: Any = None,
    format: BoxFormat | str = BoxFormat.XYXY,
    labels: Any = None,
    keypoints: Any = None,
    extras: Mapping[str, Any] | None = None,
    where: str = "targets",
) -> Targets:
    """Targets of a batch; arrays have a row for each object, and sample `i` has some of them.

    Those are rows offsets[i] to offsets[i + 1]. `boxes` are in `format`, in pixels. `keypoints` are
    (objects, points, 2 or 3): x, y and visibility, which is 1 where not given. `where` begins the
    messages of errors.
    """
    bounds = _read_offsets(where, offsets)
    objects = int(bounds[-1])
    box_format = read_box_format(where, format)
    columns = {} if extras is None else dict(extras)
    reserved = sorted(_RESERVED & columns.keys())
    if reserved:
        raise TransformError(
            f"{where}: an extra column is named {reserved[0]!r}, which has a meaning of its own. "
            f"Rename it."
        )
    return Targets(
        offsets=bounds,
        boxes=None if boxes is None else _read_boxes(where, boxes, box_format, bounds),
        labels=None if labels is None else _read_labels(where, labels, objects),
        keypoints=None if keypoints is None else _read_keypoints(where, keypoints, bounds),
        extras={name: _rows(where, name, column, objects) for name, column in columns.items()},
        format=box_format,
    )


def _read_offsets(where: str, given: Any) -> Ints:
    offsets = np.asarray(given)
    if (
        offsets.ndim != 1
        or not len(offsets)
        or not np.issubdtype(offsets.dtype, np.integer)
        or offsets[0] != 0
        or (np.diff(offsets.astype(np.int64)) < 0).any()
    ):
        raise TransformError(
            f"{where}: offsets must be whole numbers that start at 0 and never fall, one more than "
            f"there are samples, got {given!r}."
        )
    return offsets.astype(np.int64)


def _read_boxes(
    where: str, given: Any, box_format: BoxFormat, offsets: Ints
) -> npt.NDArray[np.float32]:
    boxes = _numbers(where, "boxes", given, int(offsets[-1]))
    if boxes.shape[1:] != (4,):
        raise TransformError(
            f"{where}: boxes must be four numbers for each object, got shape {boxes.shape}."
        )
    corners = to_corners(boxes, box_format)
    _check_places(where, "box", given, corners, offsets)
    return corners.astype(np.float32)


def _read_labels(where: str, given: Any, objects: int) -> Ints:
    labels = _rows(where, "labels", given, objects)
    if labels.ndim != 1 or not (np.issubdtype(labels.dtype, np.integer) or not len(labels)):
        raise TransformError(
            f"{where}: labels must be one whole number for each object, got shape {labels.shape} "
            f"of {labels.dtype}."
        )
    return labels.astype(np.int64)


def _read_keypoints(where: str, given: Any, offsets: Ints) -> npt.NDArray[np.float32]:
    keypoints = _numbers(where, "keypoints", given, int(offsets[-1]))
    if keypoints.ndim != 3 or keypoints.shape[2] not in (2, 3):
        raise TransformError(
            f"{where}: keypoints must be (objects, points, 2 or 3 for x, y and visibility), "
            f"got shape {keypoints.shape}."
        )
    _check_places(where, "keypoints", given, keypoints, offsets)
    if keypoints.shape[2] == 2:
        seen = np.ones((*keypoints.shape[:2], 1))
        keypoints = np.concatenate([keypoints, seen], axis=2)
    return keypoints.astype(np.float32)


def _numbers(where: str, name: str, given: Any, objects: int) -> Floats:
    rows = _rows(where, name, given, objects)
    try:
        return rows.astype(np.float64)
    except (TypeError, ValueError):
        raise TransformError(f"{where}: {name} must be numbers, got {rows.dtype}.") from None


def _rows(where: str, name: str, given: Any, objects: int) -> npt.NDArray[Any]:
    try:
        rows = np.asarray(given)
    except ValueError:
        raise TransformError(
            f"{where}: {name} have rows of different lengths. Give one array with a row for each "
            f"object, and say in offsets which sample has which."
        ) from None
    if rows.ndim == 0 or len(rows) != objects:
        got = "one value" if rows.ndim == 0 else f"{len(rows):,}"
        raise TransformError(
            f"{where}: {name} must have a row for each of the {objects:,} objects that offsets "
            f"count, got {got}."
        )
    return rows


def _check_places(where: str, what: str, given: Any, places: Floats, offsets: Ints) -> None:
    """Far-off numbers are refused too: they would lose their fractions, or become infinite."""
    with np.errstate(invalid="ignore"):
        good = np.abs(places) <= MAX_SIDE_PX
    if good.all():
        return
    wrong = int(np.flatnonzero(~good.reshape(len(good), -1).all(axis=1))[0])
    sample = int(np.searchsorted(offsets, wrong, side="right")) - 1
    raise TransformError(
        f"{where}: {what} {wrong - offsets[sample]} of sample {sample} of the batch is "
        f"{np.asarray(given)[wrong].tolist()}; numbers between -{MAX_SIDE_PX} and {MAX_SIDE_PX} "
        f"are needed. Correct it, or leave it out."
    )
