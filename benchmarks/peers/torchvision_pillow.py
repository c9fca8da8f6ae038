"""torchvision's transforms on Pillow images in a DataLoader: what most people train with."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import PIL
import PIL.Image
import torch

from benchmarks.case import Case
from benchmarks.peers.data_loader import make_data_loader
from benchmarks.peers.torchvision_v2 import torchvision, transform_of

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
    transform = transform_of(case)

    def prepare(path: str) -> torch.Tensor:
        with open(path, "rb") as file:
            image = PIL.Image.open(file).convert("RGB")
        tensor: torch.Tensor = transform(image)
        return tensor

    def prepare_array(pixels: Any) -> torch.Tensor:
        tensor: torch.Tensor = transform(PIL.Image.fromarray(pixels))
        return tensor

    return make_data_loader(case, cores, prepare_array if case.arrays else prepare)


def from_bytes(case: Case) -> Callable[[bytes], torch.Tensor]:
    """Return the same pipeline for what other libraries keep: the bytes of image files."""
    transform = transform_of(case)

    def prepare(content: bytes) -> torch.Tensor:
        tensor: torch.Tensor = transform(PIL.Image.open(io.BytesIO(content)).convert("RGB"))
        return tensor

    return prepare
