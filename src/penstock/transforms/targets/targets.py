"""The objects in a batch's images, however many each image has, as flat arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.geometry import Bools, Ints
from penstock.transforms.targets.box_format import BoxFormat, Pixels, from_corners


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Objects, a row each: those of sample `i` are rows offsets[i] to offsets[i + 1].

    What is not given is None for all of them. Whatever drops an object drops its whole row. Masks
    are images, which the core moves; to know which masks of single objects are left, carry their
    numbers as an extra column.
    `read_targets` makes one from what a data set says, and checks it.
    """

    offsets: Ints  # (samples + 1,), from 0, never falling
    boxes: Pixels | None = None  # (objects, 4): left, top, right, bottom
    labels: Ints | None = None  # (objects,)
    keypoints: Pixels | None = None  # (objects, points, 3): x, y, visibility
    extras: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)  # (objects, ...) by name
    format: BoxFormat = BoxFormat.XYXY  # in which the boxes are delivered
    whole: Bools | None = None  # (samples,): whose boxes are int64, cut off after every move

    @staticmethod
    def empty(samples: int) -> Targets:
        """No objects in any of so many samples."""
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
        """The samples of several, one after the other; all have the same columns."""
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

    def formatted_boxes(self) -> Pixels | None:
        """The boxes as they are delivered."""
        return None if self.boxes is None else from_corners(self.boxes, self.format)

    def pick(self, rows: Ints | Bools) -> Targets:
        """The targets of some samples, in the order asked for; or where a mask is true."""
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

    def moved(self, boxes: Pixels | None, keypoints: Pixels | None) -> Targets:
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
