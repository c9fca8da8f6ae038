"""The samples of one of several processes, in samplers that Lightning leaves as they are.

Lightning replaces samplers unless they are of torch's DistributedSampler's kind. These are, so that
`Trainer(use_distributed_sampler=...)` makes no difference. They hear which epoch begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch.utils.data import Dataset, DistributedSampler

from penstock.torch.samplers import Hearing


class EvenShare(Hearing, DistributedSampler[Any]):
    """As many samples in each process, by repeating or dropping some; for training and metrics."""

    @property
    def data_source(self) -> Dataset[Any]:
        """The data set, as torch's other samplers name it."""
        return self.dataset


class OwnShare(EvenShare):
    """Each sample in exactly one process, in their order; for predictions.

    Where samples cannot be divided evenly, some processes have one sample less.
    """

    def __init__(self, dataset: Any, *, num_replicas: int, rank: int) -> None:
        super().__init__(dataset, num_replicas=num_replicas, rank=rank, shuffle=False)
        self.num_samples = len(range(rank, len(dataset), num_replicas))
        self.total_size = len(dataset)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.rank, self.total_size, self.num_replicas))
