"""Loaders on each format: torch's DataLoader as is usual for it, and penstock's Loader."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import PIL.Image

from penstock.demo.loaders import WORKER_START
from penstock.demo.torchvision_import import import_torch_if_there
from penstock.experiments.formats.augmentations import penstock_pipeline, torchvision_pipeline
from penstock.experiments.formats.forms import FORMS
from penstock.experiments.formats.readers import (
    Found,
    MapReader,
    Stored,
    open_map,
    open_stream,
    shuffled,
)

SEED = 0
Prepare = Callable[[Stored], Any]


@dataclass(frozen=True, slots=True)
class Load:
    """What a loader is asked for."""

    form: str
    folder: str  # of the format
    batch_size: int
    cores: int
    augmentation: str
    shuffle: bool = True


def prepare_with(transform: Any) -> Prepare:
    """Return what makes a tensor of a stored image, the same for all formats: Pillow decodes."""

    def prepare(stored: Stored) -> Any:
        if isinstance(stored, bytes):
            with PIL.Image.open(io.BytesIO(stored)) as image:
                return transform(image.convert("RGB"))
        return transform(PIL.Image.fromarray(stored))

    return prepare


def torch_loader(load: Load) -> Any:
    """Return a DataLoader with a worker process per core."""
    torch = import_torch_if_there()
    if torch is None:
        raise ImportError("torch is not installed")
    prepare = prepare_with(torchvision_pipeline(load.augmentation))
    is_stream = FORMS[load.form].is_stream
    # A DataLoader tells the two kinds apart by torch's class.
    stream: Any = type("Streamed", (_Streamed, torch.utils.data.IterableDataset), {})
    data = stream(load, prepare) if is_stream else _Mapped(load, prepare)
    torch.manual_seed(SEED)
    return torch.utils.data.DataLoader(
        data,
        batch_size=load.batch_size,
        shuffle=None if is_stream else load.shuffle,
        num_workers=load.cores,
        persistent_workers=True,
        multiprocessing_context=WORKER_START,
    )


class _Mapped:
    """A torch Dataset; each worker opens the files for itself, as h5py and lmdb demand."""

    def __init__(self, load: Load, prepare: Prepare) -> None:
        self._load, self._prepare = load, prepare
        self._length = len(open_map(load.form, load.folder))
        self._reader: MapReader | None = None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> tuple[Any, int]:
        if self._reader is None:
            self._reader = open_map(self._load.form, self._load.folder)
        found = self._reader.read(index)
        return self._prepare(found.image), found.label


class _Streamed:
    """A torch IterableDataset: each worker has some of the shards, and a shuffle buffer."""

    def __init__(self, load: Load, prepare: Prepare) -> None:
        self._load, self._prepare = load, prepare
        self._epoch = 0

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        for found in self._samples():
            yield self._prepare(found.image), found.label

    def _samples(self) -> Iterator[Found]:
        torch = import_torch_if_there()
        info = None if torch is None else torch.utils.data.get_worker_info()
        number, workers = (0, 1) if info is None else (info.id, info.num_workers)
        stream = open_stream(self._load.form, self._load.folder)
        dice = np.random.default_rng((SEED, self._epoch))  # the same order in all workers
        self._epoch += 1
        shards = dice.permutation(stream.shards) if self._load.shuffle else range(stream.shards)
        mine = [int(shard) for shard in shards][number::workers]
        found = (sample for shard in mine for sample in stream.read_shard(shard))
        return shuffled(found, dice) if self._load.shuffle else found


def penstock_loader(load: Load) -> Any:
    """Return our loader with a thread per core."""
    from penstock.loading.loader import Loader

    names = {"recordio": "train.rec", "hdf5": "train.h5", "parquet": "train.parquet"}
    names |= {"lmdb": "train_lmdb", "lmdb_raw": "train_lmdb"}
    names |= {"pen": "train.pen", "pen_jpeg": "train.pen"}
    return Loader(
        os.path.join(load.folder, names.get(load.form, "")),
        batch_size=load.batch_size,
        transform=penstock_pipeline(load.augmentation),
        shuffle=load.shuffle,
        seed=SEED,
        threads=load.cores,
    )
