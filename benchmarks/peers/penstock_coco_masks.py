"""penstock on a packed COCO data set, with its boxes and the masks of its objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.case import Case
from benchmarks.coco_set import PACKED_WITH_MASKS
from benchmarks.peers.penstock_coco import loader_on, versions

__all__ = ["batches", "label", "versions"]

label = "penstock, .pen, masks"


class WithMasks:
    """Batches that have masks: those without would be measured for nothing."""

    def __init__(self, batches: Iterable[tuple[Any, Any]]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for images, targets in self._batches:
            if "masks" not in targets[0]:
                raise TypeError(f"expected masks in the targets, got {list(targets[0])}")
            yield images, targets


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a loader on a packed file with masks."""
    return WithMasks(loader_on(PACKED_WITH_MASKS, case, cores, masks=True))
