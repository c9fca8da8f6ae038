"""A batch that was delivered once, made again: what it is, and what was drawn for its samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.geometry import Ints
from penstock.loading.failures import LedgerEntry
from penstock.loading.levels import Levels
from penstock.printable import printable
from penstock.sources import Labels
from penstock.transforms.drawn import DrawnOp
from penstock.transforms.targets import Targets

_MOST_NUMBERS = 6  # of a label that is a vector, in words


@dataclass(frozen=True, slots=True)
class Where:
    """Which batch of a training it is."""

    epoch: int
    step: int  # from 0, counted from the beginning of the epoch
    rank: int
    world_size: int

    def __str__(self) -> str:
        ranks = f", rank {self.rank} of {self.world_size}" if self.world_size > 1 else ""
        return f"epoch {self.epoch}, step {self.step}{ranks}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PastBatch:
    """A batch of an epoch, as `batch_at` of a loader makes it again.

    Everything but `batch` has one entry for each image of the batch, in their order. Printed, it is
    a table of what was drawn.

    - `batch`: exactly what iterating delivered; None if every file of it was left out.
    - `epoch`, `step`, `rank`, `world_size`: which batch it is.
    - `samples`: positions in the data set; `names`: the files.
    - `labels`: labels of whole images as the data set has them, or None.
    - `targets`: where there are boxes or keypoints, a dictionary of arrays for each image, after
      the transforms; else None.
    - `drawn`: for each image a `DrawnOp` per transform, in the order written. Those that only
      convert values, such as ToDtype and Normalize, draw nothing and are left out.
    - `left_out`: files that could not be read, with what was done about them.
    """

    batch: Any
    where: Where
    samples: Ints
    names: tuple[str, ...]
    labels: Labels | None
    targets: tuple[dict[str, Any], ...] | None
    drawn: tuple[tuple[DrawnOp, ...], ...]
    left_out: tuple[LedgerEntry, ...]
    classes: tuple[str, ...] | None  # names of labels
    box_classes: tuple[str, ...] | None  # names of the labels of boxes
    levels: Levels
    objects: Targets | None  # what `targets` are made of

    @property
    def epoch(self) -> int:
        """The epoch."""
        return self.where.epoch

    @property
    def step(self) -> int:
        """The number of the batch in its epoch, from 0."""
        return self.where.step

    @property
    def rank(self) -> int:
        """The rank that it was delivered to."""
        return self.where.rank

    @property
    def world_size(self) -> int:
        """How many ranks shared the epoch."""
        return self.where.world_size

    def __len__(self) -> int:
        return len(self.samples)

    def pixels(self, position: int, view: int = 0) -> npt.NDArray[np.uint8]:
        """Return an image of the batch as it was before ToDtype and Normalize: (height, width, 3).

        What came after them, such as RandomErasing and MixUp, is in it. It is read from the memory
        of `batch`: whoever writes there changes it.
        """
        return self.levels.of(position, view)

    def corners(self, position: int) -> npt.NDArray[np.float32]:
        """Return the boxes of an image: (boxes, 4), left, top, right, bottom in its pixels."""
        if self.objects is None or self.objects.boxes is None:
            return np.zeros((0, 4), dtype=np.float32)
        start, end = self.objects.offsets[position : position + 2].tolist()
        return self.objects.boxes[start:end]

    def label_words(self, position: int) -> str:
        """Return the label of an image in words; empty if it has none."""
        if self.labels is None:
            return ""
        return _say_label(self.labels[position], self.classes)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the batch itself, for JSON."""
        images = [
            {
                "position": position,
                "sample": int(sample),
                "name": self.names[position],
                "label": None if self.labels is None else self.labels[position].tolist(),
                "class": self.label_words(position) or None,
                "targets": None if self.targets is None else _plain(self.targets[position]),
                "drawn": [one.to_dict() for one in self.drawn[position]],
            }
            for position, sample in enumerate(self.samples)
        ]
        left_out = [
            {"sample": one.sample, "file": one.file, "event": one.event, "reason": one.reason}
            for one in self.left_out
        ]
        where = {"epoch": self.epoch, "step": self.step}
        where |= {"rank": self.rank, "world_size": self.world_size}
        return {**where, "images": images, "left_out": left_out}

    def describe(self) -> str:
        """Return a table: for each image its file and label, then a line for each transform."""
        count = f"{len(self)} image{'' if len(self) == 1 else 's'}"
        lines = [f"{self.where}: {count}", *_align(list(self._rows()))]
        lines += [f"left out: {entry}" for entry in self.left_out]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"PastBatch({self.where}: {len(self)} images; print it to see what was drawn)"

    def _rows(self) -> Iterator[tuple[str, ...]]:
        yield "", "sample", "file", "label", "size", "transform", "drawn"
        for position, sample in enumerate(self.samples.tolist()):
            label = printable(self.label_words(position))
            head = (f"{position}", f"{sample}", printable(self.names[position]), label)
            for one in self.drawn[position] or (None,):
                said = ("", "", "") if one is None else (str(one.saw), _op_name(one), one.words)
                yield (*head, *said)
                head = ("", "", "", "")


def _op_name(one: DrawnOp) -> str:
    return one.op if one.view is None else f"{one.op} (view {one.view})"


def _align(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns of one width each; those of numbers end at the same place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = (0, 1)
    return [
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _say_label(label: Any, classes: tuple[str, ...] | None) -> str:
    values = np.asarray(label)
    if values.ndim == 0 and values.dtype.kind in "iu" and classes is not None:
        number = int(values)
        return classes[number] if 0 <= number < len(classes) else str(number)
    if values.ndim == 0:
        return f"{values[()]:g}"
    some = ", ".join(f"{one:g}" for one in values.reshape(-1)[:_MOST_NUMBERS].tolist())
    return f"[{some}{', ...' if values.size > _MOST_NUMBERS else ''}]"


def _plain(target: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in target.items()
    }
