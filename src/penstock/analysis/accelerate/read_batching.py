"""How a DataLoader makes batches, and its options that have to do with worker processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.analysis.accelerate.identify import (
    TORCH_DATA,
    describe,
    full_name,
    is_exactly,
    owner_of,
)
from penstock.analysis.accelerate.translation import Log

_PART = "batch"
_DATA_LOADER = f"{TORCH_DATA}.dataloader.DataLoader"
_DEFAULT_COLLATE = f"{TORCH_DATA}._utils.collate.default_collate"


@dataclass(frozen=True, slots=True)
class Batching:
    """The size of batches, whether a short last one is left out, and where indices come from."""

    batch_size: int
    drop_last: bool
    sampler: Any


def is_data_loader(thing: Any) -> bool:
    """Whether it is torch's DataLoader, or a class of the user's that iterates as that does."""
    return any(full_name(base) == _DATA_LOADER for base in type(thing).__mro__)


def read_batching(dataloader: Any, log: Log) -> Batching | None:
    """Return what the loader does instead; None if it has no equivalent, which is logged."""
    if owner_of(dataloader, "__iter__") != _DATA_LOADER:
        name = type(dataloader).__name__
        log.refuse(_PART, name, "it has an __iter__ of its own, and what that does is not known.")
    batching = _read_batch_sampler(dataloader, log)
    if dataloader.batch_sampler is not None:
        _read_collate(dataloader, log)
    if batching is not None:
        size, drop = batching.batch_size, batching.drop_last
        log.native(_PART, "DataLoader", f"batch_size={size}, drop_last={drop}")
    if dataloader.num_workers:
        log.not_needed(_PART, f"num_workers={dataloader.num_workers}", "threads in one process")
    if dataloader.worker_init_fn is not None:
        theirs = f"worker_init_fn={describe(dataloader.worker_init_fn)}"
        log.not_needed(_PART, theirs, "not called: there are no worker processes")
    if dataloader.pin_memory:
        log.not_needed(_PART, "pin_memory=True", "done by itself where there is a CUDA device")
    return batching


def _read_collate(dataloader: Any, log: Log) -> None:
    collate = dataloader.collate_fn
    if full_name(collate) != _DEFAULT_COLLATE:
        log.refuse(
            _PART,
            f"collate_fn={describe(collate)}",
            "what it makes of the samples is not known; the loader does what torch's "
            "default_collate does. Leave collate_fn out, and work on the batch in your loop.",
        )


def _read_batch_sampler(dataloader: Any, log: Log) -> Batching | None:
    batches = dataloader.batch_sampler
    if batches is None:
        log.refuse(_PART, "batch_size=None", "samples come without batches. Give a batch_size.")
        return None
    if not is_exactly(batches, f"{TORCH_DATA}.sampler.BatchSampler"):
        name = type(batches).__name__
        log.refuse(_PART, f"batch_sampler={name}", "how it makes batches is not known.")
        return None
    return Batching(int(batches.batch_size), bool(batches.drop_last), batches.sampler)
