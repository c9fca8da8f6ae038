"""torchcodec decoding to tensors, torchvision transforming these, in a DataLoader."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import torch

from benchmarks.case import Case
from benchmarks.peers.cuda_stand_in import load_stand_in
from benchmarks.peers.data_loader import make_data_loader
from benchmarks.peers.torchvision_v2 import torchvision, transform_of

if torch.version.cuda is None:
    load_stand_in("torchcodec", "libtorchcodec_image.so")

from torchcodec.decoders import decode_jpeg

label = "torchcodec, DataLoader"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {
        "torchcodec": version("torchcodec"),
        "torchvision": torchvision.__version__,
        "torch": torch.__version__,
    }


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    transform = transform_of(case, from_tensors=True)

    def prepare(path: str) -> torch.Tensor:
        tensor: torch.Tensor = transform(decode_jpeg(path, mode="RGB"))
        return tensor

    return make_data_loader(case, cores, prepare)
