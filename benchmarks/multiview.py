"""Several views of each image against a loader per view: `python -m benchmarks.multiview`.

2 crops of 224 and 8 of 96, as DINO takes them: the crops and mirrors alone, and DINO's whole recipe
with colours, blur and solarize. Images go by the hundred through `T.MultiView`, through ten loaders
of one view each one after the other, and through torchvision, which opens each file once. All take
turns on one core; the time is that of the CPU, which other work on the machine disturbs less. What
the first two give is compared bit for bit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

import penstock
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import aligned
from penstock import transforms as T

HEADINGS = ("recipe", "data", "views ms", "ten loaders ms", "torchvision ms", "of ten", "x tv")
COLUMNS = (
    "- ms: CPU time of an image with all its views, median (least-largest)",
    "- of ten: what the views cost, of what ten loaders of one view each cost",
    "- x tv: how many times as long torchvision takes, which opens each file once",
)
GLOBAL_SCALE, LOCAL_SCALE = (0.4, 1.0), (0.05, 0.4)
LOCALS = 8
RESULT = CHECKOUT / "benchmarks" / "results" / "multiview.md"
BATCH_SIZE = 64


def crops(library: Any) -> list[Any]:
    """Return the views of crops and mirrors alone, made of transforms of torchvision or ours."""

    def view(size_px: int, scale: tuple[float, float]) -> Any:
        return library.Compose(
            [library.RandomResizedCrop(size_px, scale), library.RandomHorizontalFlip()]
        )

    return [view(224, GLOBAL_SCALE)] * 2 + [view(96, LOCAL_SCALE)] * LOCALS


def dino(library: Any) -> list[Any]:
    """Return the views of DINO (Caron et al., 2021)."""

    def view(size_px: int, scale: tuple[float, float], blur: float, solarize: float = 0.0) -> Any:
        kernel = 23 if size_px == 224 else 9
        steps = [
            library.RandomResizedCrop(size_px, scale, interpolation=BICUBIC[library.__name__]),
            library.RandomHorizontalFlip(),
            library.RandomApply([library.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8),
            library.RandomGrayscale(0.2),
            library.RandomApply([library.GaussianBlur(kernel, (0.1, 2.0))], p=blur),
        ]
        if solarize:
            steps.append(library.RandomSolarize(128, p=solarize))
        return library.Compose(steps)

    local = view(96, LOCAL_SCALE, blur=0.5)
    first = view(224, GLOBAL_SCALE, blur=1.0)
    return [first, view(224, GLOBAL_SCALE, blur=0.1, solarize=0.2), *[local] * LOCALS]


BICUBIC: dict[str, Any] = {"penstock.transforms": "bicubic"}
RECIPES: dict[str, Callable[[Any], list[Any]]] = {"crops": crops, "DINO": dino}


def make_loader(data: Any, recipe: str) -> penstock.Loader:
    """Return the loader of all views; one thread, torch's form of batches where there is torch."""
    views = T.Compose(
        [T.MultiView(RECIPES[recipe](T)), T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)]
    )
    return penstock.Loader(data, batch_size=BATCH_SIZE, transform=views, threads=1)


def run(loaders: Sequence[Any]) -> float:
    """Return the seconds of CPU that an epoch of all loaders takes."""
    started = time.process_time()
    for loader in loaders:
        for _ in loader:
            pass
    return time.process_time() - started


def check_same(together: penstock.Loader, alone: Sequence[penstock.Loader]) -> None:
    """Raise AssertionError unless views are bit for bit what loaders of one view give."""
    for views, *singles in zip(together, *alone, strict=True):
        for view, single in zip(views, singles, strict=True):
            np.testing.assert_array_equal(np.asarray(view), np.asarray(single))


