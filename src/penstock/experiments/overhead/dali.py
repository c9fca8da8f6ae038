"""NVIDIA DALI on the CPU, set up as its own ImageNet example is. Imports DALI: import it late.

Its pixels are not the reference's: its resize, and what the magnitudes of its augmentations mean,
are its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug.auto_augment import auto_augment_image_net
from nvidia.dali.auto_aug.rand_augment import rand_augment
from nvidia.dali.auto_aug.trivial_augment import trivial_augment_wide
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIClassificationIterator

from penstock.experiments.overhead.settings import BATCH_SIZE, CROP_PX, MAGNITUDE, Pipeline
from penstock.transforms import IMAGENET_MEAN, IMAGENET_STD

_AREA_RANGE = (0.08, 1.0)
_RATIO_RANGE = (3 / 4, 4 / 3)
_READER = "files"


class DaliBatches:
    """DALI's iterator, giving pairs of images and labels."""

    def __init__(
        self,
        files: Sequence[str],
        labels: Sequence[int],
        pipeline: Pipeline,
        cores: int,
        *,
        seed: int,
        prefetch: int,
    ) -> None:
        # Its own augmentations use operators by deprecated names, and it insists on telling.
        with warnings.catch_warnings(record=True):
            made = _pipeline(
                list(files),
                list(labels),
                pipeline.method,
                pipeline.layers,
                batch_size=BATCH_SIZE,
                num_threads=cores,
                device_id=None,  # the CPU
                seed=seed,
                prefetch_queue_depth=prefetch,
            )
            self._iterator = DALIClassificationIterator(
                made,
                reader_name=_READER,
                auto_reset=True,
                last_batch_policy=LastBatchPolicy.PARTIAL,
            )

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        # Not `iter(self._iterator)`, which begins an epoch anew: it cannot within another one.
        while (batch := next(self._iterator, None)) is not None:
            yield batch[0]["data"], batch[0]["label"].squeeze(-1).long()


@pipeline_def(enable_conditionals=True)  # type: ignore[untyped-decorator]
def _pipeline(files: list[str], labels: list[int], method: str, layers: int) -> tuple[Any, Any]:
    encoded, classes = fn.readers.file(
        files=files, labels=labels, random_shuffle=True, name=_READER
    )
    images = fn.decoders.image_random_crop(
        encoded,
        output_type=types.RGB,
        random_area=_AREA_RANGE,
        random_aspect_ratio=_RATIO_RANGE,
        num_attempts=10,
    )
    images = fn.resize(images, size=(CROP_PX, CROP_PX), interp_type=types.INTERP_LINEAR)
    mirror = fn.random.coin_flip(probability=0.5)
    if method in {"randaugment", "autoaugment", "trivialaugment"}:
        images = fn.flip(images, horizontal=mirror)
        mirror = False
        if method == "randaugment":
            images = rand_augment(images, n=layers, m=MAGNITUDE, fill_value=0)
        elif method == "autoaugment":
            images = auto_augment_image_net(images, fill_value=0)
        else:
            images = trivial_augment_wide(images, fill_value=0)
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[255 * mean for mean in IMAGENET_MEAN],
        std=[255 * std for std in IMAGENET_STD],
        mirror=mirror,
    )
    return images, classes
