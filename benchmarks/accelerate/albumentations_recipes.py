"""DataLoaders with Albumentations, as people write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import albumentations as A
import numpy as np
import PIL.Image
from albumentations.pytorch import ToTensorV2
from torch.utils.data import DataLoader

from benchmarks.accelerate.recipes import FileList, Setting


class ArrayFileList(FileList):
    """The same list of files; images are arrays, and transforms take them by name."""

    def __getitem__(self, index: int) -> tuple[Any, int]:
        """Return an image and its label."""
        image = np.array(PIL.Image.open(f"{self.root}/{self.files[index]}").convert("RGB"))
        if self.transform is not None:
            image = self.transform(image=image)["image"]
        return image, self.labels[index]


def _loader(setting: Setting, *steps: Any) -> DataLoader[Any]:
    transform = A.Compose([*steps, A.Normalize(), ToTensorV2()])
    return setting.loader(ArrayFileList(setting.root, transform))


def _crop(setting: Setting) -> DataLoader[Any]:
    side_px = setting.side_px
    return _loader(setting, A.RandomCrop(side_px, side_px, pad_if_needed=True), A.HorizontalFlip())


def _resized_crop(setting: Setting) -> DataLoader[Any]:
    return _loader(
        setting, A.RandomResizedCrop((setting.side_px, setting.side_px)), A.HorizontalFlip()
    )


def _colours(setting: Setting) -> DataLoader[Any]:
    side_px = setting.side_px
    return _loader(
        setting,
        A.RandomResizedCrop((side_px, side_px)),
        A.HorizontalFlip(),
        A.RandomBrightnessContrast(),
    )


ALBUMENTATIONS_RECIPES: dict[str, Callable[[Setting], DataLoader[Any]]] = {
    "A.RandomCrop": _crop,
    "A.RandomResizedCrop": _resized_crop,
    "A.BrightnessContrast": _colours,
}
