"""From a torch DataLoader to the loader that gives the same batches, natively."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import TransformError, TranslationError
from penstock.translation.dataloader import (
    Batching,
    Collate,
    Ordering,
    is_data_loader,
    read_batching,
    read_sampler,
)
from penstock.translation.datasets.read_dataset import read_dataset
from penstock.translation.datasets.samples import IMAGE, LABEL, Samples
from penstock.translation.datasets.timm import is_prefetch_loader, read_prefetching
from penstock.translation.delivery import AcceleratedLoader
from penstock.translation.pipeline_builder import read_transform
from penstock.translation.tracing.values import UnfollowableError
from penstock.translation.transforms.lines import Log, Translation
from penstock.translation.transforms.pipeline import Pipeline, Stage, microseconds_a_call


def accelerate(
    dataloader: Any, *, seed: int = 0, threads: int | None = None, strict: bool = True
) -> AcceleratedLoader:
    """Return a loader with the same samples, batches and pixels as a torch DataLoader.

    Its `translation` says what became of each part. Random parameters have the same distribution
    but are drawn from `seed`; for the same parameters pixels are the same. With `strict=False`,
    transforms are translated too whose pixels differ by a level here and there.

    Raises TranslationError, with all reasons, if anything has no equivalent.
    """
    parts = _read(dataloader, strict=strict)
    if parts.found is None:
        listed = "".join(f"\n- {reason}" for reason in parts.translation.reasons)
        raise TranslationError(
            f"This DataLoader cannot be accelerated:{listed}", parts.translation.reasons
        )
    found = parts.found
    as_pillow = found.pipeline.stage == Stage.PILLOW
    return AcceleratedLoader(
        found.samples,
        is_gray=found.pipeline.is_gray,
        as_pillow=as_pillow,
        collate=found.batching.collate,
        translation=parts.translation,
        batch_size=found.batching.batch_size,
        transform=found.transform,
        shuffle=found.ordering.shuffle,
        seed=seed,
        threads=threads,
        drop_last=found.batching.drop_last,
        output="numpy" if as_pillow else "torch",
        layout="hwc" if as_pillow else found.pipeline.layout,
        rank=found.ordering.rank,
        world_size=found.ordering.world_size,
        weights=found.ordering.weights,
        replacement=found.ordering.replacement,
        samples_per_epoch=found.ordering.samples_per_epoch,
        sampler=found.ordering.sampler,
    )


def explain_translation(dataloader: Any, *, strict: bool = True) -> Translation:
    """Return what `accelerate` would do with each part of a DataLoader; refusals are among it."""
    return _read(dataloader, strict=strict).translation


@dataclass(frozen=True, slots=True)
class _Found:
    """Everything that a loader is made of."""

    samples: Samples
    batching: Batching
    ordering: Ordering
    pipeline: Pipeline
    transform: Any


@dataclass(frozen=True, slots=True)
class _Parts:
    translation: Translation
    found: _Found | None


def _read(dataloader: Any, *, strict: bool) -> _Parts:
    given = dataloader
    if is_prefetch_loader(given):
        dataloader = given.loader
    if not is_data_loader(dataloader):
        raise TranslationError(
            f"accelerate: a torch DataLoader is needed, got {type(dataloader).__name__}.", ()
        )
    log = Log()
    samples = _read_samples(dataloader.dataset, log)
    batching = read_batching(dataloader, log)
    ordering = None
    if batching is not None:
        ordering = read_sampler(
            batching.sampler,
            dataloader.dataset,
            batch_size=batching.batch_size,
            drop_last=batching.drop_last,
            log=log,
        )
    found = None
    if samples is not None:
        if batching is not None:
            _check_collate(samples, batching.collate, log)
        pipeline = read_transform(samples, strict=strict, log=log)
        if batching is not None:
            _check_end(samples, pipeline, batching.collate, log)
        if given is not dataloader:
            read_prefetching(given, pipeline, log)
        transform = _whole(pipeline, log)
        if batching is not None and ordering is not None and not log.translation().refusals:
            if ordering.indices is not None:
                samples = samples.pick(ordering.indices)
            found = _Found(samples, batching, ordering, pipeline, transform)
    return _Parts(log.translation(), found)


def _read_samples(dataset: Any, log: Log) -> Samples | None:
    name = type(dataset).__qualname__
    try:
        samples = read_dataset(dataset)
    except UnfollowableError as error:
        log.refuse("data", name, f"{error}.")
        return None
    if not samples.paths:
        log.refuse("data", name, "it is empty.")
        return None
    ours = f"{len(samples.paths):,} files"
    if samples.targets is not None:
        ours += ", boxes as plain tensors"
    log.native("data", name, ours, f"loaded as {_loading(samples)}")
    form = samples.form
    if form is not None and form.python:
        first, nothing = int(samples.labels[0]), {"boxes": None, "labels": None}
        cost = microseconds_a_call(lambda: form.form(first, nothing))
        log.python("data", form.python, "runs where the batch is taken, one sample at a time", cost)
    return samples


def _check_collate(samples: Samples, collate: Collate, log: Log) -> None:
    if samples.targets is not None and collate.stacks:
        why = "images with boxes cannot be batched so. Give collate_fn=lambda b: tuple(zip(*b))."
        log.refuse("batch", collate.value, why)
    if collate != Collate.DEFAULT and set(samples.template) - {IMAGE, LABEL}:
        log.refuse("batch", collate.value, "samples are not tuples of an image and a label.")
    elif collate == Collate.FAST and (
        samples.form is not None
        or samples.template != (IMAGE, LABEL)
        or samples.labels.dtype != np.int64
    ):
        log.refuse("batch", collate.value, "it takes tuples of an image and a whole number.")


def _check_end(samples: Samples, pipeline: Pipeline, collate: Collate, log: Log) -> None:
    """What images are behind the last step must be what the collate function takes."""
    if collate == Collate.FAST:
        if pipeline.stage != Stage.BYTES and not log.translation().refusals:
            why = f"it makes bytes of images, and each is {pipeline.stage.value} here."
            log.refuse("batch", collate.value, why)
        return
    if pipeline.stage == Stage.PILLOW:
        _check_pillow(samples, collate, log)
    if pipeline.layout == "hwc" and collate != Collate.DEFAULT:
        why = "images stay NumPy arrays, and ours are tensors. Add ToTensorV2()."
        log.refuse("batch", collate.value, why)


def _check_pillow(samples: Samples, collate: Collate, log: Log) -> None:
    if collate != Collate.DEFAULT and samples.targets is None:
        log.native("batch", "Pillow images", "Pillow images", "the same pixels, without .info")
        return
    why = "which the default collate function cannot batch. Add ToTensor() or PILToTensor()."
    if samples.targets is not None:
        why = "which here have no boxes beside them. Add ToImage()."
    log.refuse("transform", "the last step", f"images end as Pillow images, {why}")


def _loading(samples: Samples) -> str:
    modes = "".join(f".convert({mode!r})" for mode in samples.modes)
    return f"Image.open(path){modes}"


def _whole(pipeline: Pipeline, log: Log) -> Any:
    if log.translation().refusals:
        return None
    try:
        return pipeline.transform()
    except TransformError as error:
        log.refuse("transform", "the pipeline", str(error))
        return None
