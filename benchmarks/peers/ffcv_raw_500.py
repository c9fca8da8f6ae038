"""FFCV on photos of at most 500 pixels, stored as pixels."""

from __future__ import annotations

from pathlib import Path

from benchmarks.case import Case
from benchmarks.peers.ffcv_pipeline import batches, versions, write_as

__all__ = ["batches", "label", "versions", "write"]

label = "FFCV, raw, 500 px"


def write(case: Case, folder: Path, _cores: int) -> None:
    """Write the photos."""
    write_as(case, folder, "raw", 500)
