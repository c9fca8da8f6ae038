"""DALI on the CPU with its own readers, set up as its ImageNet examples are.

Not torchvision's pixels: its resampling is its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from penstock.experiments.formats.augmentations import AUGMENTATIONS, CROP_PX
from penstock.experiments.formats.loaders import SEED, Load
from penstock.experiments.formats.writers import LABEL_DIGITS
from penstock.transforms import IMAGENET_MEAN, IMAGENET_STD

_AREA, _RATIO = (0.08, 1.0), (3 / 4, 4 / 3)  # of random crops, as torchvision draws them
_READER = "reader"


class DaliLoader:
    """DALI's iterator, giving pairs; every iteration is an epoch."""

    def __init__(self, load: Load) -> None:
        plugin = import_module("nvidia.dali.plugin.pytorch")
        made = import_module("nvidia.dali").pipeline_def(_pipeline)(
            load,
            batch_size=load.batch_size,
            num_threads=load.cores,
            device_id=None,
            seed=SEED,
        )
        self._iterator = plugin.DALIGenericIterator(
            made,
            ["images", "labels"],
            reader_name=_READER,
            auto_reset=True,
            last_batch_policy=plugin.LastBatchPolicy.PARTIAL,
        )

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for (batch,) in self._iterator:
            yield batch["images"], labels_of(batch["labels"])


def labels_of(stored: Any) -> Any:
    """Return one number per sample; WebDataset has labels in decimal digits."""
    if stored.ndim == 2 and stored.shape[1] == LABEL_DIGITS:
        digits = stored.long() - ord("0")
        powers = [10**power for power in reversed(range(LABEL_DIGITS))]
        return (digits * digits.new_tensor(powers)).sum(1)
    return stored.flatten().long()


def _pipeline(load: Load) -> tuple[Any, Any]:
    fn, types = import_module("nvidia.dali.fn"), import_module("nvidia.dali.types")
    encoded, labels = _read(load)
    images = fn.decoders.image_random_crop(
        encoded,
        output_type=types.RGB,
        random_area=_AREA,
        random_aspect_ratio=_RATIO,
        num_attempts=10,
    )
    images = fn.resize(images, size=(CROP_PX, CROP_PX), interp_type=types.INTERP_LINEAR)
    mirror = fn.random.coin_flip(probability=0.5)
    side = CROP_PX
    for what, much in AUGMENTATIONS[load.augmentation]:
        if what == "pad":
            side += 2 * int(much)
            images = fn.crop(images, crop=(side, side), out_of_bounds_policy="pad", fill_values=0)
        elif what == "rotate":
            angle = fn.random.uniform(range=(-much, much))
            images = fn.rotate(
                images, angle=angle, keep_size=True, fill_value=0, interp_type=types.INTERP_NN
            )
        elif what == "resize":
            side = int(much)
            images = fn.resize(images, size=(side, side), interp_type=types.INTERP_LINEAR)
        else:
            images = fn.noise.gaussian(images, stddev=much * 255)
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[255 * mean for mean in IMAGENET_MEAN],
        std=[255 * std for std in IMAGENET_STD],
        mirror=mirror,
    )
    return images, labels


def _read(load: Load) -> tuple[Any, Any]:
    fn, tfrecord = import_module("nvidia.dali.fn"), import_module("nvidia.dali.tfrecord")
    shuffle = {"random_shuffle": load.shuffle, "name": _READER}
    names = sorted(os.listdir(load.folder))
    paths = [os.path.join(load.folder, name) for name in names]
    if load.form == "folder":
        files, labels = fn.readers.file(file_root=load.folder, **shuffle)
        return files, labels
    if load.form == "tfrecord":
        found = fn.readers.tfrecord(
            path=[path for path in paths if path.endswith(".tfrecord")],
            index_path=[path for path in paths if path.endswith(".idx")],
            features={
                "image/encoded": tfrecord.FixedLenFeature((), tfrecord.string, ""),
                "image/class/label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
            },
            **shuffle,
        )
        return found["image/encoded"], found["image/class/label"]
    if load.form == "recordio":
        place = os.path.join(load.folder, "train")
        files, labels = fn.readers.mxnet(path=f"{place}.rec", index_path=f"{place}.idx", **shuffle)
        return files, labels
    files, labels = fn.readers.webdataset(
        paths=[path for path in paths if path.endswith(".tar")],
        index_paths=[path for path in paths if path.endswith(".idx")],
        ext=["jpg", "cls"],
        **shuffle,
    )
    return files, labels
