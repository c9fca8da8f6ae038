"""Whether penstock's images are the plain pipeline's, bit for bit.

All get the same boxes and flips: the ones penstock draws for these samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image

from penstock.demo.loaders import SEED, Work, penstock_pipeline
from penstock.demo.torchvision_import import import_torchvision
from penstock.geometry import Sizes
from penstock.planner.plan import as_written
from penstock.sources import open_image_folder
from penstock.transforms import IMAGENET_MEAN, IMAGENET_STD
from penstock.transforms.moves import CropMove, FlipMove, Move, ResizeMove


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
    from penstock.loading.loader import Loader

    loader = Loader(
        data,
        batch_size=work.batch_size,
        transform=penstock_pipeline(),
        seed=SEED,
        output="numpy",
        backend=backend,
    )
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
