"""Albumentations on images that OpenCV decodes, in a DataLoader.

Not the reference's pixels: it resizes with OpenCV, which does not smooth before it shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import albumentations as A
import cv2
import torch
from albumentations.pytorch import ToTensorV2

from benchmarks.case import CENTRE, FLOAT32, RANDOM, Case, refuse_unless
from benchmarks.peers.data_loader import make_data_loader
from benchmarks.peers.opencv_steps import decode_file

label = "Albumentations, DataLoader"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {
        "Albumentations": A.__version__,
        "OpenCV": cv2.__version__,
        "torch": torch.__version__,
    }


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    refuse_unless(not case.augment_layers, "Albumentations 2.0.8", "RandAugment")
    transform = A.Compose(
        [
            *_crop(case),
            *([A.HorizontalFlip(p=0.5)] if case.flips else []),
            *([A.Normalize(case.mean, case.std)] if case.output == FLOAT32 else []),
            ToTensorV2(),
        ]
    )

    def prepare(source: Any) -> torch.Tensor:
        image = source if case.arrays else decode_file(source)
        tensor: torch.Tensor = transform(image=image)["image"]
        return tensor.contiguous()

    cv2.setNumThreads(0)
    return make_data_loader(case, cores, prepare, on_worker_start=_use_one_thread)


def _crop(case: Case) -> list[Any]:
    size = (case.crop_px, case.crop_px)
    if case.crop == RANDOM:
        return [A.RandomResizedCrop(size, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3))]
    if case.crop == CENTRE:
        return [A.SmallestMaxSize(case.resize_px), A.CenterCrop(*size)]
    padded = case.crop_px + 2 * case.pad_px
    return [A.PadIfNeeded(padded, padded, border_mode=cv2.BORDER_CONSTANT), A.RandomCrop(*size)]


def _use_one_thread(_worker: int) -> None:
    cv2.setNumThreads(0)
