"""Whether the samplers of a loader share the samples among processes, and among how many."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from penstock.torch.state import samplers_of

# By these, a sampler shows that it takes the share of one of several processes.
_SHARES = ("num_replicas", "num_processes", "world_size", "num_shards")
_OWN = ("rank", "process_index")  # and by these, which of them


def ranks_of(loader: Any) -> int | None:
    """Return among how many processes the samplers share; None if they do not."""
    found = [getattr(one, name, None) for _, one in samplers_of(loader) for name in _SHARES]
    return max((count for count in found if isinstance(count, int)), default=None)


def rank_of(loader: Any) -> int:
    """Return which of these processes takes its share; 0 if nobody says so."""
    found = [getattr(one, name, None) for _, one in samplers_of(loader) for name in _OWN]
    return max((rank for rank in found if isinstance(rank, int)), default=0)


def warn_of_ranks(loader: Any) -> bool:
    """Warn if all processes would get the same samples; return whether there are processes yet."""
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_initialized():
        return False
    if distributed.get_world_size() > 1 and ranks_of(loader) is None:
        warnings.warn(
            f"DataLoader: this is rank {distributed.get_rank()} of "
            f"{distributed.get_world_size()}, but {type(loader.sampler).__name__} lists the same "
            "samples on all of them. Give sampler=torch.utils.data.DistributedSampler(dataset), or "
            "let Lightning or Accelerate prepare the loader.",
            stacklevel=3,
        )
    return True
