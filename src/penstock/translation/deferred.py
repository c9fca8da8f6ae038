"""A DataLoader that stays as it is, but for images that are not decoded until a batch is whole."""

from __future__ import annotations

import copy
from typing import Any

from penstock.deferring.dataset import DeferredDataset, PlainCollate
from penstock.deferring.trial import Trial, try_dataset
from penstock.translation.transforms.identify import TORCH_DATA, describe, full_name, owner_of
from penstock.translation.transforms.lines import Log

_ITERABLE = f"{TORCH_DATA}.dataset.IterableDataset"
_OWNERS = (
    f"{TORCH_DATA}.dataloader.DataLoader",
    "torchdata.stateful_dataloader.stateful_dataloader.StatefulDataLoader",
)
_DEFAULT_COLLATE = f"{TORCH_DATA}._utils.collate.default_collate"


def read_deferred(dataloader: Any, log: Log) -> bool:
    """Log what would become of a DataLoader; whether it can be deferred at all."""
    dataset, name = dataloader.dataset, type(dataloader.dataset).__qualname__
    data = log.of("data")
    if owner_of(dataloader, "__iter__") not in _OWNERS:
        kind = type(dataloader).__name__
        log.of("batch").refuse(
            kind, "it has an __iter__ of its own, and what that does is not known."
        )
        return False
    if any(full_name(base) == _ITERABLE for base in type(dataset).__mro__):
        data.refuse(name, "it is an IterableDataset: samples cannot be asked for by their numbers.")
        return False
    if not hasattr(dataset, "__len__") or not len(dataset):
        data.refuse(name, "it is empty, or has no length.")
        return False
    found = try_dataset(dataset)
    if found.refusal:
        data.refuse(name, f"{found.refusal}.")
        return False
    _log_trial(name, found, log)
    _log_rest(dataloader, log)
    return True


def _log_trial(name: str, found: Trial, log: Log) -> None:
    data = log.of("data")
    data.python(f"{name}.__getitem__", "runs as it is, and draws as it does", found.python_us)
    if found.deferred:
        each = found.deferred / found.samples
        ours = "decoded, cropped and resized in the core, a batch at a time"
        data.native(f"{each:.3g} image{'' if each == 1 else 's'} a sample", ours, _gain(found))
    for why, times in found.ordinary.most_common():
        note = f"{times / found.samples:.3g} a sample; decoded by Pillow or whoever opens it"
        data.python(f"files: {why}", note, None)
    for who, times in found.steps.most_common():
        note = f"done in the core, one image at a time, {times / found.samples:.3g} times a sample"
        log.of("transform").native(who, "the same function of ours", note)
    for who, times in found.early.most_common():
        note = f"needs pixels at once, {times / found.samples:.3g} times a sample"
        log.of("transform").python(who, note, None)


def _gain(found: Trial) -> str:
    usual, now = found.usual_us, found.whole_us
    return f"a sample took {usual:,.0f} us, and takes {now:,.0f} us on one core"


def _log_rest(dataloader: Any, log: Log) -> None:
    order = dataloader.sampler if dataloader.batch_sampler is None else dataloader.batch_sampler
    log.of("order").native(describe(order), "itself", "the same order from the same generators")
    workers = dataloader.num_workers
    ours = f"{workers} worker processes" if workers else "this process"
    log.of("batch").native(describe(dataloader.collate_fn), "itself", f"in {ours}, as before")


def deferred_loader(dataloader: Any, threads: int | None) -> Any:
    """Return the DataLoader over the same Dataset, with images that are computed in batches."""
    made = copy.copy(dataloader)
    made.__dict__["dataset"] = DeferredDataset(dataloader.dataset, threads)
    made.__dict__["_iterator"] = None  # of workers that persist, with the Dataset as it was
    if full_name(dataloader.collate_fn) != _DEFAULT_COLLATE:
        made.collate_fn = PlainCollate(dataloader.collate_fn)
    return made
