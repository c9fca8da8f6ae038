"""What it costs to prepare batches elsewhere: `python -m benchmarks.ray_loader`.

`penstock.ray.RayLoader` on one machine, beside `penstock.Loader` on the same two cores. Nothing is
gained by Ray here: what is missing is the price of its processes, of the copies into and out of its
shared memory, and of messages. On other machines, only the last pass is left for this one to do;
its share is told apart. Loaders take turns, some epochs each; ratios are taken in the same round.
"""

from __future__ import annotations

import argparse
import logging
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import ray

import penstock
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import aligned
from penstock import transforms as T
from penstock.ray import RayLoader

RESULT = CHECKOUT / "benchmarks" / "results" / "ray_loader.md"
BATCH_SIZE = 64
CORES = 2
LEAST_S = 2.0  # that a loader is measured for in a round
OBJECT_STORE_BYTES = 400_000_000
HEADINGS = (
    *("pipeline", "Loader, images/s", "RayLoader, images/s", "RayLoader / Loader"),
    *("Loader, CPU us", "RayLoader, CPU us", "of these here", "wire, kB"),
)


def recipe(*augmentations: Any) -> Any:
    """Return the transforms."""
    crops = [T.RandomResizedCrop(224), T.RandomHorizontalFlip()]
    return T.Compose([*crops, *augmentations, T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)])


def cpu_seconds(pids: Sequence[int]) -> float:
    """Return the CPU time that other processes have taken so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def turn(loader: Any) -> tuple[float, float, float]:
    """Return images per second, and CPU seconds per image: of all processes, and of this one."""
    pids = [worker.pid for worker in loader.workers] if isinstance(loader, RayLoader) else []
    began, here, elsewhere = time.perf_counter(), time.process_time(), cpu_seconds(pids)
    images, seconds = 0, 0.0
    while not images or seconds < LEAST_S:
        for batch, _ in loader:
            images += len(batch)
        seconds = time.perf_counter() - began
    here = time.process_time() - here
    return images / seconds, (here + cpu_seconds(pids) - elsewhere) / images, here / images


def measure(name: str, data: Path, transform: Any, rounds: int) -> tuple[str, ...]:
    """Return a row of the table, for loaders that take turns and have the same batches."""
    options: dict[str, Any] = {
        "batch_size": BATCH_SIZE,
        "transform": transform,
        "shuffle": True,
        "output": "numpy",
    }
    local = penstock.Loader(data, threads=CORES, **options)
    with RayLoader(data, workers=CORES, threads=1, **options) as remote:
        for ours, theirs in zip(remote, local, strict=True):
            if not all(map(np.array_equal, ours, theirs)):
                raise AssertionError(f"{name}: the batches differ")
        while len(remote.workers) < CORES:
            time.sleep(0.1)
        figures = [(turn(local), turn(remote)) for _ in range(rounds + 1)]  # the first warms up
        wire = remote.metrics.wire_bytes / (remote.metrics.batches * BATCH_SIZE)
    local.close()
    first, second = zip(*figures[1:], strict=True)
    rates = [one[0] for one in first], [one[0] for one in second]
    return (
        name,
        _spread(Spread.of(rates[0]), 0),
        _spread(Spread.of(rates[1]), 0),
        _spread(ratio_in_each_round(rates[1], rates[0]), 2),
        _spread(Spread.of([one[1] * 1e6 for one in first]), 0),
        _spread(Spread.of([one[1] * 1e6 for one in second]), 0),
        _spread(Spread.of([one[2] * 1e6 for one in second]), 0),
        f"{wire / 1000:.0f}",
    )


def _spread(one: Spread, digits: int) -> str:
    return f"{one.median:.{digits}f} ({one.least:.{digits}f}-{one.largest:.{digits}f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for a folder of photos."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ray_loader", description=__doc__)
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
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    rows: list[tuple[str, ...]] = [HEADINGS]
    # The paths of Ray's sockets must be short.
    with tempfile.TemporaryDirectory(prefix="ps-", dir="/tmp") as scratch:
        folder, packed = Path(scratch) / "photos", Path(scratch) / "photos.pen"
        folder.mkdir()
        for number, path in enumerate(paths):
            (folder / f"{number:05}.jpg").write_bytes(Path(path).read_bytes())
        penstock.pack(folder, packed, progress=False, labels=dict.fromkeys(os.listdir(folder), 0))
        ray.init(
            num_cpus=CORES,
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            _temp_dir=f"{scratch}/ray",
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
        try:
            rows.append(measure("packed file, crop and mirror", packed, recipe(), args.rounds))
            augmented = recipe(T.RandAugment(4, 9))
            rows.append(measure("packed, RandAugment(4, 9)", packed, augmented, args.rounds))
        finally:
            ray.shutdown()
    setting = (
        f"- {cpu_name()}, {CORES} cores; {system_name()}; Python {platform.python_version()}",
        f"- penstock {penstock.__version__}, Ray {ray.__version__}",
        f"- {args.rounds} alternating rounds, {args.images} images from {photos.name}",
        f"- float32 batches of {BATCH_SIZE}; {CORES} threads, or {CORES} workers with one each",
        "- CPU us: of all processes for an image, without Ray's own; 'here' is who takes batches",
        "- median (least-largest) over the rounds",
        "- other work on the machine lowers the rates; CPU times hardly change with it",
    )
    text = "\n".join([*setting, "", *aligned(rows), ""])
    print(text)
    if args.write:
        made_by = "Made by `python -m benchmarks.ray_loader --write`."
        RESULT.write_text(f"# Batches prepared by Ray's workers\n\n{text}\n{made_by}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
