"""penstock reading photos that were made smaller when they were packed, as FFCV does it.

This is lossy, so its pixels are not torchvision's. A short side of 375 pixels gives photos of 4:3
the long side of 500 that FFCV's usual files have.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.case import Case
from benchmarks.peers import penstock_pipeline
from benchmarks.peers.penstock_pipeline import loader_on, packed_of, versions

__all__ = ["batches", "label", "versions", "write"]

label = "penstock, .pen, short side 375 px"
SHORT_SIDE_PX = 375


def write(case: Case, folder: Path, cores: int) -> None:
    """Pack the images, scaled down."""
    penstock_pipeline.write(case, folder, cores, short_side=SHORT_SIDE_PX)


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a loader on the packed file."""
    return loader_on(packed_of(case), case, cores)
