"""NVIDIA DALI on the CPU, set up as its own ImageNet example is.

Not the reference's pixels: its resize, and what its RandAugment's magnitudes mean, are its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from nvidia import dali
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug.rand_augment import rand_augment
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIClassificationIterator

from benchmarks.case import CENTRE, PADDED, UINT8, Case, refuse_unless

label = "DALI, CPU"

AREA_RANGE = (0.08, 1.0)
RATIO_RANGE = (3 / 4, 4 / 3)
READER = "files"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"DALI": dali.__version__, "torch": torch.__version__}


class Batches:
    """DALI's iterator, giving pairs and starting anew each time it is iterated."""

    def __init__(self, case: Case, cores: int) -> None:
        pipeline = _pipeline(
            case,
            batch_size=case.batch_size,
            num_threads=cores,
            device_id=None,
            seed=case.seed,
        )
        self._iterator = DALIClassificationIterator(
            pipeline,
            reader_name=READER,
            auto_reset=True,
            last_batch_policy=LastBatchPolicy.PARTIAL,
        )

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for (batch,) in self._iterator:
            yield batch["data"], batch["label"]


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a pipeline with a thread for each core."""
    refuse_unless(case.crop != PADDED, "DALI", "reader of tiny images in memory")
    torch.set_num_threads(1)
    return Batches(case, cores)


@pipeline_def(enable_conditionals=True)  # type: ignore[untyped-decorator]
def _pipeline(case: Case) -> tuple[Any, Any]:
    files, labels = fn.readers.file(
        files=list(case.paths * case.repeats),
        labels=list(case.labels * case.repeats),
        random_shuffle=True,
        name=READER,
    )
    size = (case.crop_px, case.crop_px)
    mirror: Any = False
    if case.crop == CENTRE:
        images = fn.decoders.image(files, output_type=types.RGB)
        images = fn.resize(images, resize_shorter=case.resize_px, interp_type=types.INTERP_LINEAR)
    else:
        images = fn.decoders.image_random_crop(
            files,
            output_type=types.RGB,
            random_area=AREA_RANGE,
            random_aspect_ratio=RATIO_RANGE,
            num_attempts=10,
        )
        images = fn.resize(images, size=size, interp_type=types.INTERP_LINEAR)
        mirror = fn.random.coin_flip(probability=0.5)
    if case.augment_layers:
        images = fn.flip(images, horizontal=mirror)
        images = rand_augment(images, n=case.augment_layers, m=case.augment_magnitude, fill_value=0)
        mirror = False
    as_pixels = case.output == UINT8
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.UINT8 if as_pixels else types.FLOAT,
        output_layout="CHW",
        crop=size,
        mean=[0.0] * 3 if as_pixels else [255 * mean for mean in case.mean],
        std=[1.0] * 3 if as_pixels else [255 * std for std in case.std],
        mirror=mirror,
    )
    return images, labels
