"""OpenCV decoding and resizing in a DataLoader.

Not the reference's pixels: cv2.resize does not smooth before it shrinks, so it also does less work.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch

from benchmarks.case import Case
from benchmarks.peers.data_loader import make_data_loader

label = "OpenCV, DataLoader"

TRIES = 10
AREA_RANGE = (0.08, 1.0)
LOG_RATIO_RANGE = (math.log(3 / 4), math.log(4 / 3))
DECODE_FLAGS = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"OpenCV": cv2.__version__, "torch": torch.__version__}


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    if case.augment_layers:
        raise ValueError("OpenCV has no RandAugment. Leave it out with --peers.")
    levels = np.arange(256, dtype=np.float32)[:, None] / 255
    normalised = (levels - np.asarray(case.mean, np.float32)) / np.asarray(case.std, np.float32)
    table = normalised.reshape(256, 1, 3)

    def prepare(path: str) -> torch.Tensor:
        image = cv2.imdecode(np.fromfile(path, dtype=np.uint8), DECODE_FLAGS)
        if image is None:
            raise OSError(f"{path}: OpenCV cannot decode it. Leave it out of --data.")
        top, left, height, width = _draw_crop(*image.shape[:2])
        image = image[top : top + height, left : left + width]
        image = cv2.resize(image, (case.crop_px, case.crop_px), interpolation=cv2.INTER_LINEAR)
        if torch.rand(()) < 0.5:
            image = cv2.flip(image, 1)
        channels_first: npt.NDArray[np.float32] = cv2.LUT(image, table).transpose(2, 0, 1)
        return torch.from_numpy(np.ascontiguousarray(channels_first))

    cv2.setNumThreads(0)
    return make_data_loader(case, cores, prepare, on_worker_start=_use_one_thread)


def _use_one_thread(_worker: int) -> None:
    cv2.setNumThreads(0)


def _draw_crop(height: int, width: int) -> tuple[int, int, int, int]:
    """Draw top, left, height and width as torchvision's RandomResizedCrop does."""
    for _ in range(TRIES):
        area = height * width * float(torch.empty(()).uniform_(*AREA_RANGE))
        ratio = math.exp(float(torch.empty(()).uniform_(*LOG_RATIO_RANGE)))
        crop_width = round(math.sqrt(area * ratio))
        crop_height = round(math.sqrt(area / ratio))
        if 0 < crop_width <= width and 0 < crop_height <= height:
            top = int(torch.randint(0, height - crop_height + 1, ()))
            left = int(torch.randint(0, width - crop_width + 1, ()))
            return top, left, crop_height, crop_width
    side = min(height, width)
    return (height - side) // 2, (width - side) // 2, side, side
