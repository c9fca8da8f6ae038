"""Real photos through the native core and through torchvision: the same bytes.

The parameters are drawn here and given to both sides, so that nothing but pixels is compared.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import PIL.Image

from penstock import _core
from penstock import transforms as T
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.transforms.moves import CropMove, FlipMove, ResizeMove

BOXES_EACH = 6
FILTERS = {2: "BILINEAR", 3: "BICUBIC", 1: "LANCZOS", 0: "NEAREST", 4: "BOX", 5: "HAMMING"}


def random_boxes(rng: np.random.Generator, height: int, width: int, count: int) -> np.ndarray:
    """Top, left, height, width; among them the whole image, thin ones and ones at the edges."""
    boxes = [(0, 0, height, width)]
    while len(boxes) < count:
        box_height, box_width = int(rng.integers(1, height + 1)), int(rng.integers(1, width + 1))
        if len(boxes) == 1:
            box_height = min(box_height, 1 + int(rng.integers(0, 4)))
        top = int(rng.choice([0, height - box_height, rng.integers(0, height - box_height + 1)]))
        left = int(rng.choice([0, width - box_width, rng.integers(0, width - box_width + 1)]))
        boxes.append((top, left, box_height, box_width))
    return np.array(boxes)


def run_native(path: Path, moves: list, count: int) -> list[np.ndarray]:
    """The moves, a row a result, on the file by the core's own threads."""
    engine = _core.Engine(2, 1)
    chunk = engine.fetch(0, [os.fsencode(path)] * count)
    assert chunk.wait(60.0)
    assert not chunk.unreadable.any()
    sizes = Sizes(chunk.height.astype(np.int64), chunk.width.astype(np.int64))
    steps = lower(moves, sizes)
    arrays = [
        np.empty((h, w, 3), np.uint8)
        for h, w in zip(steps.out_sizes.height, steps.out_sizes.width, strict=True)
    ]
    items = np.arange(count, dtype=np.int32)
    chunk.run_to_arrays(items, steps.programs(), arrays)
    assert chunk.wait(120.0)
    assert chunk.status.tolist() == [0] * count, chunk.message(0)
    return arrays


def check_against_torchvision(path: Path, rng: np.random.Generator, functional, filters) -> int:
    """Compare random crops, sizes, filters and flips of one file; returns samples compared."""
    image = PIL.Image.open(path).convert("RGB")
    boxes = random_boxes(rng, image.height, image.width, BOXES_EACH)
    number = filters[int(rng.integers(len(filters)))]
    out = np.where(
        rng.random((BOXES_EACH, 1)) < 0.5, 224, rng.integers(1, 300, (BOXES_EACH, 2))
    ).astype(np.int64)
    flips = rng.random((BOXES_EACH, 2)) < 0.5
    moves = [
        CropMove(*boxes.T),
        ResizeMove(out[:, 0], out[:, 1], number),
        FlipMove(flips[:, 0], flips[:, 1]),
    ]
    compared = 0
    for row, result in enumerate(run_native(path, moves, BOXES_EACH)):
        top, left, height, width = boxes[row].tolist()
        mode = T.InterpolationMode[FILTERS[number]]
        expected = functional.resized_crop(
            image,
            top,
            left,
            height,
            width,
            out[row].tolist(),
            interpolation=mode_for(functional, mode),
        )
        if flips[row, 0]:
            expected = functional.horizontal_flip(expected)
        if flips[row, 1]:
            expected = functional.vertical_flip(expected)
        np.testing.assert_array_equal(result, np.asarray(expected), err_msg=f"{path} {boxes[row]}")
        compared += result.size
    return compared


def mode_for(functional, mode: T.InterpolationMode):
    """Torchvision's own enum member for our mode."""
    from torchvision.transforms import InterpolationMode

    return InterpolationMode[mode.name]


def test_in1k(in1k, torchvision, isa) -> None:
    """Every photo, random boxes, all filters, every instruction set."""
    from torchvision.transforms.v2 import functional

    rng = np.random.default_rng(1)
    for path in in1k:
        check_against_torchvision(path, rng, functional, list(FILTERS))


def test_large(large, torchvision, isa) -> None:
    """Photos of many megapixels; progressive ones take libjpeg's way."""
    from torchvision.transforms.v2 import functional

    rng = np.random.default_rng(2)
    for path in large:
        check_against_torchvision(path, rng, functional, [2, 3])


def test_normalised_float32_in1k(in1k, torchvision, isa) -> None:
    """A whole training pipeline: float32 to the last bit, which is well within 1e-6."""
    import torch
    from torchvision.transforms import v2
    from torchvision.transforms.v2 import functional

    from penstock import Loader
    from penstock.planner.plan import as_written

    transform = T.Compose(
        [
            T.RandomResizedCrop(224),
            T.RandomHorizontalFlip(),
            T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
    finish = v2.Compose(
        [
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
    files = in1k[::4]
    loader = Loader(files, batch_size=16, transform=transform, seed=9, output="torch")
    images = torch.cat(list(loader))

    segment = as_written(transform).segments[0]
    for sample, path in enumerate(files):
        image = PIL.Image.open(path).convert("RGB")
        sizes = Sizes(np.array([image.height]), np.array([image.width]))
        crop, resize, flip = segment.sample(9, 0, np.array([sample]), sizes)
        box = [int(v[0]) for v in (crop.top, crop.left, crop.height, crop.width)]
        expected = functional.resized_crop(
            image, *box, [int(resize.height[0]), int(resize.width[0])]
        )
        if flip.horizontal[0]:
            expected = functional.horizontal_flip(expected)
        assert torch.equal(images[sample], finish(expected))
