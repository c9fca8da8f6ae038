"""The order of samples: a DataLoader's sampler, in the loader's terms."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass, replace
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
    weights: Any = None  # for each of the samples that take part
    replacement: bool = True
    samples_per_epoch: int | None = None
    sampler: Any = None  # the user's own, which is asked for the order of every epoch


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
        return _read_weighted(sampler, dataset, log)
    return _read_own(sampler, name, log)


def _read_own(sampler: Any, name: str, log: Log) -> Ordering | None:
    """A sampler of any kind: what it yields is the order, whatever it is made of."""
    try:
        count = len(sampler) if isinstance(sampler, Sized) else None
    except (TypeError, NotImplementedError):
        count = None
    if not count:
        endless = "it has no length, so its epochs may have no end."
        log.refuse(_PART, name, endless if count is None else "it is empty.")
        return None
    note = "asked for the order of every epoch when that begins, all at once"
    log.native(_PART, name, "the order that it yields", note)
    return Ordering(sampler=sampler)


def _read_weighted(sampler: Any, dataset: Any, log: Log) -> Ordering | None:
    weights = sampler.weights.numpy().astype("float64")
    count, replacement = int(sampler.num_samples), bool(sampler.replacement)
    theirs = f"WeightedRandomSampler(num_samples={count:,}, replacement={replacement})"
    if len(weights) > len(dataset):
        why = f"it has {len(weights):,} weights, but there are {len(dataset):,} samples."
        log.refuse(_PART, theirs, why)
        return None
    ours = f"weights=..., samples_per_epoch={count}, replacement={replacement}"
    log.native(_PART, theirs, ours, _SHUFFLE_NOTE)
    indices = None if len(weights) == len(dataset) else tuple(range(len(weights)))
    return Ordering(False, indices, 0, 1, weights, replacement, count)


def _read_random(sampler: Any, dataset: Any, log: Log) -> Ordering | None:
    available, count = len(sampler.data_source), int(sampler.num_samples)
    if not sampler.replacement and count == available:
        return _read_chosen("RandomSampler", range(count), dataset, log, shuffle=True)
    theirs = f"RandomSampler(replacement={sampler.replacement}, num_samples={count:,})"
    chosen = _read_chosen(theirs, range(available), dataset, log, shuffle=True)
    if chosen is None:
        return None
    weights = [1.0] * available if sampler.replacement else None
    return replace(chosen, weights=weights, samples_per_epoch=count)


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
