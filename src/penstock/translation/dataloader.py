"""A DataLoader's own arguments, beside its Dataset: batches, the order of samples, options.

Also timm's PrefetchLoader, which wraps a DataLoader and normalises whole batches.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sized
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.translation.tracing.follow import read_code
from penstock.translation.tracing.values import UnfollowableError
from penstock.translation.transforms.identify import (
    TORCH_DATA,
    describe,
    full_name,
    is_exactly,
    owner_of,
)
from penstock.translation.transforms.lines import Log
from penstock.translation.transforms.pipeline import Pipeline, Stage
from penstock.translation.transforms.read_timm import erase

_DATA_LOADER = f"{TORCH_DATA}.dataloader.DataLoader"
_MULTI_EPOCHS = "timm.data.loader.MultiEpochsDataLoader"  # goes on where an epoch ended
_REPEATED = "timm.data.loader._RepeatSampler"
_PREFETCH_LOADER = "timm.data.loader.PrefetchLoader"
_PREFETCH = "PrefetchLoader"
_FAST_COLLATE = "timm.data.loader.fast_collate"
_MIXING_COLLATE = "timm.data.mixup.FastCollateMixup"
_DEFAULT_COLLATE = f"{TORCH_DATA}._utils.collate.default_collate"
_SEQUENTIAL = f"{TORCH_DATA}.sampler.SequentialSampler"
_RANDOM = f"{TORCH_DATA}.sampler.RandomSampler"
_SUBSET = f"{TORCH_DATA}.sampler.SubsetRandomSampler"
_DISTRIBUTED = f"{TORCH_DATA}.distributed.DistributedSampler"
_WEIGHTED = f"{TORCH_DATA}.sampler.WeightedRandomSampler"
_PLAIN = ("builtins.list", "builtins.range", "builtins.tuple")  # of positions
_SHUFFLE_NOTE = (
    "every epoch has an order of its own, which depends on seed, not on torch's generator"
)

# Other arguments of a DataLoader: the values without effect, and what becomes of all others.
_OPTIONS: dict[str, tuple[tuple[Any, ...], str]] = {
    "num_workers": ((0,), "threads in one process"),
    "worker_init_fn": ((None,), "not called: there are no worker processes"),
    "multiprocessing_context": ((None,), "there are no worker processes"),
    "persistent_workers": ((False,), "threads are kept from epoch to epoch"),
    "prefetch_factor": ((None, 2), "two batches are prepared ahead"),
    "timeout": ((0,), "there are no worker processes to wait for"),
    "in_order": ((True,), "batches always come in order"),
    "generator": ((None,), "not used: order and draws come from seed"),
    "pin_memory": ((False,), "done by itself where there is a CUDA device"),
    "pin_memory_device": (("",), "memory is pinned where there is a CUDA device"),
}


class Collate(Enum):
    """How samples become a batch."""

    DEFAULT = "default_collate"
    FAST = "timm's fast_collate"
    TUPLE = "tuple(zip(*batch))"
    LIST = "list(zip(*batch))"

    @property
    def stacks(self) -> bool:
        """Whether the images of a batch become one tensor."""
        return self in (Collate.DEFAULT, Collate.FAST)


@dataclass(frozen=True, slots=True)
class Batching:
    """The size of batches, whether a short last one is left out, and where indices come from."""

    batch_size: int
    drop_last: bool
    sampler: Any
    collate: Collate


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
    sampler: Any = None  # the user's own, which gives the order of every epoch


def is_data_loader(thing: Any) -> bool:
    """Whether it is torch's DataLoader, or of a class derived from it."""
    return any(full_name(base) == _DATA_LOADER for base in type(thing).__mro__)


def read_batching(dataloader: Any, log: Log) -> Batching | None:
    """Return how batches are made; None if the loader cannot do that, which is logged."""
    if owner_of(dataloader, "__iter__") not in (_DATA_LOADER, _MULTI_EPOCHS):
        name = type(dataloader).__name__
        log.refuse(name, "it has an __iter__ of its own, and what that does is not known.")
    batching = _read_batch_sampler(dataloader, log)
    if batching is not None:
        size, drop = batching.batch_size, batching.drop_last
        log.native("DataLoader", f"batch_size={size}, drop_last={drop}")
    for name, (usual, note) in _OPTIONS.items():
        value = getattr(dataloader, name, usual[0])  # older versions of torch have fewer
        if value not in usual:
            log.not_needed(f"{name}={describe(value)}", note)
    return batching


def _read_batch_sampler(dataloader: Any, log: Log) -> Batching | None:
    batches = dataloader.batch_sampler
    if is_exactly(batches, _REPEATED):
        batches = batches.sampler
    if batches is None:
        log.refuse("batch_size=None", "samples come without batches. Give a batch_size.")
        return None
    if not is_exactly(batches, f"{TORCH_DATA}.sampler.BatchSampler"):
        name = type(batches).__name__
        log.refuse(f"batch_sampler={name}", "how it makes batches is not known.")
        return None
    collate = _read_collate(dataloader.collate_fn, log)
    return Batching(int(batches.batch_size), bool(batches.drop_last), batches.sampler, collate)


def _read_collate(collate: Any, log: Log) -> Collate:
    if full_name(collate) == _DEFAULT_COLLATE:
        return Collate.DEFAULT
    if full_name(collate) == _FAST_COLLATE:
        return Collate.FAST
    if is_exactly(collate, _MIXING_COLLATE):
        why = "it mixes batches. Leave it out, and give Loader(batch_transform=MixUp.timm(...))."
        log.refuse("collate_fn=FastCollateMixup", why)
        return Collate.FAST
    for known in (Collate.TUPLE, Collate.LIST):
        if _returned_by(collate) == known.value:
            log.native(f"collate_fn={describe(collate)}", known.value)
            return known
    log.refuse(
        f"collate_fn={describe(collate)}",
        "what it makes of the samples is not known; known are torch's default_collate and "
        "tuple(zip(*batch)). Leave collate_fn out, and work on the batch in your loop.",
    )
    return Collate.DEFAULT


