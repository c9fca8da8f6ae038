"""torchvision's CocoDetection in its wrapper, on Pillow images, in a DataLoader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, RandomSampler

from benchmarks.case import Case
from benchmarks.coco_set import BOXES_ALONE, image_root
from benchmarks.peers.torchvision_pillow import versions
from benchmarks.peers.torchvision_v2 import torchvision, v2

__all__ = ["batches", "label", "versions"]

label = "torchvision CocoDetection, DataLoader"


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    return loader_on(BOXES_ALONE, case, cores, ("boxes", "labels", "image_id"))


def loader_on(file: Path, case: Case, cores: int, keys: Sequence[str]) -> DataLoader[Any]:
    """Return a DataLoader that gives these keys of the targets."""
    size = (case.crop_px, case.crop_px)
    transforms = v2.Compose(
        [
            *([v2.RandomIoUCrop()] if case.iou_crop else []),
            v2.RandomHorizontalFlip(),
            v2.Resize(size),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.ConvertBoundingBoxFormat("XYXY"),
            v2.SanitizeBoundingBoxes(),
            v2.ToPureTensor(),
        ]
    )
    datasets = torchvision.datasets
    dataset = datasets.CocoDetection(image_root(), str(file), transforms=transforms)
    torch.set_num_threads(1)
    torch.manual_seed(case.seed)
    wrapped = datasets.wrap_dataset_for_transforms_v2(dataset, target_keys=keys)
    return DataLoader(
        wrapped,
        batch_size=case.batch_size,
        sampler=RandomSampler(wrapped, num_samples=case.samples),
        num_workers=cores,
        persistent_workers=True,
        collate_fn=_together,
        worker_init_fn=_use_one_thread,
    )


def _together(samples: list[tuple[Any, Any]]) -> tuple[Any, ...]:
    """As torchvision's reference does for detectors, which take a list of images."""
    return tuple(zip(*samples, strict=True))


def _use_one_thread(_worker: int) -> None:
    torch.set_num_threads(1)
