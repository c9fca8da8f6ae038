"""FFCV on files of its own, in which photos are resized, and re-encoded or stored as pixels.

Not the reference's pixels: it resizes twice, with OpenCV's area filter.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ffcv.writer
import numpy as np
import PIL.Image
import torch
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.basics import IntDecoder
from ffcv.fields.rgb_image import (
    CenterCropRGBImageDecoder,
    RandomResizedCropRGBImageDecoder,
    SimpleRGBImageDecoder,
)
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import (
    NormalizeImage,
    RandomHorizontalFlip,
    RandomTranslate,
    Squeeze,
    ToTensor,
    ToTorchImage,
)

from benchmarks.case import CENTRE, FLOAT32, PADDED, Case, refuse_unless

FILE = "photos.beton"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"FFCV": version("ffcv"), "torch": torch.__version__}


class Photos:
    """What FFCV's writer reads: pixels and labels."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._arrays = np.load(case.arrays) if case.arrays else None

    def __len__(self) -> int:
        return len(self._case.paths)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        label = self._case.labels[index]
        if self._arrays is not None:
            return self._arrays[index], label
        with open(self._case.paths[index], "rb") as file:
            return np.array(PIL.Image.open(file).convert("RGB")), label


def write_as(case: Case, folder: Path, mode: str, most_px: int) -> None:
    """Write the photos with at most so many pixels on the long side."""
    # Its workers are processes that are forked, which hang; threads do the same work.
    ffcv.writer.Process = threading.Thread
    fields = {
        "image": RGBImageField(write_mode=mode, max_resolution=most_px),
        "label": IntField(),
    }
    writer = ffcv.writer.DatasetWriter(str(folder / FILE), fields, num_workers=1)
    writer.from_indexed_dataset(Photos(case), chunksize=16)


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return FFCV's loader with a thread for each core."""
    refuse_unless(not case.augment_layers, "FFCV", "RandAugment")
    torch.set_num_threads(cores)  # what it does in torch is done by one of its threads
    normalisation = []
    if case.output == FLOAT32:
        scaled = (np.array(values) * 255 for values in (case.mean, case.std))
        normalisation = [NormalizeImage(*scaled, np.float32)]
    return Loader(  # type: ignore[no-any-return]
        str(Path(case.written) / FILE),
        batch_size=case.batch_size,
        num_workers=cores,
        order=OrderOption.RANDOM,
        # A file that is in memory is mapped; otherwise FFCV reads ahead of its order.
        os_cache=not case.cold,
        drop_last=False,
        seed=case.seed,
        indices=np.tile(np.arange(len(case.paths)), case.repeats),
        pipelines={
            "image": [
                *_crop(case),
                *([RandomHorizontalFlip()] if case.flips else []),
                *([RandomTranslate(padding=case.pad_px)] if case.crop == PADDED else []),
                *normalisation,
                ToTensor(),
                ToTorchImage(channels_last=False, convert_back_int16=False),
            ],
            "label": [IntDecoder(), ToTensor(), Squeeze()],
        },
    )


def _crop(case: Case) -> list[Any]:
    size = (case.crop_px, case.crop_px)
    if case.crop == CENTRE:
        return [CenterCropRGBImageDecoder(size, ratio=case.crop_px / case.resize_px)]
    if case.crop == PADDED:
        return [SimpleRGBImageDecoder()]
    return [RandomResizedCropRGBImageDecoder(size)]
