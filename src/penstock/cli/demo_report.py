"""What the demo found, as a table for people and as JSON for programs."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from penstock.analysis.cores import CAN_PIN
from penstock.cli.demo_loaders import CROP_PX, Work

PENSTOCK = "penstock"
TORCHVISION = "torchvision"


@dataclass(frozen=True, slots=True)
class Row:
    """One loader on a number of cores; rates and ratios have an entry a timed pass."""

    loader: str
    version: str
    cores: int
    images_per_s: tuple[float, ...]
    ratios: tuple[float, ...] | None  # to torchvision's rate in the same round
    first_batch_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures under names with units."""
        return {
            "loader": self.loader,
            "version": self.version,
            "cores": self.cores,
            "images_per_s": round(median(self.images_per_s), 1),
            "images_per_s_lowest": round(min(self.images_per_s), 1),
            "images_per_s_highest": round(max(self.images_per_s), 1),
            "ratio_to_torchvision": None if self.ratios is None else round(median(self.ratios), 3),
            "first_batch_s": round(self.first_batch_s, 4),
        }


@dataclass(slots=True)
class Report:
    """The demo's result."""

    work: Work
    passes: int
    rows: list[Row] = field(default_factory=list)
    identical: int = 0
    compared: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def all_identical(self) -> bool:
        """False if an image was compared and differed."""
        return self.identical == self.compared

    def to_json(self) -> str:
        """Return everything as JSON."""
        photos, photos_bytes = _photos(self.work.folder)
        return json.dumps(
            {
                "folder": self.work.folder,
                "photos": photos,
                "photos_bytes": photos_bytes,
                "crop_px": CROP_PX,
                "batch_size": self.work.batch_size,
                "passes": self.passes,
                "pinned": CAN_PIN,
                "python": platform.python_version(),
                "machine": platform.machine(),
                "rows": [row.to_dict() for row in self.rows],
                "images_compared": self.compared,
                "images_identical": self.identical,
                "notes": self.notes,
            },
            indent=2,
        )

    def print(self) -> None:
        """Print the report on stdout."""
        from rich.console import Console

        console = Console(highlight=False, soft_wrap=True)
        photos, photos_bytes = _photos(self.work.folder)
        console.print(
            f"{photos:,} sample photos, {photos_bytes / 1e6:,.1f} MB, in {self.work.folder}\n"
            f"RandomResizedCrop({CROP_PX}), flip, normalise to float32; batches of "
            f"{self.work.batch_size}; timed passes of each, in turn: {self.passes}",
            markup=False,
        )
        console.print(_table(self.rows))
        if self.compared:
            colour = "green" if self.all_identical else "bold red"
            console.print(
                f"[{colour}]{self.identical} of {self.compared} images compared are bit-identical "
                f"to torchvision's for the same boxes and flips.[/]"
            )
        for note in self.notes:
            console.print(note, markup=False)


def _table(rows: list[Row]) -> Any:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("loader", no_wrap=True)
    for name in ("cores", "images/s", "range", "ratio", "first batch"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            f"{row.loader} {row.version}",
            f"{row.cores}",
            f"{median(row.images_per_s):,.0f}",
            f"{min(row.images_per_s):,.0f}-{max(row.images_per_s):,.0f}",
            "" if row.ratios is None else f"{median(row.ratios):.2f}x",
            duration(row.first_batch_s),
            style="bold" if row.loader == PENSTOCK else None,
        )
    return table


def duration(seconds: float) -> str:
    """Return a time in the unit people would use."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.1f} s"


def _photos(folder: str) -> tuple[int, int]:
    sizes = [photo.stat().st_size for photo in Path(folder).rglob("*.jpg")]
    return len(sizes), sum(sizes)
