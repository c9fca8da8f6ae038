"""`inspect`: what is inside a packed data set, in figures or as a sheet of small pictures."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from penstock.drawing import NO_BOXES, Boxes, draw_cell, join_cells
from penstock.errors import PackError
from penstock.limits import Limits, obeying_limits
from penstock.packing.format import STORAGES
from penstock.packing.index import KEEP_JPEG
from penstock.packing.items import Column
from penstock.packing.read import PackFile
from penstock.packing.records import read_image
from penstock.packing.shards import PackSet, open_packed
from penstock.packing.summary import Summary, summarise

ODD_SHOWN = 10
# Of the contact sheet:
CELL_PX = 192
COLUMNS = 8
MOST_IMAGES = 64
_CAPTION_LETTERS = 30


@dataclass(frozen=True, slots=True)
class Inspection:
    """A packed data set in figures and names."""

    path: str
    versions: tuple[int, ...]  # of the format, in which its files are written
    summary: Summary
    height_px: tuple[int, int, int] | None  # smallest, median, largest; None without samples
    width_px: tuple[int, int, int] | None
    turned: int  # images with an EXIF orientation other than upright
    columns: dict[str, str]
    classes: tuple[str, ...] | None
    box_classes: tuple[str, ...] | None
    odd: dict[str, tuple[int, str]]  # a reason not to store as usual: how many files, the first one

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        facts = asdict(self)
        del facts["summary"]
        facts["odd"] = {
            reason: {"files": count, "first": first} for reason, (count, first) in self.odd.items()
        }
        return {"path": self.path, **self.summary.to_dict(), **facts}

    def lines(self) -> list[str]:
        """Return it for people."""
        files = self.summary.files
        versions = " and ".join(map(str, self.versions))
        lines = [
            f"{self.path}: {files:,} file{'' if files == 1 else 's'}, format {versions}",
            *self.summary.lines(),
        ]
        if self.height_px and self.width_px:
            lines.append(
                "height x width: {}x{} at least, {}x{} median, {}x{} at most; {:,} turned".format(
                    *(side for pair in zip(self.height_px, self.width_px) for side in pair),  # noqa: B905
                    self.turned,
                )
            )
        for name, kind in self.columns.items():
            lines.append(f"column {name}: {kind}")
        for name, classes in (("classes", self.classes), ("box classes", self.box_classes)):
            if classes is not None:
                shown = ", ".join(classes[:5]) + (", ..." if len(classes) > 5 else "")
                lines.append(f"{len(classes):,} {name}: {shown}")
        by_count = sorted(self.odd.items(), key=lambda entry: -entry[1][0])
        for reason, (count, first) in by_count[:ODD_SHOWN]:
            lines.append(f"odd: {count:,} x {reason} (first: {first})")
        return lines


def inspect(packed: str | os.PathLike[str]) -> Inspection:
    """Look at a packed file or folder."""
    data = open_packed(packed)
    with data.watched():
        return Inspection(
            path=os.fspath(packed),
            versions=tuple(sorted({file.version for file in data.files})),
            summary=summarise(data),
            height_px=_spread(data, "height"),
            width_px=_spread(data, "width"),
            turned=sum(int(np.count_nonzero(file.facts("orientation") > 1)) for file in data.files),
            columns={column.name: _kind(column) for column in data.schema},
            classes=data.table("classes"),
            box_classes=data.table("box_classes"),
            odd=_odd(data),
        )


def _spread(data: PackSet, column: str) -> tuple[int, int, int] | None:
    sides = np.concatenate([file.facts(column) for file in data.files])
    if not len(sides):
        return None
    return int(sides.min()), int(np.median(sides)), int(sides.max())


def _kind(column: Column) -> str:
    rows = ("any", *column.shape) if column.kind == "ragged" else column.shape
    return f"{column.dtype} ({', '.join(map(str, rows))})" if column.dtype else column.kind


def _odd(data: PackSet) -> dict[str, tuple[int, str]]:
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    kept = KEEP_JPEG in (data.table("settings") or ())
    usual = STORAGES.index("jpeg" if kept else "dct")
    for file in data.files:
        candidates = np.flatnonzero(
            (file.facts("storage") != usual) | (file.facts("restores") != 0)
        )
        for index in candidates.tolist():
            sample = file.sample(index)
            reason = f"{sample.storage}: {sample.note or 'no reason noted'}"
            counts[reason] += 1
            first.setdefault(reason, sample.name)
    return {reason: (count, first[reason]) for reason, count in counts.items()}


@obeying_limits
def make_contact_sheet(
    packed: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    images: int = MOST_IMAGES,
    limits: Limits | None = None,  # noqa: ARG001 (obeying_limits reads it)
) -> int:
    """Write a PNG of up to `images` samples, evenly chosen; return how many there are."""
    data = open_packed(packed)
    count = min(images, len(data))
    if not count:
        raise PackError(f"{data.path}: has no samples to show.")
    with data.watched():
        classes, box_classes = data.table("classes"), data.table("box_classes")
        places = [data.locate(number * len(data) // count) for number in range(count)]
        cells = [
            draw_cell(
                read_image(file, index),
                _caption(file, index, classes),
                _boxes(file, index, box_classes),
                side_px=CELL_PX,
            )
            for file, index in places
        ]
    sheet = join_cells(cells, COLUMNS)
    try:
        sheet.save(target, "PNG")
    except OSError as error:
        raise PackError(f"{os.fspath(target)}: cannot be written ({error}).") from error
    return count


def _boxes(file: PackFile, index: int, names: tuple[str, ...] | None) -> Boxes:
    reader = file.columns.get("boxes")
    if reader is None or reader.column.kind != "ragged" or reader.column.shape != (4,):
        return NO_BOXES
    labels, numbers = file.columns.get("box_labels"), []
    if labels is not None and "int" in labels.column.dtype:
        numbers = np.ravel(labels[index]).astype(np.int64).tolist()
    return Boxes(np.asarray(reader[index], np.float64), numbers, names)


def _caption(file: PackFile, index: int, classes: tuple[str, ...] | None) -> str:
    label = file.columns.get("label")
    if label is None or label.column.kind != "fixed" or label.column.shape:
        return file.name(index)[-_CAPTION_LETTERS:]
    value = label[index]
    if classes is not None and value.dtype.kind in "biu" and 0 <= int(value) < len(classes):
        return classes[int(value)][:_CAPTION_LETTERS]
    return str(value)[:_CAPTION_LETTERS]
