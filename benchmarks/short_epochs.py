"""What short epochs cost: `python -m benchmarks.short_epochs`.

150 photos in batches of 32 are five batches, so most of the time an epoch begins or ends. The same
photos twenty times in an epoch have no such seams; both loaders take turns on one core.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import penstock
from benchmarks.dataset import default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread
from penstock import transforms as T

BATCH_SIZE = 32
TIMES = 20  # that the long epoch has every photo
CLASSIFY = T.Compose(
    [
        T.RandomResizedCrop(224),
        T.RandomHorizontalFlip(),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)


def loader_of(paths: Sequence[str], packed: Path) -> penstock.Loader:
    """Pack the photos, and load them with one thread."""
    penstock.pack(paths, packed, labels=list(range(len(paths))))
    return penstock.Loader(
        str(packed), batch_size=BATCH_SIZE, transform=CLASSIFY, shuffle=True, seed=0, threads=1
    )


def rate_of(loader: penstock.Loader, epochs: int) -> float:
    """Return images per second over so many epochs."""
    images, started = 0, time.perf_counter()
    for _ in range(epochs):
        images += sum(len(labels) for _, labels in loader)
    return images / (time.perf_counter() - started)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both rates and their ratio."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.short_epochs", description="Measures the seams between epochs."
    )
    parser.add_argument("--data", type=Path, help="a folder of JPEG files")
    parser.add_argument("--images", type=int, default=150, help="in a short epoch (150)")
    parser.add_argument("--rounds", type=int, default=7, help="of both in turn (7)")
    args = parser.parse_args(arguments)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    photos = image_paths(args.data or default_folder(), args.images)
    with tempfile.TemporaryDirectory() as folder:
        short = loader_of(photos, Path(folder) / "short.pen")
        long = loader_of([*photos] * TIMES, Path(folder) / "long.pen")
        turns = range(args.rounds + 1)  # the first warms up
        rounds = [(rate_of(short, 3 * TIMES), rate_of(long, 3)) for _ in turns]
        short.close()
        long.close()
    of_short, of_long = zip(*rounds[1:], strict=True)
    ratio = Spread.of([mine / whole for mine, whole in rounds[1:]])
    print(f"{cpu_name()}; {system_name()}; penstock {penstock.__version__}")
    print(f"{len(photos)} photos in an epoch: {Spread.of(of_short).median:,.0f} images/s")
    print(f"{len(photos) * TIMES} in an epoch: {Spread.of(of_long).median:,.0f} images/s")
    print(f"short over long: {ratio.median:.3f} ({ratio.least:.3f}-{ratio.largest:.3f})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
