"""Samplers that list an epoch a second time, for a batch that is made again.

Only those are asked whose order follows from numbers that they hold. A sampler that draws from a
generator of torch's would list something else, and move the generator on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch.utils import data as torch_data

from penstock.errors import LoaderError
from penstock.loading.sampling.bound import Bound
from penstock.loading.selection import Picked
from penstock.torch.indices import EpochIndices
from penstock.torch.samplers import SequentialSampler
from penstock.torch.state import samplers_of

_IN_ORDER = (torch_data.SequentialSampler, SequentialSampler, list, tuple, range)
_HOW = (
    "Use shuffle=False, sampler=torch.utils.data.DistributedSampler(dataset, num_replicas=1, "
    "rank=0, seed=...) to shuffle by a seed, or one of penstock's samplings with bind(...)."
)


@dataclass(frozen=True, slots=True)
class ListedAgain:
    """What lists an epoch once more, and whose share of it."""

    sampler: Iterable[Any]
    rank: int = 0
    world_size: int = 1


def list_again(loader: Any, epoch: int, rank: int | None, world_size: int | None) -> ListedAgain:
    """Return what lists the batches of an epoch of a DataLoader, or LoaderError says why not."""
    batches = loader.batch_sampler
    if batches is None:
        return _again(loader.sampler, epoch, rank, world_size)
    if type(batches) is not torch_data.BatchSampler:
        return _again(batches, epoch, rank, world_size)
    inner = _again(batches.sampler, epoch, rank, world_size)
    listed: Any = inner.sampler
    again = torch_data.BatchSampler(listed, batches.batch_size, batches.drop_last)
    return ListedAgain(again, inner.rank, inner.world_size)


def _again(sampler: Any, epoch: int, rank: int | None, world_size: int | None) -> ListedAgain:
    if isinstance(sampler, Bound):
        bound = sampler.again(epoch, rank, world_size)
        return ListedAgain(bound, *bound.share)
    if type(sampler) is torch_data.DistributedSampler:
        other: Any = torch_data.DistributedSampler(
            sampler.dataset,
            num_replicas=sampler.num_replicas if world_size is None else world_size,
            rank=sampler.rank if rank is None else rank,
            shuffle=sampler.shuffle,
            seed=sampler.seed,
            drop_last=sampler.drop_last,
        )
        other.set_epoch(epoch)
        return ListedAgain(other, other.rank, other.num_replicas)
    if type(sampler) not in _IN_ORDER:
        raise LoaderError(
            f"batch_at: the order of samples is that of {type(sampler).__name__}, which may draw "
            f"from a generator and cannot be asked again for an epoch that is over. {_HOW}"
        )
    if (rank or 0, world_size or 1) != (0, 1):
        raise LoaderError(
            f"batch_at: rank={rank}, world_size={world_size}, but {type(sampler).__name__} does "
            "not share samples among ranks. Leave them out."
        )
    return ListedAgain(sampler)


def epoch_of_samplers(loader: Any) -> int | None:
    """The epoch that a sampler of those lists now which can be asked again; None without one."""
    for _, sampler in samplers_of(loader):
        if isinstance(sampler, Bound):
            return sampler.listed
        if type(sampler) is torch_data.DistributedSampler:
            return int(sampler.epoch)
    return None


def pick(indices: EpochIndices, epoch: int, step: int) -> Picked:
    """The samples of one batch; those before it are listed, not read."""
    for number in range(step):
        if next(indices, None) is None:
            raise _no_such_step(epoch, step, number)
    picked = next(indices, None)
    if picked is None:
        raise _no_such_step(epoch, step, step)
    return picked


def _no_such_step(epoch: int, step: int, steps: int) -> LoaderError:
    return LoaderError(
        f"batch_at: step {step:,} of epoch {epoch:,}, but the epoch has {steps:,} steps. "
        f"Give one from 0 to {steps - 1:,}."
    )
