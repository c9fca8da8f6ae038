"""torch's own samplers, with an ear for the epoch that a framework begins.

Lightning and Accelerate call `set_epoch` on samplers that have it, and on nothing else that a
loader could notice. The order is torch's either way: it follows from generators, not from epochs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch.utils import data as torch_data
from torch.utils.data import Subset

from penstock.rng import check_epoch
from penstock.torch.dataset import Dataset
from penstock.torch.state import samplers_of


class Hearing:
    """Notes which epoch a sampler was told, and that it was told, if it is the same again."""

    epoch = 0
    times_told = 0
    data_source: Any

    def set_epoch(self, epoch: int) -> None:
        """Note the epoch, and tell the data set, whose draws may follow it."""
        self.epoch = check_epoch(type(self).__name__, epoch)
        self.times_told += 1
        dataset = self.data_source
        while isinstance(dataset, Subset):
            dataset = dataset.dataset
        if isinstance(dataset, Dataset):
            dataset.set_epoch(epoch)


class RandomSampler(Hearing, torch_data.RandomSampler):
    """torch's sampler for `shuffle=True`."""


class SequentialSampler(Hearing, torch_data.SequentialSampler):
    """torch's sampler for `shuffle=False`."""


def told_so_far(loader: Any) -> dict[str, tuple[int, int]]:
    """Return how often each sampler was told an epoch, as far as that is known, and which."""
    return {
        name: (getattr(sampler, "times_told", 0), sampler.epoch)
        for name, sampler in samplers_of(loader)
        if callable(getattr(sampler, "set_epoch", None))
        and isinstance(getattr(sampler, "epoch", None), int)
    }


def told_since(
    before: Mapping[str, tuple[int, int]], now: Mapping[str, tuple[int, int]]
) -> int | None:
    """Return the epoch that samplers were told in between; None if they were told nothing."""
    changed = [epoch for name, (times, epoch) in now.items() if before.get(name) != (times, epoch)]
    return max(changed, default=None)


def lists_at_leisure(loader: Any) -> bool:
    """Whether what samplers list may depend on an epoch that they are told before the first batch.

    That of torch's own samplers does not.
    """
    own = (RandomSampler, SequentialSampler)
    return any(
        callable(getattr(sampler, "set_epoch", None)) and not isinstance(sampler, own)
        for _, sampler in samplers_of(loader)
    )
