"""Twelve DataLoaders as people write them, over a folder with a folder for each class."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import PIL.Image
import torch
from torch.utils.data import DataLoader, Dataset, Subset
from torchvision import transforms as v1
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Setting:
    """What all recipes share."""

    root: Path
    side_px: int = 224
    batch_size: int = 64
    workers: int = 0

    @property
    def resize_px(self) -> int:
        """The shorter side before the middle is cut out, as in ImageNet's evaluation."""
        return self.side_px * 8 // 7

    def loader(self, dataset: Any, **options: Any) -> DataLoader[Any]:
        """A DataLoader over a Dataset."""
        common = {"batch_size": self.batch_size, "shuffle": True}
        workers = {"num_workers": self.workers, "persistent_workers": self.workers > 0}
        return DataLoader(dataset, **{**common, **workers, **options})

    def train_v1(self, *between: Any, after: tuple[Any, ...] = ()) -> DataLoader[Any]:
        """The older transforms, with something more before or after the tensor is made."""
        steps = [v1.RandomResizedCrop(self.side_px), v1.RandomHorizontalFlip(), *between]
        ends = [v1.ToTensor(), v1.Normalize(MEAN, STD), *after]
        return self.loader(ImageFolder(str(self.root), v1.Compose([*steps, *ends])))


class FileList(Dataset[Any]):
    """A Dataset as users write it: files and labels in lists."""

    def __init__(self, root: Path, transform: Any = None) -> None:
        self.root = str(root)
        self.files = sorted(
            os.path.join(folder, name)
            for folder in os.listdir(root)
            for name in os.listdir(root / folder)
        )
        self.labels = [index % 10 for index in range(len(self.files))]
        self.transform = transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        """Return an image and its label."""
        path = os.path.join(self.root, self.files[index])
        image = PIL.Image.open(path).convert("RGB")
        label = self.labels[index]
        if self.transform:
            image = self.transform(image)
        return image, label


def load_gray(path: str) -> PIL.Image.Image:
    """A `loader` for ImageFolder."""
    with open(path, "rb") as file:
        return PIL.Image.open(file).convert("L")


def _eval_v1(setting: Setting) -> v1.Compose:
    return v1.Compose(
        [
            v1.Resize(setting.resize_px),
            v1.CenterCrop(setting.side_px),
            v1.ToTensor(),
            v1.Normalize(MEAN, STD),
        ]
    )


def _numbers_v2() -> list[Any]:
    return [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]


def _train_v2(setting: Setting) -> DataLoader[Any]:
    steps = [v2.RandomResizedCrop(setting.side_px), v2.RandomHorizontalFlip()]
    return setting.loader(ImageFolder(str(setting.root), v2.Compose([*steps, *_numbers_v2()])))


def _validate_v2(setting: Setting) -> DataLoader[Any]:
    steps = [v2.Resize(setting.resize_px), v2.CenterCrop(setting.side_px)]
    transform = v2.Compose([*steps, *_numbers_v2()])
    return setting.loader(ImageFolder(str(setting.root), transform), shuffle=False)


def _gray(setting: Setting) -> DataLoader[Any]:
    steps = [v1.RandomCrop(setting.side_px, pad_if_needed=True), v1.RandomVerticalFlip()]
    ends = [v1.ToTensor(), v1.Normalize((0.5,), (0.5,))]
    transform = v1.Compose([v1.Resize(setting.resize_px), *steps, *ends])
    return setting.loader(ImageFolder(str(setting.root), transform, loader=load_gray))


def _subset(setting: Setting) -> DataLoader[Any]:
    dataset = ImageFolder(str(setting.root), _eval_v1(setting))
    return setting.loader(Subset(dataset, range(1, len(dataset), 2)), shuffle=False)


RECIPES: dict[str, Callable[[Setting], DataLoader[Any]]] = {
    "train v1": lambda s: s.train_v1(),
    "validate v1": lambda s: s.loader(ImageFolder(str(s.root), _eval_v1(s)), shuffle=False),
    "train v2": _train_v2,
    "validate v2": _validate_v2,
    "RandAugment": lambda s: s.train_v1(v1.RandAugment(2, 9)),
    "TrivialAugment": lambda s: s.train_v1(v1.TrivialAugmentWide()),
    "ColorJitter": lambda s: s.train_v1(v1.ColorJitter(0.4, 0.4, 0.4, 0.1)),
    "RandomErasing": lambda s: s.train_v1(after=(v1.RandomErasing(0.5),)),
    "gray loader": _gray,
    "list of files": lambda s: s.loader(FileList(s.root, _eval_v1(s)), shuffle=False),
    "Subset": _subset,
    "batches of 7": lambda s: s.loader(
        ImageFolder(str(s.root), _eval_v1(s)), shuffle=False, batch_size=7, drop_last=True
    ),
}
