"""What timm's `create_loader` is made of beside transforms: its Dataset and its PrefetchLoader."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.translation.datasets.samples import IMAGE, LABEL, Samples
from penstock.translation.tracing.values import UnfollowableError
from penstock.translation.transforms.identify import is_exactly
from penstock.translation.transforms.lines import Log
from penstock.translation.transforms.pipeline import Pipeline, Stage
from penstock.translation.transforms.read_timm import erase

_DATASET = "timm.data.dataset.ImageDataset"
_FOLDER = "timm.data.readers.reader_image_folder.ReaderImageFolder"
_PREFETCH_LOADER = "timm.data.loader.PrefetchLoader"
_PREFETCH = "PrefetchLoader"


def is_timm_dataset(dataset: Any) -> bool:
    """Whether it is timm's ImageDataset itself."""
    return is_exactly(dataset, _DATASET)


def read_timm_dataset(dataset: Any) -> Samples:
    """Return its files and labels; a file that cannot be opened is an error here, not the next."""
    reader = dataset.reader
    if not is_exactly(reader, _FOLDER):
        raise UnfollowableError(f"its reader is {type(reader).__name__}; known is a folder's")
    for option in ("load_bytes", "target_transform", "additional_features"):
        if getattr(dataset, option):
            raise UnfollowableError(f"{option} is given, and what comes of it is not followed")
    paths, labels = zip(*reader.samples, strict=True)
    names = sorted(reader.class_to_idx, key=reader.class_to_idx.__getitem__)
    numbered = [reader.class_to_idx[name] for name in names] == list(range(len(names)))
    return Samples(
        title=type(dataset).__qualname__,
        paths=paths,
        labels=np.array(labels, dtype=np.int64),
        classes=tuple(names) if numbered else None,
        modes=(dataset.input_img_mode,) if dataset.input_img_mode else (),
        steps=() if dataset.transform is None else (dataset.transform,),
        template=(IMAGE, LABEL),
    )


def is_prefetch_loader(thing: Any) -> bool:
    """Whether it is timm's loader around a DataLoader, which normalises whole batches."""
    return is_exactly(thing, _PREFETCH_LOADER)


def read_prefetching(loader: Any, pipeline: Pipeline, log: Log) -> None:
    """Append what a PrefetchLoader does to a batch; what has no equivalent is logged as refused."""
    try:
        _read_prefetching(loader, pipeline, log)
    except TransformError as error:
        log.refuse("batch", _PREFETCH, str(error))


def _read_prefetching(loader: Any, pipeline: Pipeline, log: Log) -> None:
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
    log.native("batch", _PREFETCH, ours, "without a step ahead: the loader has its own")
    erasing = loader.random_erasing
    if erasing is None:
        return
    if erasing.num_splits > 1:
        raise TransformError("it spares a part of each batch from erasing, which ours cannot.")
    erase(erasing, pipeline, log)
