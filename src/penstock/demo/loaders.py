"""The loaders of the demo, all doing the same work: crop, flip, normalise to float32.

Also whether they give the same images: all get the boxes and flips that penstock draws for these
samples, and are compared bit for bit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image

from penstock.demo.torchvision_import import import_torchvision
from penstock.geometry import Sizes
from penstock.planner.plan import as_written
from penstock.sources import open_image_folder
from penstock.transforms import IMAGENET_MEAN, IMAGENET_STD
from penstock.transforms.moves import CropMove, FlipMove, Move, ResizeMove

CROP_PX = 224
SEED = 0
# The quickest way to start workers, and torch's own default on Linux until Python 3.14.
# It has to be named: a process that was itself spawned would spawn its workers.
WORKER_START = "fork" if sys.platform == "linux" else None
BATCHES_PER_WORKER = 8  # of an epoch; enough for every worker to get going


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


def _loader(
    data: str,
    work: Work,
    threads: int | None,
    backend: str = "native",
    *,
    shuffle: bool = True,
    output: str | None = None,
) -> Any:
    from penstock.loading.loader import Loader

    return Loader(
        data,
        batch_size=work.batch_size,
        transform=penstock_pipeline(),
        shuffle=shuffle,
        seed=SEED,
        threads=threads,
        backend=backend,
        output=output,
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


def count_identical(work: Work, images: int, *, has_torchvision: bool) -> tuple[int, int]:
    """Return how many of the compared images are equal, and how many were compared.

    An image is equal if the plain pipeline, the folder's loader and the packed file's agree on it.
    """
    source = open_image_folder(work.folder)
    chosen = np.unique(np.linspace(0, len(source) - 1, images).astype(np.int64)).tolist()
    if has_torchvision:
        plain = _torchvision_images(source.paths(np.array(chosen)), chosen)
    else:
        plain = _penstock_images(work, work.folder, chosen, backend="pillow")
    folder = _penstock_images(work, work.folder, chosen)
    packed = _penstock_images(work, work.packed, chosen)
    equal = [
        np.array_equal(image, one) and np.array_equal(image, other)
        for image, one, other in zip(plain, folder, packed, strict=True)
    ]
    return sum(equal), len(equal)


def _penstock_images(
    work: Work, data: str, chosen: Sequence[int], backend: str = "native"
) -> Iterator[Any]:
    loader = _loader(data, work, None, backend, shuffle=False, output="numpy")
    wanted = set(chosen)
    for number, (batch, _) in enumerate(loader):
        first = number * work.batch_size
        for row, image in enumerate(batch):
            if first + row in wanted:
                yield image.copy()  # the batch's memory is used again


def _torchvision_images(paths: Sequence[str], chosen: Sequence[int]) -> Iterator[Any]:
    photos = [Image.open(path).convert("RGB") for path in paths]
    sizes = Sizes(
        np.array([photo.height for photo in photos]), np.array([photo.width for photo in photos])
    )
    (segment,) = as_written(penstock_pipeline()).segments
    moves = segment.sample(SEED, 0, np.array(chosen), sizes)
    torch, torchvision = import_torchvision()
    for row, photo in enumerate(photos):
        yield _torchvision_image(torch, torchvision, photo, moves, row)


def _torchvision_image(
    torch: ModuleType,
    torchvision: ModuleType,
    photo: Image.Image,
    moves: tuple[Move, ...],
    row: int,
) -> Any:
    functional = torchvision.transforms.v2.functional
    image: Any = photo
    for move in moves:
        image = _moved(functional, image, move, row)
    tensor = functional.to_dtype(functional.pil_to_tensor(image), torch.float32, scale=True)
    return functional.normalize(tensor, list(IMAGENET_MEAN), list(IMAGENET_STD)).numpy()


def _moved(functional: ModuleType, image: Any, move: Move, row: int) -> Any:
    if isinstance(move, CropMove):
        box = (move.top[row], move.left[row], move.height[row], move.width[row])
        return functional.crop(image, *map(int, box))
    if isinstance(move, ResizeMove):
        return functional.resize(image, [int(move.height[row]), int(move.width[row])])
    if isinstance(move, FlipMove):
        return functional.horizontal_flip(image) if move.horizontal[row] else image
    raise TypeError(f"the demo's pipeline has no {type(move).__name__}")
