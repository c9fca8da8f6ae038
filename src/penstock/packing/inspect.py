"""`inspect`: what is inside a packed data set, without decoding it."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.packing.format import STORAGES
from penstock.packing.shards import PackSet, open_packed
from penstock.packing.summary import Summary, summarise

ODD_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Inspection:
    """A packed data set in figures and names."""

    path: str
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
        return {
            "path": self.path,
            **self.summary.to_dict(),
            "height_px": self.height_px,
            "width_px": self.width_px,
            "turned": self.turned,
            "columns": self.columns,
            "classes": self.classes,
            "box_classes": self.box_classes,
            "odd": {
                reason: {"files": count, "first": first}
                for reason, (count, first) in self.odd.items()
            },
        }

    def lines(self) -> list[str]:
        """Return it for people."""
        files = self.summary.files
        lines = [f"{self.path}: {files:,} file{'' if files == 1 else 's'}", *self.summary.lines()]
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
        return _inspect(data, os.fspath(packed))


def _inspect(data: PackSet, path: str) -> Inspection:
    return Inspection(
        path=path,
        summary=summarise(data),
        height_px=_spread(data, "height"),
        width_px=_spread(data, "width"),
        turned=sum(int(np.count_nonzero(file.facts("orientation") > 1)) for file in data.files),
        columns={
            column.name: _kind(column.kind, column.dtype, column.shape) for column in data.schema
        },
        classes=data.table("classes"),
        box_classes=data.table("box_classes"),
        odd=_odd(data),
    )


def _spread(data: PackSet, column: str) -> tuple[int, int, int] | None:
    sides = np.concatenate([file.facts(column) for file in data.files])
    if not len(sides):
        return None
    return int(sides.min()), int(np.median(sides)), int(sides.max())


def _kind(kind: str, dtype: str, shape: tuple[int, ...]) -> str:
    rows = ("any", *shape) if kind == "ragged" else shape
    return f"{dtype} ({', '.join(map(str, rows))})" if dtype else kind


def _odd(data: PackSet) -> dict[str, tuple[int, str]]:
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for file in data.files:
        usual = STORAGES.index("dct")
        candidates = np.flatnonzero(
            (file.facts("storage") != usual) | (file.facts("restores") != 0)
        )
        for index in candidates.tolist():
            sample = file.sample(index)
            reason = f"{sample.storage}: {sample.note or 'no reason noted'}"
            counts[reason] += 1
            first.setdefault(reason, sample.name)
    return {reason: (count, first[reason]) for reason, count in counts.items()}
