"""What all ways of sampling share: a Loader takes them, and so does a torch DataLoader."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from penstock.loading.sampling.asked import Asked
from penstock.loading.sampling.bound import BoundSampler
from penstock.loading.sampling.facts import facts_of
from penstock.loading.selection import Selection, read_indices


class Sampling(ABC):
    """Says which samples an epoch has; given as `Loader(sampling=...)`."""

    @abstractmethod
    def select(self, asked: Asked) -> Selection:
        """Return the samples of every epoch; LoaderError where that does not fit the data."""

    def bind(
        self,
        data: Any,
        *,
        seed: int = 0,
        shuffle: bool = True,
        indices: Any = None,
        drop_last: bool = False,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> BoundSampler:
        """Return a sampler for a torch DataLoader over `data`: `DataLoader(..., sampler=...)`.

        `data` is what a Loader takes; a data set with a length and `labels` or `targets`; an array
        of labels, one per sample; or a number of samples. The rest is as in `Loader`: `drop_last`
        leaves out what does not divide among the ranks, where some samples would come twice.
        """
        asked = asked_of(
            self, data, seed=seed, shuffle=shuffle, indices=indices, drop_last=drop_last
        )
        return BoundSampler(self.select, asked, rank, world_size)


def asked_of(
    sampling: Sampling,
    data: Any,
    *,
    seed: int,
    shuffle: bool,
    indices: Any,
    drop_last: bool,
    batch_size: int = 1,
) -> Asked:
    """Read the arguments of `bind`."""
    facts = facts_of(data, type(sampling).__name__)
    chosen = None if indices is None else read_indices(indices, facts.length)
    return Asked(facts, chosen, None, shuffle, seed, batch_size, drop_last)
