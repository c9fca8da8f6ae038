"""Images of 32 x 32 pixels, as CIFAR has them: what is left is a loader's overhead per sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.case import PADDED, Case
from benchmarks.cases.kind import CaseKind
from benchmarks.dataset import CHECKOUT, image_paths

SIDE = 32
FOLDER = CHECKOUT / "build" / "benchmark_tiny"
ARRAYS = "images.npy"


def make_case(paths: tuple[str, ...]) -> Case:
    """Return the case of CIFAR's usual pipeline."""
    return Case(
        name=KIND.name,
        question=(
            "Images per second of 32 x 32 pixels: RandomCrop(32, padding=4), "
            "RandomHorizontalFlip, Normalize, to float32 CHW in batches of 256"
        ),
        paths=paths,
        labels=tuple(index % 10 for index in range(len(paths))),
        crop_px=SIDE,
        mean=(0.4914, 0.4822, 0.4465),
        std=(0.2470, 0.2435, 0.2616),
        batch_size=256,
        crop=PADDED,
        arrays=str(Path(paths[0]).parent / ARRAYS),
    )


def make_images(photos: Path, count: int) -> tuple[str, ...]:
    """Cut images from photos; as files to pack, and as one array for those who keep them all.

    Each is a different window of a photo. Returns the files, in the order of the array.
    """
    import numpy as np
    import PIL.Image

    folder = FOLDER / f"{photos.name}-{count}"
    files = tuple(str(folder / f"{number:06d}.png") for number in range(count))
    if (folder / ARRAYS).exists():
        return files
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted(set(image_paths(photos, count)))
    rng = np.random.default_rng(0)
    images: list[Any] = []
    for number, path in enumerate(sources):
        with PIL.Image.open(path) as file:
            pixels = np.asarray(file.convert("RGB").resize((128, 128)))
        for _ in range(number, count, len(sources)):
            top, left = rng.integers(0, 128 - SIDE, 2)
            images.append(pixels[top : top + SIDE, left : left + SIDE])
    for name, image in zip(files, images, strict=True):
        PIL.Image.fromarray(image).save(name)
    np.save(folder / ARRAYS, np.stack(images))  # last: it says that the folder is complete
    return files


KIND = CaseKind(
    name="tiny_32",
    title="Tiny images",
    make=make_case,
    photos="in1k",
    images=20_000,
    peers=(
        *("penstock_packed", "penstock_folder", "torchvision_pillow", "opencv", "albumentations"),
        *("spdl", "tf_data", "ffcv_raw_400"),
    ),
    cores=(1,),
    rounds=3,
    compares_pixels=False,
    make_images=make_images,
)
