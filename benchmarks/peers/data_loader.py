"""torch's DataLoader as the DataLoader-based peers use it: a worker for each core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

from benchmarks.case import Case

Prepare = Callable[[Any], torch.Tensor]


class Samples(Dataset[tuple[torch.Tensor, int]]):
    """Images with labels; `prepare` does everything from a path, or an array, to the tensor."""

    def __init__(self, images: Sequence[Any], labels: Sequence[int], prepare: Prepare) -> None:
        self.images = images
        self.labels = labels
        self.prepare = prepare

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.prepare(self.images[index]), self.labels[index]


def make_data_loader(
    case: Case,
    cores: int,
    prepare: Prepare,
    on_worker_start: Callable[[int], None] | None = None,
) -> DataLoader[Any]:
    """Return a DataLoader whose workers live on from epoch to epoch, as in a long training run."""
    torch.set_num_threads(1)
    torch.manual_seed(case.seed)
    samples = Samples(images_of(case), case.labels, prepare)
    return DataLoader(
        samples,
        batch_size=case.batch_size,
        sampler=RandomSampler(samples, num_samples=case.samples),  # one permutation after another
        num_workers=cores,
        persistent_workers=True,
        worker_init_fn=on_worker_start,
    )


def images_of(case: Case) -> Sequence[Any]:
    """Return the paths; or where tiny images are kept in memory, arrays of height, width, 3."""
    if not case.arrays:
        return case.paths
    import numpy as np

    arrays: Sequence[Any] = np.load(case.arrays)[: len(case.paths)]
    return arrays
