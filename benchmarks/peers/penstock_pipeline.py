"""What all forms of penstock in the benchmark have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import PIL
import torch

import penstock
from benchmarks.case import Case
from penstock import transforms as T


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"penstock": penstock.__version__, "Pillow": PIL.__version__, "torch": torch.__version__}


def augmentations(case: Case) -> list[T.RandAugment]:
    """Return the layers asked for, as one transform, or nothing."""
    if not case.augment_layers:
        return []
    return [T.RandAugment(case.augment_layers, case.augment_magnitude)]


def loader_on(data: Any, case: Case, cores: int, **options: Any) -> Iterable[tuple[Any, Any]]:
    """Return a loader on `data` with a thread for each core."""
    torch.set_num_threads(1)
    return penstock.Loader(
        data,
        batch_size=case.batch_size,
        transform=T.Compose(
            [
                T.RandomResizedCrop(case.crop_px),
                T.RandomHorizontalFlip(),
                *augmentations(case),
                T.Normalize(case.mean, case.std),
            ]
        ),
        shuffle=True,
        seed=case.seed,
        threads=cores,
        output="torch",
        **options,
    )