def torchvision_epoch(recipe: str, paths: Sequence[str]) -> Callable[[], float] | None:
    """Return what runs all files through torchvision's transforms; None without torchvision."""
    try:
        import torch
        from torchvision.transforms import v2
    except ImportError:
        return None
    torch.set_num_threads(1)
    BICUBIC[v2.__name__] = v2.InterpolationMode.BICUBIC
    ending = [
        v2.ToImage(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
    views = [v2.Compose([view, *ending]) for view in RECIPES[recipe](v2)]

    def epoch() -> float:
        started = time.process_time()
        for first in range(0, len(paths), BATCH_SIZE):
            made: list[list[Any]] = [[] for _ in views]
            for path in paths[first : first + BATCH_SIZE]:
                with PIL.Image.open(path) as opened:
                    image = opened.convert("RGB")
                for images, view in zip(made, views, strict=True):
                    images.append(view(image))
            for images in made:
                torch.stack(images)
        return time.process_time() - started

    return epoch


def measure(
    recipe: str, name: str, data: Any, paths: Sequence[str], rounds: int
) -> tuple[str, ...]:
    """Return a row of the table: milliseconds an image, and ratios taken in the same round."""
    # A replica begins no epoch before it is asked for it: that time would count for nobody.
    together = make_loader(data, recipe).replica()
    alone = [together.replica(plan=view) for view in together.plan.views]
    check_same(together, alone)
    theirs = torchvision_epoch(recipe, paths) if name == "files" else None
    seconds: list[list[float]] = [[], [], []]
    for _ in range(rounds + 1):  # the first one warms up; every epoch has its own draws
        seconds[0].append(run([together]))
        seconds[1].append(run(alone))
        if theirs is not None:
            seconds[2].append(theirs())
    ours, ten, other = ([1_000 * took / len(paths) for took in one[1:]] for one in seconds)
    of_ten = ratio_in_each_round(ours, ten)
    return (
        recipe,
        name,
        _spread(Spread.of(ours), 2),
        _spread(Spread.of(ten), 2),
        _spread(Spread.of(other), 1) if other else "-",
        _spread(of_ten, 2),
        _spread(ratio_in_each_round(other, ours), 1) if other else "-",
    )


def _spread(one: Spread, digits: int) -> str:
    return f"{one.median:.{digits}f} ({one.least:.{digits}f}-{one.largest:.{digits}f})"


def rows_for(paths: Sequence[str], rounds: int, recipes: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the table: for each recipe, from files and from a packed file, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows: list[tuple[str, ...]] = [HEADINGS]
    with tempfile.TemporaryDirectory() as scratch:
        packed = Path(scratch) / "photos.pen"
        penstock.pack(list(paths), packed, progress=False)
        for recipe in recipes:
            rows.append(measure(recipe, "files", list(paths), paths, rounds))
            rows.append(measure(recipe, ".pen", packed, paths, rounds))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for a folder of photos."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.multiview", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, default=128, help="images in a round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the one that warms up")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    parser.add_argument("--json", action="store_true", help="print the rows alone, as JSON")
    parser.add_argument("--recipe", choices=RECIPES, action="append", help="one of the recipes")
    args = parser.parse_args(arguments)
    try:
        folder = args.data or default_folder()
        paths = image_paths(folder, args.images)
    except FileNotFoundError as missing:
        print(f"benchmarks: {missing}", file=sys.stderr)
        return 2
    rows = rows_for(paths, args.rounds, args.recipe or RECIPES)
    if args.json:
        print(json.dumps(rows))
        return 0
    setting = (
        f"- {cpu_name()}, one core; {system_name()}; Python {platform.python_version()}",
        f"- penstock {penstock.__version__}, Pillow {PIL.__version__}",
        f"- {args.rounds} alternating rounds, {args.images} images from {folder.name}",
        *COLUMNS,
    )
    text = "\n".join([*setting, "", *aligned(rows), ""])
    print(text)
    if args.write:
        made_by = "Made by `python -m benchmarks.multiview --write`."
        RESULT.write_text(f"# Several views of each image\n\n{text}\n{made_by}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
