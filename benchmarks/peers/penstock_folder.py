"""penstock reading the JPEG files as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import PIL
import torch

import penstock
from benchmarks.case import Case
from penstock import transforms as T

label = "penstock, folder"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"penstock": penstock.__version__, "Pillow": PIL.__version__, "torch": torch.__version__}


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a loader with a thread for each core."""
    torch.set_num_threads(1)
    return penstock.Loader(
        list(case.paths),
        labels=list(case.labels),
        batch_size=case.batch_size,
        transform=T.Compose(
            [
                T.RandomResizedCrop(case.crop_px),
                T.RandomHorizontalFlip(),
                T.Normalize(case.mean, case.std),
            ]
        ),
        shuffle=True,
        seed=case.seed,
        threads=cores,
        output="torch",
    )
