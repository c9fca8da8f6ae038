"""The order of samples: a DataLoader's sampler, in the loader's terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from penstock.translation.transforms.identify import TORCH_DATA, full_name
from penstock.translation.transforms.lines import Log

_PART = "order"
_SEQUENTIAL = f"{TORCH_DATA}.sampler.SequentialSampler"
_RANDOM = f"{TORCH_DATA}.sampler.RandomSampler"
_SUBSET = f"{TORCH_DATA}.sampler.SubsetRandomSampler"
_DISTRIBUTED = f"{TORCH_DATA}.distributed.DistributedSampler"
_WEIGHTED = f"{TORCH_DATA}.sampler.WeightedRandomSampler"
_PLAIN = ("builtins.list", "builtins.range", "builtins.tuple")  # of positions
_SHUFFLE_NOTE = (
    "every epoch has an order of its own, which depends on seed, not on torch's generator"
)


@dataclass(frozen=True, slots=True)
class Ordering:
    """Which samples an epoch has, in which order, and this process's share of them."""

    shuffle: bool = False
    indices: tuple[int, ...] | None = None  # None: all of them
    rank: int = 0
    world_size: int = 1


def read_sampler(
    sampler: Any, dataset: Any, *, batch_size: int, drop_last: bool, log: Log
) -> Ordering | None:
    """Return what the loader does instead; None if it has no equivalent, which is logged."""
    kind = full_name(type(sampler))
    name = type(sampler).__name__
    if kind == _SEQUENTIAL:
        return _read_chosen(name, range(len(sampler.data_source)), dataset, log, shuffle=False)
    if kind in _PLAIN:
        return _read_chosen(f"sampler={name}", sampler, dataset, log, shuffle=False)
    if kind == _RANDOM:
        return _read_random(sampler, dataset, log)
    if kind == _SUBSET:
        return _read_chosen(name, sampler.indices, dataset, log, shuffle=True)
    if kind == _DISTRIBUTED:
        return _read_distributed(sampler, dataset, batch_size, drop_last, log)
    if kind == _WEIGHTED:
        why = "it draws samples by weight; the loader takes each sample once an epoch"
    else:
        why = "the order that this sampler gives is not known here"
    log.refuse(_PART, name, f"{why}. Use shuffle=True or a DistributedSampler.")
    return None


def _read_random(sampler: Any, dataset: Any, log: Log) -> Ordering | None:
    if sampler.replacement:
        why = "it draws with replacement; the loader takes each sample once an epoch"
        log.refuse(_PART, "RandomSampler(replacement=True)", f"{why}. Use shuffle=True.")
        return None
    count = len(sampler.data_source)
    if sampler.num_samples != count:
        why = f"an epoch has {sampler.num_samples:,} of {count:,} samples"
        log.refuse(_PART, "RandomSampler(num_samples=...)", f"{why}. Use a Subset.")
        return None
    return _read_chosen("RandomSampler", range(count), dataset, log, shuffle=True)


def _read_chosen(
    theirs: str, chosen: Iterable[Any], dataset: Any, log: Log, *, shuffle: bool
) -> Ordering | None:
    """Each of these samples once an epoch, in this order or shuffled."""
    count = len(dataset)
    indices = tuple(int(index) for index in chosen)
    outside = [index for index in indices if not 0 <= index < count]
    if outside:
        why = f"it asks for sample {outside[0]}; they count from 0 to {count - 1:,}."
        log.refuse(_PART, theirs, why)
        return None
    every = indices == tuple(range(count))
    named = theirs if every else f"{theirs} of {len(indices):,} of {count:,} samples"
    log.native(_PART, named, f"shuffle={shuffle}", _SHUFFLE_NOTE if shuffle else "")
    return Ordering(shuffle, None if every else indices)


def _read_distributed(
    sampler: Any, dataset: Any, batch_size: int, drop_last: bool, log: Log
) -> Ordering | None:
    """The loader's own `drop_last` decides for both the share and its last batch."""
    ranks = int(sampler.num_replicas)
    theirs = f"DistributedSampler(rank={sampler.rank}, num_replicas={ranks})"
    share = len(dataset) // ranks if drop_last else -(-len(dataset) // ranks)
    theirs_share = int(sampler.num_samples)
    same = share == theirs_share or (
        drop_last and share // batch_size == theirs_share // batch_size
    )
    if len(sampler.dataset) != len(dataset) or not same:
        log.refuse(
            _PART,
            theirs,
            f"{theirs_share:,} samples for each rank become {share:,} here. "
            "Give the sampler and the DataLoader the same dataset and drop_last.",
        )
        return None
    ours = f"rank={sampler.rank}, world_size={ranks}, shuffle={bool(sampler.shuffle)}"
    log.native(_PART, theirs, ours, "set_epoch is the loader's; epochs count by themselves")
    return Ordering(bool(sampler.shuffle), None, int(sampler.rank), ranks)
