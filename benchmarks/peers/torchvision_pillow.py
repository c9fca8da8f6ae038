"""torchvision's transforms on Pillow images in a DataLoader: what most people train with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import PIL
import PIL.Image
import torch

from benchmarks.case import Case
from benchmarks.peers.data_loader import make_data_loader
from benchmarks.peers.torchvision_v2 import augmentations, torchvision, v2

label = "torchvision + Pillow, DataLoader"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {
        "torchvision": torchvision.__version__,
        "Pillow": PIL.__version__,
        "torch": torch.__version__,
    }


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    transform = v2.Compose(
        [
            v2.RandomResizedCrop(case.crop_px),
            v2.RandomHorizontalFlip(),
            *augmentations(case),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(case.mean, case.std),
        ]
    )

    def prepare(path: str) -> torch.Tensor:
        with open(path, "rb") as file:
            image = PIL.Image.open(file).convert("RGB")
        tensor: torch.Tensor = transform(image)
        return tensor

    return make_data_loader(case, cores, prepare)
