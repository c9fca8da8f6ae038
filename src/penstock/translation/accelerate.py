"""From a torch DataLoader to the loader that gives the same batches, natively."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np

from penstock.errors import TransformError, TranslationError
from penstock.translation.dataloader import (
    Collate,
    is_data_loader,
    is_prefetch_loader,
    read_batching,
    read_prefetching,
    read_sampler,
)
from penstock.translation.datasets.contents import IMAGE, LABEL, DatasetContents
from penstock.translation.datasets.read_dataset import read_dataset
from penstock.translation.delivery import AcceleratedLoader, Parts
from penstock.translation.pipeline_builder import read_transform
from penstock.translation.tracing.values import UnfollowableError
from penstock.translation.transforms.lines import Log, Translation
from penstock.translation.transforms.pipeline import Pipeline, Stage, microseconds_per_call

Way: TypeAlias = Literal["read", "deferred"]


def accelerate(
    dataloader: Any,
    *,
    way: Way | None = None,
    seed: int | None = None,
    threads: int | None = None,
    strict: bool = True,
) -> Any:
    """Return a loader with the same samples, batches and pixels as a torch DataLoader.

    There are two ways. "read": the code of the Dataset is read, and not run any more; that is
    fastest. Random parameters have the same distribution but are drawn from `seed`; for the same
    parameters pixels are the same. "deferred": the DataLoader stays what it is and runs the
    Dataset's own code, with images that are not decoded until a whole batch of them can be
    computed; batches are those that the DataLoader gave, seed for seed. Unless `way` says which,
    it is the first of the two that is possible.

    Its `translation` says what became of each part, which way was taken, and why. `strict=False`
    also reads transforms whose pixels then differ by a level here and there.

    Raises TranslationError, with all reasons, if neither way is possible.
    """
    _check_way(way)
    if way == "deferred" and seed is not None:
        raise TranslationError(
            f"accelerate: seed={seed}, but with way='deferred' all draws are the DataLoader's own. "
            "Leave seed out, and call torch.manual_seed.",
            (),
        )
    translation, found = _choose(dataloader, way, strict=strict)
    if found is not None:
        return AcceleratedLoader(found, translation, seed=seed or 0, threads=threads)
    if translation.way == "none":
        listed = "".join(f"\n- {reason}" for reason in translation.reasons)
        raise TranslationError(
            f"This DataLoader cannot be accelerated:{listed}", translation.reasons
        )
    if seed is not None:
        listed = "".join(f"\n- {reason}" for reason in translation.not_read)
        raise TranslationError(
            f"accelerate: seed={seed} is for Datasets whose code can be read. This one's cannot:"
            f"{listed}\nLeave seed out, and draws are the DataLoader's own.",
            translation.not_read,
        )
    from penstock.translation.deferred import deferred_loader  # it needs torch, which is there

    loader = deferred_loader(dataloader, threads)
    loader.translation = translation
    return loader


def explain_translation(
    dataloader: Any, *, way: Way | None = None, strict: bool = True
) -> Translation:
    """Return what `accelerate` would do with each part of a DataLoader, including refusals."""
    _check_way(way)
    return _choose(dataloader, way, strict=strict)[0]


def _check_way(way: object) -> None:
    if way not in (None, "read", "deferred"):
        raise TranslationError(
            f"accelerate: way must be 'read', 'deferred' or None, got {way!r}.", ()
        )


def _choose(dataloader: Any, way: Way | None, *, strict: bool) -> tuple[Translation, Parts | None]:
    """Return what becomes of a DataLoader, and what is needed if its code is read."""
    read, found = _read(dataloader, strict=strict) if way != "deferred" else (None, None)
    if read is not None and (found is not None or way == "read"):
        return read, found
    if is_prefetch_loader(dataloader):
        return read or _refuse_prefetching(), None
    _require_data_loader(dataloader)
    from penstock.translation.deferred import read_deferred  # the same

    log = Log()
    if not read_deferred(dataloader, log) or log.has_refusals:
        refused = log.translation()
        lines = refused.lines if read is None else (*read.lines, *refused.refusals)
        return Translation(lines, "none"), None
    deferred = log.translation()
    needs_pixels = any(line.part == "transform" for line in deferred.python_steps)
    reasons = () if read is None else read.reasons
    return replace(deferred, way="mixed" if needs_pixels else "deferred", not_read=reasons), None


def _refuse_prefetching() -> Translation:
    log = Log("batch")
    why = "it changes batches after the DataLoader. Give the DataLoader in it, .loader."
    log.refuse("PrefetchLoader", why)
    return log.translation()


def _require_data_loader(thing: Any) -> None:
    if not is_data_loader(thing):
        raise TranslationError(
            f"accelerate: a torch DataLoader is needed, got {type(thing).__name__}.", ()
        )


def _read(dataloader: Any, *, strict: bool) -> tuple[Translation, Parts | None]:
    """Return what became of each part and, if nothing was refused, all that a loader needs."""
    given = dataloader
    if is_prefetch_loader(given):
        dataloader = given.loader
    _require_data_loader(dataloader)
    log = Log()
    contents = _read_contents(dataloader.dataset, log.of("data"))
    batching = read_batching(dataloader, log.of("batch"))
    ordering = None
    if batching is not None:
        ordering = read_sampler(batching, dataloader.dataset, log.of("order"))
    found = None
    if contents is not None:
        if batching is not None:
            _check_collate(contents, batching.collate, log.of("batch"))
        pipeline = read_transform(contents, strict=strict, log=log)
        if batching is not None:
            _check_end(contents, pipeline, batching.collate, log)
        if given is not dataloader:
            read_prefetching(given, pipeline)
        transform = _whole(pipeline, log)
        if batching is not None and ordering is not None and not log.has_refusals:
            if ordering.indices is not None:
                contents = contents.pick(ordering.indices)
            found = Parts(contents, batching, ordering, pipeline, transform)
    return log.translation(), found


def _read_contents(dataset: Any, log: Log) -> DatasetContents | None:
    name = type(dataset).__qualname__
    try:
        contents = read_dataset(dataset)
    except UnfollowableError as error:
        log.refuse(name, f"{error}.")
        return None
    if not contents.paths:
        log.refuse(name, "it is empty.")
        return None
    ours = f"{len(contents.paths):,} files"
    if contents.targets is not None:
        ours += ", boxes as plain tensors"
    modes = "".join(f".convert({mode!r})" for mode in contents.modes)
    log.native(name, ours, f"loaded as Image.open(path){modes}")
    form = contents.target_form
    if form is not None and form.python:
        first, nothing = int(contents.labels[0]), {"boxes": None, "labels": None}
        cost = microseconds_per_call(lambda: form.build(first, nothing))
        log.python(form.python, "runs where the batch is taken, one sample at a time", cost)
    return contents


def _check_collate(contents: DatasetContents, collate: Collate, log: Log) -> None:
    if contents.targets is not None and collate.stacks:
        why = "images with boxes cannot be batched so. Give collate_fn=lambda b: tuple(zip(*b))."
        log.refuse(collate.value, why)
    if collate != Collate.DEFAULT and set(contents.nesting) - {IMAGE, LABEL}:
        log.refuse(collate.value, "samples are not tuples of an image and a label.")
    elif collate == Collate.FAST and (
        contents.target_form is not None
        or contents.nesting != (IMAGE, LABEL)
        or contents.labels.dtype != np.int64
    ):
        log.refuse(collate.value, "it takes tuples of an image and a whole number.")


def _check_end(contents: DatasetContents, pipeline: Pipeline, collate: Collate, log: Log) -> None:
    """What images are after the last step must be what the collate function takes."""
    if collate == Collate.FAST:
        if pipeline.stage != Stage.BYTES and not log.has_refusals:
            why = f"it makes bytes of images, and each is {pipeline.stage.value} here."
            log.of("batch").refuse(collate.value, why)
        return
    if pipeline.stage == Stage.PILLOW and not (pipeline.is_lost and log.has_refusals):
        _check_pillow(contents, collate, log)
    if pipeline.layout == "hwc" and collate != Collate.DEFAULT:
        why = "images stay NumPy arrays, and ours are tensors. Add ToTensorV2()."
        log.of("batch").refuse(collate.value, why)


def _check_pillow(contents: DatasetContents, collate: Collate, log: Log) -> None:
    if collate != Collate.DEFAULT and contents.targets is None:
        log.of("batch").native("Pillow images", "Pillow images", "the same pixels, without .info")
        return
    why = "which the default collate function cannot batch. Add ToTensor() or PILToTensor()."
    if contents.targets is not None:
        why = "which here have no boxes beside them. Add ToImage()."
    log.refuse("the last step", f"images end as Pillow images, {why}")


def _whole(pipeline: Pipeline, log: Log) -> Any:
    if log.has_refusals:
        return None
    try:
        return pipeline.transform()
    except TransformError as error:
        log.refuse("the pipeline", str(error))
        return None
