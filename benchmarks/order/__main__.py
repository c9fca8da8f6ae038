"""`python -m benchmarks.order`: the second study's chain, planned and as written.

The chain is flip, rotate by 30 degrees, jitter of brightness and contrast, crop of the middle half,
resize; in this order, and with crop and resize first. From the file, or a packed file, to the
array. All take turns on one core of one process. `--write` adds what was measured to
results/order.json, and writes results/order.md from it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

import cv2
import PIL

import penstock
from benchmarks.dataset import CHECKOUT
from benchmarks.order.chains import (
    ORDERS,
    FileToArray,
    Task,
    penstock_transform,
    with_opencv,
    with_pillow,
    with_torchvision,
)
from benchmarks.order.photos import FOLDER, photos_of
from benchmarks.order.table import report
from benchmarks.turns import (
    Figures,
    Pass,
    environment_of,
    pass_of_loader,
    stay_on_one_core,
    take_turns,
)
from penstock.geometry import Size
from penstock.planner.rules import of_fidelity
from penstock.planner.rules.rule import Fidelity

RESULTS = CHECKOUT / "benchmarks" / "results"
SIDES_PX = (300, 1000)
BATCH_SIZE = 8


@dataclass(frozen=True, slots=True)
class Photos:
    """How many photos of a size there are, and how many images a pass of a loader has."""

    count: int
    images: int


SIZES = {
    Size(427, 640): Photos(8, 64),
    Size(1500, 2000): Photos(4, 16),
    Size(5000, 3000): Photos(2, 8),
}
PLANS: dict[str, dict[str, Any]] = {
    "as written": {"plan": False},
    "exact": {},
    "fast": {"fidelity": "fast"},
    "relaxed": {
        "fidelity": "fast",
        "allow": tuple(rule.name for rule in of_fidelity(Fidelity.RELAXED)),
    },
}
OTHERS = {"Pillow": with_pillow, "OpenCV": with_opencv, "torchvision": with_torchvision}


def pass_of_library(prepare: FileToArray, paths: Sequence[str]) -> int:
    """Make an array of each photo."""
    for path in paths:
        prepare(path)
    return len(paths)


@cache
def data_for(size: Size) -> tuple[list[str], Path]:
    """Return the photos of a size as files, each as often as a pass has it, and the same packed.

    Each is then a sample with draws of its own, of which the planner looks at some.
    """
    photos = SIZES[size]
    paths = list(islice(cycle(photos_of(size, photos.count)), photos.images))
    packed = FOLDER / f"{size.width}x{size.height}.pen"
    packed.parent.mkdir(parents=True, exist_ok=True)
    packed.unlink(missing_ok=True)
    penstock.pack(paths, packed, progress=False)
    return paths, packed


@contextmanager
def contestants_for(task: Task) -> Iterator[dict[str, Pass]]:
    """Open all contestants of a task."""
    paths, packed = data_for(task.photo)
    once = list(dict.fromkeys(paths))
    with ExitStack() as stack:
        passes: dict[str, Pass] = {
            name: partial(pass_of_library, make(task), once) for name, make in OTHERS.items()
        }
        for (kind, data), (name, options) in product(
            {"file": paths, ".pen": packed}.items(), PLANS.items()
        ):
            loader = penstock.Loader(
                data,
                batch_size=BATCH_SIZE,
                transform=penstock_transform(task),
                threads=1,
                output="numpy",
                layout="hwc",
                **options,
            )
            loader = loader.replica()  # begins no epoch before it is asked for it
            stack.callback(loader.close)
            passes[f"penstock {name}, {kind}"] = partial(pass_of_loader, loader)
        yield passes


def measure(task: Task, rounds: int, least_s: float) -> dict[str, Any]:
    """Return the figures of one task, as they are kept."""
    with contestants_for(task) as contestants:
        figures = take_turns(contestants, rounds, least_s)
    return {"name": task.name, "order": task.order, "what": task.what, **figures}


def _tasks(sizes: Iterable[Size], sides_px: Iterable[int], orders: Iterable[str]) -> list[Task]:
    return [Task(*values) for values in product(sizes, sides_px, orders)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and write them if asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.order", description=__doc__)
    names = {f"{size.width}x{size.height}": size for size in SIZES}
    parser.add_argument("--size", choices=names, help="of the photos (default: all)")
    parser.add_argument("--side", type=int, choices=SIDES_PX, help="of the result (default: both)")
    parser.add_argument("--order", choices=ORDERS, help="default: both")
    parser.add_argument("--rounds", type=int, default=10, help="default: %(default)s")
    parser.add_argument(
        "--seconds", type=float, default=0.25, help="of a turn, at least (default: %(default)s)"
    )
    parser.add_argument("--write", action="store_true", help="write results/order.{json,md}")
    args = parser.parse_args(arguments)
    if args.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {args.rounds}.")
    import torchvision

    stay_on_one_core()
    tasks = _tasks(
        [names[args.size]] if args.size else list(SIZES),
        [args.side] if args.side else SIDES_PX,
        [args.order] if args.order else ORDERS,
    )
    entries = []
    for task in tasks:
        print(task.name, file=sys.stderr, flush=True)
        entries.append(measure(task, args.rounds, args.seconds))
    figures = Figures(environment_of(cv2, PIL, torchvision, penstock), entries)
    if args.write:
        known = [task.name for task in _tasks(SIZES, SIDES_PX, ORDERS)]
        figures = figures.written_to(RESULTS / "order.json", known)
        (RESULTS / "order.md").write_text(report(figures), encoding="utf-8")
    print(report(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
