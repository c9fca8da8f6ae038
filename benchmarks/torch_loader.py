"""What torch's own kinds of loader and data set cost: `python -m benchmarks.torch_loader`.

Two questions. Does `penstock.torch.DataLoader`, on a packed file, keep up with `penstock.Loader`,
which has no samplers of torch's to ask? And what does `penstock.torch.Dataset` bring inside of
torch's own DataLoader with two workers, over torchvision's ImageFolder in the same? Loaders take
turns, some epochs each; ratios are taken in the same round. The training recipe of torchvision's
references is done in both: RandomResizedCrop to 224, mirrors, floats, Normalize.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import PIL.Image
import torch
from torch.utils.data import DataLoader as TorchLoader

import penstock
import penstock.torch
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import aligned
from penstock import transforms as T

HEADINGS = ("question", "first, images/s", "second, images/s", "first / second")
RESULT = CHECKOUT / "benchmarks" / "results" / "torch_loader.md"
BATCH_SIZE = 64
CLASSES = 4
CORES = 2
LEAST_S = 1.0  # that a loader is measured for in a round


def recipe(library: Any, *conversions: Any) -> Any:
    """Return the transforms, made of those of torchvision or ours."""
    normalize = library.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
    steps = [library.RandomResizedCrop(224), library.RandomHorizontalFlip()]
    return library.Compose([*steps, *conversions, normalize])


def rate_of(loader: Iterable[Any]) -> float:
    """Return how many images come in a second, over whole epochs."""
    started, images = time.perf_counter(), 0
    while not images or time.perf_counter() - started < LEAST_S:
        for batch, _ in loader:
            images += len(batch)
    return images / (time.perf_counter() - started)


def in_turns(
    first: Iterable[Any], second: Iterable[Any], rounds: int
) -> tuple[list[float], list[float]]:
    """Return the rates of both, some epochs of each in every round."""
    rates: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):  # the first one warms up
        for loader, found in zip((first, second), rates, strict=True):
            found.append(rate_of(loader))
    return rates[0][1:], rates[1][1:]


def native_loaders(packed: Path) -> tuple[Iterable[Any], Iterable[Any]]:
    """Return torch's kind of loader and our own, over a packed file."""
    dataset = penstock.torch.Dataset(packed, transform=recipe(T), threads=CORES)
    return (
        penstock.torch.DataLoader(dataset, BATCH_SIZE, shuffle=True),
        penstock.Loader(
            packed, batch_size=BATCH_SIZE, transform=recipe(T), shuffle=True, threads=CORES
        ),
    )


def loaders_of_torch(folder: Path) -> tuple[Iterable[Any], Iterable[Any]]:
    """Return torch's DataLoader with our data set and with torchvision's, two workers each."""
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    theirs = recipe(v2, v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True))

    def make(dataset: Any) -> TorchLoader[Any]:
        return TorchLoader(
            dataset, BATCH_SIZE, shuffle=True, num_workers=CORES, persistent_workers=True
        )

    ours = penstock.torch.Dataset(folder, transform=recipe(T))
    return make(ours), make(ImageFolder(folder, theirs))


def write_folder(paths: Sequence[str], folder: Path) -> None:
    """Copy the photos into class folders."""
    for number, path in enumerate(paths):
        target = folder / f"class_{number % CLASSES}" / f"{number:05}.jpg"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def measure(
    name: str, make: Callable[[Path], tuple[Any, Any]], data: Path, rounds: int
) -> tuple[str, ...]:
    """Return a row of the table."""
    first, second = in_turns(*make(data), rounds)
    return (
        name,
        _spread(Spread.of(first), 0),
        _spread(Spread.of(second), 0),
        _spread(ratio_in_each_round(first, second), 2),
    )


def _spread(one: Spread, digits: int) -> str:
    return f"{one.median:.{digits}f} ({one.least:.{digits}f}-{one.largest:.{digits}f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for a folder of photos."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torch_loader", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, default=512, help="images in an epoch")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the one that warms up")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    args = parser.parse_args(arguments)
    try:
        photos = args.data or default_folder()
        paths = image_paths(photos, args.images)
    except FileNotFoundError as missing:
        print(f"benchmarks: {missing}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    rows: list[tuple[str, ...]] = [HEADINGS]
    with tempfile.TemporaryDirectory() as scratch:
        folder, packed = Path(scratch) / "photos", Path(scratch) / "photos.pen"
        write_folder(paths, folder)
        penstock.pack(folder, packed, progress=False)
        named = "penstock.torch.DataLoader over penstock.Loader, .pen"
        rows.append(measure(named, native_loaders, packed, args.rounds))
        named = "penstock.torch.Dataset over ImageFolder, files, in torch's DataLoader"
        try:
            rows.append(measure(named, loaders_of_torch, folder, args.rounds))
        except ImportError as missing:
            print(f"benchmarks: left out: {missing}", file=sys.stderr)
    setting = (
        f"- {cpu_name()}, {CORES} cores; {system_name()}; Python {platform.python_version()}",
        f"- penstock {penstock.__version__}, torch {torch.__version__}, Pillow {PIL.__version__}",
        f"- {args.rounds} alternating rounds, {args.images} images from {photos.name}",
        f"- batches of {BATCH_SIZE}",
        "- images/s: median (least-largest) over the rounds",
    )
    text = "\n".join([*setting, "", *aligned(rows), ""])
    print(text)
    if args.write:
        made_by = "Made by `python -m benchmarks.torch_loader --write`."
        RESULT.write_text(f"# torch's kinds of loader and data set\n\n{text}\n{made_by}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
