"""OpenCV decoding and resizing in a DataLoader."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import cv2
import torch

from benchmarks.case import Case
from benchmarks.peers.data_loader import make_data_loader
from benchmarks.peers.opencv_steps import Pixels, decode_file, steps_of

label = "OpenCV, DataLoader"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"OpenCV": cv2.__version__, "torch": torch.__version__}


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    return loader_with(decode_file, case, cores)


def loader_with(decode: Any, case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader that decodes in this way."""
    steps = steps_of(case, decode)

    def prepare(source: str | Pixels) -> torch.Tensor:
        return torch.from_numpy(steps(source))

    cv2.setNumThreads(0)
    return make_data_loader(case, cores, prepare, on_worker_start=_start)


def _start(worker: int) -> None:
    cv2.setNumThreads(0)
    random.seed(worker)
