"""The batches to learn from: one augmentation, by torchvision or by penstock, with either's draws.

torchvision draws from torch's generator, penstock from numbers keyed by seed, epoch and sample, so
the two never see the same crops. To compare what they make of the same crops, `DrawnHere` gives
torchvision's functions the parameters and the order that penstock has drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from penstock import transforms as T
from penstock._core import Effect
from penstock.demo.torchvision_import import import_torchvision
from penstock.geometry import Sizes
from penstock.loading.loader import Loader
from penstock.loading.sampler import Order
from penstock.planner.plan import as_written
from penstock.rng import Draws
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move, ResizeMove, out_sizes

MEAN, STD = (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)
DEGREES = 180.0
CONTRAST, COLOUR = 0.3, 0.3
CROP_SCALE, CROP_RATIO = (0.7, 1.0), (0.8, 1.25)

# Rules of the planner that change more than single values, and so apply only if they are named.
RELAXED_RULES = ("contrast_on_crop", "jitter_before_fill")

Epochs = Callable[[int], Iterable[tuple[Any, Any]]]  # the batches of an epoch, by its number


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is learned from, however it is loaded."""

    folder: Path  # with train and test in it
    side_px: int
    batch_size: int
    seed: int

    @property
    def train(self) -> Path:
        """The folder of the training images."""
        return self.folder / "train"


def augmentation(side_px: int) -> T.Compose:
    """Return the augmentation in penstock's words.

    Colours come before the resize, as many write it, so that rules have something to move.
    """
    return T.Compose(
        [
            T.RandomHorizontalFlip(),
            T.RandomRotation(DEGREES, interpolation="bilinear"),
            T.ColorJitter(contrast=CONTRAST),
            T.ColorJitter(brightness=COLOUR, saturation=COLOUR),
            T.RandomResizedCrop(side_px, scale=CROP_SCALE, ratio=CROP_RATIO),
            T.Normalize(MEAN, STD),
        ]
    )


def no_augmentation(side_px: int) -> T.Compose:
    """Return what is done to test images, in penstock's words."""
    return T.Compose([T.Resize((side_px, side_px)), T.Normalize(MEAN, STD)])


def penstock_loader(lesson: Lesson, data: Path | None = None, **options: Any) -> Loader:
    """Return penstock's loader of the training images, or of `data`."""
    settings: dict[str, Any] = {
        "transform": augmentation(lesson.side_px),
        "batch_size": lesson.batch_size,
        "shuffle": True,
        "drop_last": True,
        "seed": lesson.seed,
        "threads": 1,
        "output": "torch",
        # One process, whatever the environment of this one says.
        "rank": 0,
        "world_size": 1,
    }
    return Loader(lesson.train if data is None else data, **{**settings, **options})


def epochs_of(loader: Loader) -> Epochs:
    """Return penstock's batches by epoch."""

    def batches(epoch: int) -> Iterable[tuple[Any, Any]]:
        loader.set_epoch(epoch)
        return loader

    return batches


def torchvision_epochs(lesson: Lesson) -> Epochs:
    """Return torchvision's batches with torchvision's own draws; raises ImportError."""
    torch, torchvision = import_torchvision()
    v2, bilinear = torchvision.transforms.v2, torchvision.transforms.InterpolationMode.BILINEAR
    images = torchvision.datasets.ImageFolder(
        str(lesson.train),
        v2.Compose(
            [
                v2.RandomHorizontalFlip(),
                v2.RandomRotation(DEGREES, interpolation=bilinear),
                v2.ColorJitter(contrast=CONTRAST),
                v2.ColorJitter(brightness=COLOUR, saturation=COLOUR),
                v2.RandomResizedCrop(lesson.side_px, scale=CROP_SCALE, ratio=CROP_RATIO),
                v2.PILToTensor(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize(MEAN, STD),
            ]
        ),
    )
    loader = torch.utils.data.DataLoader(
        images, batch_size=lesson.batch_size, shuffle=True, drop_last=True
    )

    def batches(_epoch: int) -> Iterable[tuple[Any, Any]]:
        shuffled: Iterable[tuple[Any, Any]] = loader  # anew whenever it is iterated
        return shuffled

    return batches


def torchvision_epochs_drawn_here(lesson: Lesson) -> Epochs:
    """Return torchvision's batches with penstock's draws and order; raises ImportError."""
    torch, torchvision = import_torchvision()
    images = torchvision.datasets.ImageFolder(str(lesson.train))
    drawn_here = DrawnHere(images.samples, lesson)

    def batches(epoch: int) -> Iterator[tuple[Any, Any]]:
        drawn_here.epoch = epoch
        order = Order(len(drawn_here), lesson.seed, epoch, shuffle=True)
        loader = torch.utils.data.DataLoader(
            drawn_here,
            batch_size=lesson.batch_size,
            sampler=order.at(np.arange(len(drawn_here))).tolist(),
            drop_last=True,
        )
        return iter(loader)

    return batches


class DrawnHere:
    """A torch Dataset: Pillow decodes, torchvision's functions do what penstock has drawn."""

    def __init__(self, samples: list[tuple[str, int]], lesson: Lesson) -> None:
        self._torch, torchvision = import_torchvision()
        self._functional = torchvision.transforms.v2.functional
        self._bilinear = torchvision.transforms.InterpolationMode.BILINEAR
        self._samples = samples
        self._seed = lesson.seed
        (segment,) = as_written(augmentation(lesson.side_px)).segments
        self._nodes = segment.ops
        self.epoch = 0

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, label = self._samples[index]
        with Image.open(path) as file:
            image: Any = file.convert("RGB")
        sizes = Sizes(np.array([image.height]), np.array([image.width]))
        for node in self._nodes:
            draws, again = (
                Draws(self._seed, self.epoch, np.array([index]), node.stream) for _ in range(2)
            )
            moves = node.op.sample(draws, sizes)
            if isinstance(node.op, T.RandomRotation):
                # The move has Pillow's matrix; the angle is the one number that was drawn for it.
                (angle,) = again.uniform(-DEGREES, DEGREES).tolist()
                image = self._functional.rotate(image, angle, self._bilinear)
            else:
                for move in moves:
                    image = self._moved(image, move)
            sizes = out_sizes(moves, sizes)
        functional = self._functional
        tensor = functional.to_dtype(functional.pil_to_tensor(image), self._torch.float32, True)
        return functional.normalize(tensor, list(MEAN), list(STD)), label

    def _moved(self, image: Any, move: Move) -> Any:
        functional = self._functional
        match move:
            case CropMove():
                box = (move.top[0], move.left[0], move.height[0], move.width[0])
                return functional.crop(image, *map(int, box))
            case ResizeMove():
                return functional.resize(image, [int(move.height[0]), int(move.width[0])])
            case FlipMove():
                return functional.horizontal_flip(image) if move.horizontal[0] else image
            case EffectMove():
                adjust = {
                    Effect.BRIGHTNESS: functional.adjust_brightness,
                    Effect.CONTRAST: functional.adjust_contrast,
                    Effect.SATURATION: functional.adjust_saturation,
                }[Effect(move.effect[0])]
                return adjust(image, float(move.parameters(0)["factor"]))
        raise TypeError(f"this augmentation has no {type(move).__name__}")


def test_batches(lesson: Lesson) -> list[tuple[Any, Any]]:
    """Return the test images, which are never augmented."""
    loader = penstock_loader(
        lesson,
        lesson.folder / "test",
        transform=no_augmentation(lesson.side_px),
        shuffle=False,
        drop_last=False,
    )
    batches = [(images.clone(), labels.clone()) for images, labels in loader]
    loader.close()
    return batches
