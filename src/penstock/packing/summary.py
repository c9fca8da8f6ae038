"""What a packed data set holds, in figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from penstock.packing.disk import human_bytes
from penstock.packing.format import RESTORES, STORAGES
from penstock.packing.shards import PackSet

SKIPPED_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts and sizes; `skipped` lists the files left out, each with the reason.

    `notes` say what was odd about the source, where this comes from packing.
    """

    samples: int
    files: int
    bytes: int
    original_bytes: int
    storages: dict[str, int]
    restores: dict[str, int]
    settings: tuple[str, ...]
    columns: tuple[str, ...]  # beside the images
    skipped: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def lossy(self) -> bool:
        """Whether images were re-encoded on request."""
        return bool(self.settings)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        ratio = self.bytes / self.original_bytes if self.original_bytes else None
        return asdict(self) | {"lossy": self.lossy, "bytes_per_original_byte": ratio}

    def lines(self) -> list[str]:
        """Return the figures for people."""
        restores = self.restores
        before = human_bytes(self.original_bytes)
        ratio = f"{self.bytes / self.original_bytes:.3f} x " if self.original_bytes else ""
        size = f"{human_bytes(self.bytes)}, {ratio}the {before} of the originals"
        back = f"{restores['bytes']:,} files byte for byte, {restores['pixels']:,} with identical"
        lines = [
            f"{self.samples:,} samples in {size}",
            f"stored as: {_counts(self.storages)}",
            f"beside the images: {', '.join(self.columns) or 'nothing, so no labels'}",
            f"unpack gives back: {back} pixels, {restores['lossy']:,} changed",
        ]
        if self.lossy:
            lines.append(
                f"LOSSY: packed with {', '.join(self.settings)}; {restores['lossy']:,} images "
                "are not the originals and cannot be restored from this file"
            )
        lines += [f"note: {note}" for note in self.notes]
        if self.skipped:
            lines.append(f"left out: {len(self.skipped):,} files")
            lines += [f"  {entry}" for entry in self.skipped[:SKIPPED_SHOWN]]
            if len(self.skipped) > SKIPPED_SHOWN:
                lines.append(f"  ... and {len(self.skipped) - SKIPPED_SHOWN:,} more (see --json)")
        return lines


def summarise(packed: PackSet) -> Summary:
    """Return the figures of an open data set."""
    return Summary(
        samples=len(packed),
        files=len(packed.files),
        bytes=packed.file_bytes,
        original_bytes=sum(
            int(np.sum(file.facts("original_size"), dtype=np.uint64)) for file in packed.files
        ),
        storages=_tally(packed, "storage", STORAGES),
        restores=_tally(packed, "restores", RESTORES),
        settings=packed.table("settings") or (),
        columns=tuple(column.name for column in packed.schema),
        skipped=tuple(line for file in packed.files for line in file.table("skipped") or ()),
    )


def _tally(packed: PackSet, column: str, names: tuple[str, ...]) -> dict[str, int]:
    counts = np.zeros(256, np.int64)
    for file in packed.files:
        counts += np.bincount(file.facts(column), minlength=256)
    return {name: int(count) for name, count in zip(names, counts, strict=False)}


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing"
