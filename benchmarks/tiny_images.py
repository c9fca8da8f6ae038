"""How many tiny images a core delivers: `python -m benchmarks.tiny_images`.

Raw images of 32x32 pixels in a packed file, augmented as CIFAR's usually are, as float32 batches of
256. So little work on each pixel shows what the loader itself costs for a sample.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import PIL.Image

import penstock
from benchmarks.environment import cpu_name, system_name
from benchmarks.waterfall import time_threads
from penstock import transforms as T

SIDE, BATCH_SIZE = 32, 256
CIFAR = T.Compose(
    [
        T.RandomCrop(SIDE, padding=4),
        T.RandomHorizontalFlip(),
        T.Normalize((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    ]
)


def write_tiny(folder: Path, count: int) -> str:
    """Pack so many images of noise, which no compression makes smaller."""
    random = np.random.default_rng(0)
    paths = []
    for number in range(count):
        paths.append(str(folder / f"{number:06d}.png"))
        pixels = random.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        PIL.Image.fromarray(pixels).save(paths[-1], compress_level=0)
    target = folder / "tiny.pen"
    penstock.pack(paths, target, labels=[number % 10 for number in range(count)])
    return str(target)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how many come out in a second, and which threads took the time."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tiny_images", description="Measures a loader on 32x32 images."
    )
    parser.add_argument("--images", type=int, default=20_000, help="in an epoch (20000)")
    parser.add_argument("--epochs", type=int, default=15, help="of which the fastest counts (15)")
    args = parser.parse_args(arguments)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        packed = write_tiny(Path(folder), args.images)
        took = time_threads(packed, None, args.epochs, CIFAR, BATCH_SIZE)
    print(f"{cpu_name()}; {system_name()}; penstock {penstock.__version__}")
    print(f"{1e6 / took.all_us:,.0f} images/s on one core: {took.all_us:.2f} us of CPU time each")
    print(f"Python {took.python_us:.2f}, reading {took.reading_us:.2f}, ", end="")
    print(f"computing {took.computing_us:.2f} us")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
