"""Six photos with a class and boxes each: what every data set of tests/data and of layouts holds.

The files are committed, so that data sets written elsewhere, by libraries that tests do not
install, hold the very same bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "data" / "samples"
CLASSES = ("cat", "dog", "tree")
BOX_CLASSES = ("Car", "Pedestrian", "Truck")  # three of KITTI's, whose classes are fixed


@dataclass(frozen=True)
class Sample:
    """One photo; boxes are left, top, right, bottom in pixels."""

    name: str
    label: str
    height: int
    width: int
    boxes: tuple[tuple[float, float, float, float], ...]
    box_labels: tuple[str, ...]

    @property
    def data(self) -> bytes:
        """The JPEG file."""
        return (FOLDER / self.name).read_bytes()


def load_samples() -> list[Sample]:
    """All of them, in the order of their names."""
    rows = json.loads((FOLDER / "samples.json").read_text(encoding="utf-8"))
    return [
        Sample(
            row["name"],
            row["label"],
            row["height"],
            row["width"],
            tuple(map(tuple, row["boxes"])),
            tuple(row["box_labels"]),
        )
        for row in rows
    ]
