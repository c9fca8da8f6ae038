"""torch's DataLoader as the DataLoader-based peers use it: a worker for each core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from benchmarks.case import Case

Prepare = Callable[[str], torch.Tensor]


class PathDataset(Dataset[tuple[torch.Tensor, int]]):
    """Image files and labels; `prepare` does everything from the path to the tensor."""

    def __init__(self, case: Case, prepare: Prepare) -> None:
        self.paths = case.paths
        self.labels = case.labels
        self.prepare = prepare

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.prepare(self.paths[index]), self.labels[index]


def make_data_loader(
    case: Case,
    cores: int,
    prepare: Prepare,
    on_worker_start: Callable[[int], None] | None = None,
) -> DataLoader[Any]:
    """Return a DataLoader whose workers live on from pass to pass, as in a long training run."""
    torch.set_num_threads(1)
    torch.manual_seed(case.seed)
    return DataLoader(
        PathDataset(case, prepare),
        batch_size=case.batch_size,
        shuffle=True,
        num_workers=cores,
        persistent_workers=True,
        worker_init_fn=on_worker_start,
    )
