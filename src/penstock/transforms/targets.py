"""Targets: the objects in the images of a batch, with their boxes, labels and keypoints.

However many objects each image has, they are rows of flat arrays. Boxes come in three formats;
inside, all of them are corners: left, top, right, bottom. `read_targets` makes Targets from what a
data set says, and checks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import TransformError
from penstock.geometry import Bools, Floats, Ints
from penstock.transforms.arguments import MAX_SIDE_PX

Places = npt.NDArray[np.float32]  # in pixels from the upper left corner of the image


class BoxFormat(Enum):
    """What the four numbers of a box are, in pixels; torchvision has the same names."""

    XYXY = "XYXY"  # left, top, right, bottom
    XYWH = "XYWH"  # left, top, width, height
    CXCYWH = "CXCYWH"  # middle across, middle down, width, height


def read_box_format(where: str, given: Any) -> BoxFormat:
    """From one of ours, torchvision's of the same name, or the name in upper or lower case."""
    name = getattr(given, "value", given)
    if not isinstance(name, str) or name.upper() not in BoxFormat.__members__:
        raise TransformError(f"{where}: format must be XYXY, XYWH or CXCYWH, got {given!r}.")
    return BoxFormat[name.upper()]


def to_corners(boxes: Floats, box_format: BoxFormat) -> Floats:
    """Boxes (n, 4) of some format as corners."""
    if box_format == BoxFormat.XYXY:
        return boxes
    place, extent = boxes[:, :2], boxes[:, 2:]
    near = place if box_format == BoxFormat.XYWH else place - extent / 2
    return np.concatenate([near, near + extent], axis=1)


def from_corners(corners: Places, box_format: BoxFormat) -> Places:
    """Corners (n, 4) as boxes of some format."""
    if box_format == BoxFormat.XYXY:
        return corners
    near, far = corners[:, :2], corners[:, 2:]
    place = near if box_format == BoxFormat.XYWH else (near + far) / 2
    return np.concatenate([place, far - near], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """A row for each object: those of sample `i` are rows offsets[i] to offsets[i + 1].

    A column that the data does not have is None. Whatever drops an object drops its whole row.
    Masks are images, which the core moves; to know which masks of single objects are left, carry
    their numbers as an extra column.
    """

    offsets: Ints  # (samples + 1,), from 0, never falling
    boxes: Places | None = None  # (objects, 4): left, top, right, bottom
    labels: Ints | None = None  # (objects,)
    keypoints: Places | None = None  # (objects, points, 3): x, y, visibility
    extras: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)  # (objects, ...) by name
    format: BoxFormat = BoxFormat.XYXY  # in which the boxes are delivered
    whole: Bools | None = None  # (samples,): boxes are int64, and lose fractions after every move

    @staticmethod
    def empty(samples: int) -> Targets:
        """Targets of `samples` samples without objects."""
        return Targets(
            offsets=np.zeros(samples + 1, dtype=np.int64),
            boxes=np.zeros((0, 4), dtype=np.float32),
            labels=np.zeros(0, dtype=np.int64),
        )

    def __len__(self) -> int:
        """How many samples."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> Ints:
        """How many objects each sample has."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> Ints:
        """Which sample, by its row in the batch, each object belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def has_whole_boxes(self) -> bool:
        """Whether the boxes of some samples are whole numbers."""
        return self.whole is not None and bool(self.whole.any())

    @staticmethod
    def join(parts: Sequence[Targets]) -> Targets:
        """Join the samples of several Targets, all of which have the same columns."""
        first = parts[0]
        if len(parts) == 1:
            return first

        def joined(name: str) -> Any:
            columns = [getattr(part, name) for part in parts]
            return None if columns[0] is None else np.concatenate(columns)

        return replace(
            first,
            offsets=_offsets_of(np.concatenate([part.counts for part in parts])),
            boxes=joined("boxes"),
            labels=joined("labels"),
            keypoints=joined("keypoints"),
            whole=joined("whole"),
            extras={
                name: np.concatenate([part.extras[name] for part in parts]) for name in first.extras
            },
        )

    def formatted_boxes(self) -> Places | None:
        """The boxes as they are delivered."""
        return None if self.boxes is None else from_corners(self.boxes, self.format)

    def pick(self, rows: Ints | Bools) -> Targets:
        """The targets of the samples in `rows`, in that order, or of those where a mask is true."""
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        counts = self.counts[chosen]
        offsets = _offsets_of(counts)
        shift = np.repeat(self.offsets[chosen] - offsets[:-1], counts)
        picked = self._take(np.arange(offsets[-1]) + shift, offsets)
        return picked if self.whole is None else replace(picked, whole=self.whole[chosen])

    def keep(self, kept: Bools) -> Targets:
        """Only the objects where `kept` (objects,) is true."""
        if kept.all():
            return self
        counts = np.bincount(self.owners[kept], minlength=len(self))
        return self._take(np.flatnonzero(kept), _offsets_of(counts))

    def moved(self, boxes: Places | None, keypoints: Places | None) -> Targets:
        """The same objects at other places."""
        return replace(self, boxes=boxes, keypoints=keypoints)

    def _take(self, objects: Ints, offsets: Ints) -> Targets:
        return replace(
            self,
            offsets=offsets,
            boxes=None if self.boxes is None else self.boxes[objects],
            labels=None if self.labels is None else self.labels[objects],
            keypoints=None if self.keypoints is None else self.keypoints[objects],
            extras={name: column[objects] for name, column in self.extras.items()},
        )


def _offsets_of(counts: Ints) -> Ints:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])


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
    """Targets of a batch from arrays with a row for each object.

    Sample `i` has rows offsets[i] to offsets[i + 1]. `boxes` are in `format`, in pixels.
    `keypoints` are (objects, points, 2 or 3): x, y and visibility, which is 1 where not given.
    `where` begins the messages of errors.
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
    """Refuse what is not finite, and far-off numbers, which float32 would round too much."""
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