def _returned_by(collate: Any) -> str | None:
    """The expression that a function of one argument returns, the argument spelled `batch`."""
    try:
        node = read_code(collate)
    except (UnfollowableError, AttributeError):
        return None
    names = [argument.arg for argument in node.args.args]
    returned: ast.AST | None = node.body if isinstance(node, ast.Lambda) else None
    if isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Return):
        rest = node.body[:-1]
        is_plain = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in rest)
        returned = node.body[-1].value if is_plain else None
    if returned is None or len(names) != 1:
        return None
    for inner in ast.walk(returned):
        if isinstance(inner, ast.Name) and inner.id == names[0]:
            inner.id = "batch"
    return ast.unparse(returned)


def read_sampler(batching: Batching, dataset: Any, log: Log) -> Ordering | None:
    """Return the order of samples; None if the loader cannot follow it, which is logged."""
    sampler = batching.sampler
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
        return _read_distributed(batching, dataset, log)
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
        log.refuse(name, endless if count is None else "it is empty.")
        return None
    note = "asked for the order of every epoch when that begins, all at once"
    log.native(name, "the order that it yields", note)
    return Ordering(sampler=sampler)


def _read_weighted(sampler: Any, dataset: Any, log: Log) -> Ordering | None:
    weights = sampler.weights.numpy().astype("float64")
    count, replacement = int(sampler.num_samples), bool(sampler.replacement)
    theirs = f"WeightedRandomSampler(num_samples={count:,}, replacement={replacement})"
    if len(weights) > len(dataset):
        why = f"it has {len(weights):,} weights, but there are {len(dataset):,} samples."
        log.refuse(theirs, why)
        return None
    ours = f"weights=..., samples_per_epoch={count}, replacement={replacement}"
    log.native(theirs, ours, _SHUFFLE_NOTE)
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
    """Each of these samples once per epoch, in this order or shuffled."""
    count = len(dataset)
    indices = tuple(int(index) for index in chosen)
    outside = [index for index in indices if not 0 <= index < count]
    if outside:
        why = f"it asks for sample {outside[0]}; they count from 0 to {count - 1:,}."
        log.refuse(theirs, why)
        return None
    every = indices == tuple(range(count))
    named = theirs if every else f"{theirs} of {len(indices):,} of {count:,} samples"
    log.native(named, f"shuffle={shuffle}", _SHUFFLE_NOTE if shuffle else "")
    return Ordering(shuffle, None if every else indices)


def _read_distributed(batching: Batching, dataset: Any, log: Log) -> Ordering | None:
    """The loader's own `drop_last` decides for both the share and its last batch."""
    sampler, size = batching.sampler, batching.batch_size
    ranks = int(sampler.num_replicas)
    theirs = f"DistributedSampler(rank={sampler.rank}, num_replicas={ranks})"
    share = len(dataset) // ranks if batching.drop_last else -(-len(dataset) // ranks)
    theirs_share = int(sampler.num_samples)
    same = share == theirs_share or (batching.drop_last and share // size == theirs_share // size)
    if len(sampler.dataset) != len(dataset) or not same:
        why = (
            f"{theirs_share:,} samples for each rank become {share:,} here. "
            "Give the sampler and the DataLoader the same dataset and drop_last."
        )
        log.refuse(theirs, why)
        return None
    ours = f"rank={sampler.rank}, world_size={ranks}, shuffle={bool(sampler.shuffle)}"
    log.native(theirs, ours, "set_epoch is the loader's; epochs count by themselves")
    return Ordering(bool(sampler.shuffle), None, int(sampler.rank), ranks)


def is_prefetch_loader(thing: Any) -> bool:
    """Whether it is timm's loader around a DataLoader, which normalises whole batches."""
    return is_exactly(thing, _PREFETCH_LOADER)


def read_prefetching(loader: Any, pipeline: Pipeline) -> None:
    """Append what a PrefetchLoader does to a batch; what has no equivalent is logged as refused."""
    try:
        _read_prefetching(loader, pipeline)
    except TransformError as error:
        pipeline.log.of("batch").refuse(_PREFETCH, str(error))


def _read_prefetching(loader: Any, pipeline: Pipeline) -> None:
    if loader.device.type != "cpu":
        raise TransformError(
            f"its batches lie on {loader.device}, ours on the CPU. Give create_loader "
            "use_prefetcher=False, and move batches in your loop."
        )
    if str(loader.img_dtype) != "torch.float32":
        raise TransformError(
            f"it computes in {loader.img_dtype}, which rounds every step; ours computes in float32."
        )
    if pipeline.stage != Stage.BYTES:
        return  # its collate function was refused already
    mean, std = (tuple(given.flatten().tolist()) for given in (loader.mean, loader.std))
    pipeline.add_values(T.ToDtype("float32"))
    pipeline.normalise(mean, std)
    ours = f"{pipeline.final[-2]!r}, {pipeline.final[-1]!r}"
    pipeline.log.of("batch").native(_PREFETCH, ours, "without a step ahead: the loader has its own")
    erasing = loader.random_erasing
    if erasing is None:
        return
    if erasing.num_splits > 1:
        raise TransformError("it spares a part of each batch from erasing, which ours cannot.")
    pipeline.read(erasing, erase)
