"""The loaders of the demo, doing the same work: crop, flip, normalise to float32."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from penstock.demo.torchvision_import import import_torchvision

CROP_PX = 224
SEED = 0
# The quickest way to start workers, and torch's own default on Linux until Python 3.14.
# It has to be named: a process that was itself spawned would spawn its workers.
WORKER_START = "fork" if sys.platform == "linux" else None
BATCHES_PER_WORKER = 8  # of an epoch; enough for every worker to reach its stride


@dataclass(frozen=True, slots=True)
class Work:
    """What all loaders of the demo load."""

    folder: str
    packed: str  # the same photos in one file, once they are packed
    batch_size: int


def torchvision_loader(work: Work, workers: int) -> Any:
    """Return torch's DataLoader over torchvision's ImageFolder; raises ImportError.

    A few photos would make an epoch that ends before the workers get going, so they come again
    and again.
    """
    from penstock.transforms import IMAGENET_MEAN, IMAGENET_STD

    torch, torchvision = import_torchvision()
    v2, data = torchvision.transforms.v2, torch.utils.data
    pipeline = v2.Compose(
        [
            v2.RandomResizedCrop(CROP_PX),
            v2.RandomHorizontalFlip(),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )
    photos = torchvision.datasets.ImageFolder(work.folder, pipeline)
    needed = BATCHES_PER_WORKER * workers * work.batch_size
    if len(photos) < needed:
        photos = data.Subset(photos, [i % len(photos) for i in range(needed)])
    return data.DataLoader(
        photos,
        batch_size=work.batch_size,
        shuffle=True,
        num_workers=workers,
        persistent_workers=True,
        multiprocessing_context=WORKER_START,
    )


def pillow_loader(work: Work, threads: int) -> Any:
    """Return a loader over the folder that leaves all work to Pillow."""
    return _loader(work.folder, work, threads, backend="pillow")


def folder_loader(work: Work, threads: int) -> Any:
    """Return a loader over the folder."""
    return _loader(work.folder, work, threads)


def packed_loader(work: Work, threads: int) -> Any:
    """Return a loader over the packed file."""
    return _loader(work.packed, work, threads)


def _loader(data: str, work: Work, threads: int, backend: str = "native") -> Any:
    from penstock.loading.loader import Loader

    return Loader(
        data,
        batch_size=work.batch_size,
        transform=penstock_pipeline(),
        shuffle=True,
        seed=SEED,
        threads=threads,
        backend=backend,
    )


def penstock_pipeline() -> Any:
    """Return the demo's transforms in penstock's words."""
    from penstock import transforms as T

    return T.Compose(
        [
            T.RandomResizedCrop(CROP_PX),
            T.RandomHorizontalFlip(),
            T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
