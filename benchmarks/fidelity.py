"""What fidelity="fast" saves, and what it changes: `python -m benchmarks.fidelity`."""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import penstock
from benchmarks.dataset import default_folder, image_paths
from benchmarks.environment import cpu_name
from penstock import transforms as T

PIPELINES = {
    "RandomResizedCrop(224)": T.Compose([T.RandomResizedCrop(224)]),
    "Resize(256), CenterCrop(224)": T.Compose([T.Resize(256), T.CenterCrop(224)]),
}


@dataclass(frozen=True, slots=True)
class Error:
    """Differences of levels (0 to 255) between fast and exact images."""

    mean: float
    largest: int
    psnr_db: float
    worst_mean: float  # of a single image
    worst_psnr_db: float


def psnr_db(squared_error: float) -> float:
    """Peak signal to noise ratio of 8-bit images."""
    return math.inf if squared_error == 0 else 10 * math.log10(255**2 / squared_error)


def compare(exact: npt.NDArray[np.uint8], fast: npt.NDArray[np.uint8]) -> Error:
    """Compare batches of the same images."""
    difference = np.abs(exact.astype(np.int16) - fast).reshape(len(exact), -1)
    means = difference.mean(axis=1)
    squares = (difference.astype(np.float64) ** 2).mean(axis=1)
    return Error(
        mean=float(means.mean()),
        largest=int(difference.max()),
        psnr_db=psnr_db(float(squares.mean())),
        worst_mean=float(means.max()),
        worst_psnr_db=psnr_db(float(squares.max())),
    )


def make_loader(data: Any, count: int, transform: T.Compose, fidelity: str) -> penstock.Loader:
    """One thread, uint8 images in their order; no epoch begins before it is asked for."""
    loader = penstock.Loader(
        data,
        batch_size=count,
        transform=transform,
        threads=1,
        output="numpy",
        fidelity=fidelity,
    )
    return loader.replica()


def measure(data: Any, count: int, transform: T.Compose, rounds: int) -> tuple[float, float, Error]:
    """Milliseconds an image, exact and fast, in alternating rounds; and the difference.

    The time is that of the CPU, which other work on the machine disturbs less.
    """
    loaders = {name: make_loader(data, count, transform, name) for name in ("exact", "fast")}
    seconds: dict[str, list[float]] = {name: [] for name in loaders}
    images: dict[str, list[npt.NDArray[np.uint8]]] = {name: [] for name in loaders}
    for _ in range(rounds + 1):  # the first one warms up; every epoch has its own draws
        for name, loader in loaders.items():
            start = time.process_time()
            batch, _ = next(iter(loader))
            seconds[name].append(time.process_time() - start)
            images[name].append(batch.copy())
    exact_ms, fast_ms = (
        1_000 * statistics.median(seconds[name][1:]) / count for name in ("exact", "fast")
    )
    error = compare(np.concatenate(images["exact"]), np.concatenate(images["fast"]))
    return exact_ms, fast_ms, error


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for a folder of photos."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, default=64, help="images in a round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the one that warms up")
    args = parser.parse_args(arguments)
    try:
        folder = args.data or default_folder()
        paths = image_paths(folder, args.images)
    except FileNotFoundError as missing:
        print(f"benchmarks: {missing}", file=sys.stderr)
        return 2
    print(f"{cpu_name()}, one thread, {args.images} images from {folder.name}\n")
    print(
        "| pipeline | data | exact ms | fast ms | exact/fast | mean | largest | PSNR dB | worst |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        packed = Path(scratch) / "photos.pen"
        penstock.pack(list(paths), packed, progress=False)
        for name, transform in PIPELINES.items():
            for form, data in (("files", list(paths)), (".pen", packed)):
                exact_ms, fast_ms, error = measure(data, len(paths), transform, args.rounds)
                print(
                    f"| {name} | {form} | {exact_ms:.2f} | {fast_ms:.2f} "
                    f"| {exact_ms / fast_ms:.2f} "
                    f"| {error.mean:.3f} | {error.largest} | {error.psnr_db:.1f} "
                    f"| {error.worst_mean:.2f}, {error.worst_psnr_db:.1f} dB |"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
