"""The same photos through five loaders: whose images are equal, and how far apart are the others?

Each function returns a loader over the same folder, with the same work: resize, crop, uint8.
Compare any two of them, and look at the report:

penstock certify examples/certify_loaders.py:torchvision_pillow \
  examples/certify_loaders.py:torchvision_tensor --html report.html

CERTIFY_FOLDER names another folder of class folders than the photos made for this.

Run:  python examples/certify_loaders.py
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

import penstock as ps
from penstock import transforms as T

# To a square: libraries round the longer side, and the corner of a crop, in ways of their own.
RESIZE_PX, CROP_PX, BATCH_SIZE, IMAGES = (256, 256), 224, 8, 24


def photos() -> Path:
    """Return the folder of class folders that all of them read."""
    given = os.environ.get("CERTIFY_FOLDER")
    if given is not None:
        return Path(given)
    folder = Path("sample_set")
    return folder if folder.is_dir() else Path(ps.make_sample_set(folder, images=IMAGES))


def torchvision_pillow() -> DataLoader[Any]:
    """Decode, resize and crop with Pillow: what penstock equals."""
    steps = [v2.Resize(RESIZE_PX), v2.CenterCrop(CROP_PX), v2.PILToTensor()]
    return DataLoader(ImageFolder(photos(), v2.Compose(steps)), BATCH_SIZE)


def torchvision_tensor() -> DataLoader[Any]:
    """Decode with Pillow, resize and crop as a tensor: the same code in another order."""
    steps = [v2.PILToTensor(), v2.Resize(RESIZE_PX, antialias=True), v2.CenterCrop(CROP_PX)]
    return DataLoader(ImageFolder(photos(), v2.Compose(steps)), BATCH_SIZE)


def torchvision_io() -> DataLoader[Any]:
    """Decode with torchvision.io, resize and crop as a tensor."""
    from torchvision.io import ImageReadMode, decode_image

    def decode(path: str) -> torch.Tensor:
        image: torch.Tensor = decode_image(path, mode=ImageReadMode.RGB)
        return image

    steps = [v2.Resize(RESIZE_PX, antialias=True), v2.CenterCrop(CROP_PX)]
    return DataLoader(ImageFolder(photos(), v2.Compose(steps), loader=decode), BATCH_SIZE)


def ours() -> ps.Loader:
    """Decode, resize and crop with penstock."""
    steps = T.Compose([T.Resize(RESIZE_PX), T.CenterCrop(CROP_PX)])
    return ps.Loader(photos(), transform=steps, batch_size=BATCH_SIZE)


def dali() -> Iterator[tuple[Any, Any]]:
    """Decode, resize and crop with NVIDIA DALI on the CPU."""
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.base_iterator import LastBatchPolicy
    from nvidia.dali.plugin.pytorch import DALIClassificationIterator

    listed = ImageFolder(photos()).samples

    @pipeline_def(batch_size=BATCH_SIZE, num_threads=2, device_id=None)
    def pipeline() -> tuple[Any, Any]:
        files, labels = fn.readers.file(
            files=[path for path, _ in listed], labels=[label for _, label in listed], name="files"
        )
        images = fn.decoders.image(files, output_type=types.RGB)
        images = fn.resize(images, size=RESIZE_PX, interp_type=types.INTERP_TRIANGULAR)
        images = fn.crop_mirror_normalize(
            images, dtype=types.UINT8, output_layout="CHW", crop=(CROP_PX, CROP_PX)
        )
        return images, labels

    batches = DALIClassificationIterator(
        pipeline(), reader_name="files", last_batch_policy=LastBatchPolicy.PARTIAL
    )
    return ((batch["data"], batch["label"].squeeze(1)) for (batch,) in batches)


LOADERS: tuple[Callable[[], Any], ...] = (ours, torchvision_tensor, torchvision_io, dali)


def main() -> None:
    """Compare each loader with torchvision on Pillow images."""
    for loader in LOADERS:
        try:
            found = ps.certify(torchvision_pillow, loader, images="all")
        except ps.CertifyError as error:
            print(f"{loader.__name__}: skipped, {error}")
            continue
        print(f"{loader.__name__}: {found.verdict}")


if __name__ == "__main__":
    main()
