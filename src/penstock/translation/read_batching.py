"""How a DataLoader makes batches, and its options that have to do with worker processes."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import Any

from penstock.translation.tracing.code import read_code
from penstock.translation.tracing.values import UnfollowableError
from penstock.translation.transforms.identify import (
    TORCH_DATA,
    describe,
    full_name,
    is_exactly,
    owner_of,
)
from penstock.translation.transforms.lines import Log

_PART = "batch"
_DATA_LOADER = f"{TORCH_DATA}.dataloader.DataLoader"
_MULTI_EPOCHS = "timm.data.loader.MultiEpochsDataLoader"  # goes on where an epoch ended
_REPEATED = "timm.data.loader._RepeatSampler"
_FAST_COLLATE = "timm.data.loader.fast_collate"
_MIXING_COLLATE = "timm.data.mixup.FastCollateMixup"
_DEFAULT_COLLATE = f"{TORCH_DATA}._utils.collate.default_collate"

# What else a DataLoader is told: the values that say nothing, and what becomes of others.
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


def is_data_loader(thing: Any) -> bool:
    """Whether it is torch's DataLoader, or a class of the user's that iterates as that does."""
    return any(full_name(base) == _DATA_LOADER for base in type(thing).__mro__)


def read_batching(dataloader: Any, log: Log) -> Batching | None:
    """Return what the loader does instead; None if it has no equivalent, which is logged."""
    if owner_of(dataloader, "__iter__") not in (_DATA_LOADER, _MULTI_EPOCHS):
        name = type(dataloader).__name__
        log.refuse(_PART, name, "it has an __iter__ of its own, and what that does is not known.")
    batching = _read_batch_sampler(dataloader, log)
    if batching is not None:
        size, drop = batching.batch_size, batching.drop_last
        log.native(_PART, "DataLoader", f"batch_size={size}, drop_last={drop}")
    for name, (usual, note) in _OPTIONS.items():
        value = getattr(dataloader, name, usual[0])  # older versions of torch have fewer
        if value not in usual:
            log.not_needed(_PART, f"{name}={describe(value)}", note)
    return batching


def _read_collate(collate: Any, log: Log) -> Collate:
    if full_name(collate) == _DEFAULT_COLLATE:
        return Collate.DEFAULT
    if full_name(collate) == _FAST_COLLATE:
        return Collate.FAST
    if is_exactly(collate, _MIXING_COLLATE):
        why = "it mixes batches. Leave it out, and give Loader(batch_transform=MixUp.timm(...))."
        log.refuse(_PART, "collate_fn=FastCollateMixup", why)
        return Collate.FAST
    for known in (Collate.TUPLE, Collate.LIST):
        if _returned_by(collate) == known.value:
            log.native(_PART, f"collate_fn={describe(collate)}", known.value)
            return known
    log.refuse(
        _PART,
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


def _read_batch_sampler(dataloader: Any, log: Log) -> Batching | None:
    batches = dataloader.batch_sampler
    if is_exactly(batches, _REPEATED):
        batches = batches.sampler
    if batches is None:
        log.refuse(_PART, "batch_size=None", "samples come without batches. Give a batch_size.")
        return None
    if not is_exactly(batches, f"{TORCH_DATA}.sampler.BatchSampler"):
        name = type(batches).__name__
        log.refuse(_PART, f"batch_sampler={name}", "how it makes batches is not known.")
        return None
    collate = _read_collate(dataloader.collate_fn, log)
    return Batching(int(batches.batch_size), bool(batches.drop_last), batches.sampler, collate)
