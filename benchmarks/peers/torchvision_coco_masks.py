"""torchvision's CocoDetection with the masks of its objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.case import Case
from benchmarks.coco_set import INSTANCES
from benchmarks.peers.torchvision_coco import loader_on, versions

__all__ = ["batches", "label", "versions"]

label = "torchvision CocoDetection, DataLoader, masks"


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    return loader_on(INSTANCES, case, cores, ("boxes", "labels", "image_id", "masks"))
