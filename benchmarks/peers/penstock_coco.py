"""penstock on a packed COCO data set, with its boxes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.case import Case
from benchmarks.coco_set import PACKED
from benchmarks.peers.penstock_pipeline import versions
from penstock import Loader  # now: a name of penstock is imported when it is first used
from penstock import transforms as T

__all__ = ["batches", "label", "versions"]

label = "penstock, .pen"


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a loader on a packed file without masks."""
    return loader_on(PACKED, case, cores)


def loader_on(
    packed: Path, case: Case, cores: int, masks: bool | None = None
) -> Iterable[tuple[Any, Any]]:
    """Return a loader with a thread for each core."""
    torch.set_num_threads(1)
    return Loader(
        packed,
        batch_size=case.batch_size,
        transform=T.detection(
            "ssdlite" if case.iou_crop else "hflip", size=(case.crop_px, case.crop_px)
        ),
        shuffle=True,
        seed=case.seed,
        indices=np.tile(np.arange(len(case.paths)), case.repeats),
        threads=cores,
        masks=masks,
        output="torch",
    )
