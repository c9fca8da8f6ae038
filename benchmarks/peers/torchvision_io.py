"""torchvision decoding to tensors and transforming these, in a DataLoader."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from benchmarks.case import Case
from benchmarks.peers.cuda_stand_in import load_stand_in
from benchmarks.peers.data_loader import make_data_loader

if torch.version.cuda is None:
    load_stand_in(
        "torchvision", "image.so"
    )  # before torchvision, which looks for its extension when it is imported

from benchmarks.peers.torchvision_v2 import torchvision, transform_of

label = "torchvision.io, DataLoader"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"torchvision": torchvision.__version__, "torch": torch.__version__}


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    transform = transform_of(case, from_tensors=True)
    io = torchvision.io

    def prepare(path: str) -> torch.Tensor:
        image = io.decode_jpeg(io.read_file(path), mode=io.ImageReadMode.RGB)
        tensor: torch.Tensor = transform(image)
        return tensor

    return make_data_loader(case, cores, prepare)
