"""`python -m benchmarks.accelerate`: each recipe before and after, alternating, on one core each.

The DataLoader has one worker process, the accelerated loader one thread. A turn is one epoch over a
folder of photos; the first of each is not counted, and the best of the others is.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.dataset import default_folder, image_paths
from penstock import accelerate
from penstock.cli.torchvision_import import import_torchvision

_CLASSES = 10


def make_class_folders(paths: Sequence[str], root: Path) -> None:
    """Link photos into folders of classes, as ImageFolder wants them."""
    for index, path in enumerate(paths):
        folder = root / f"class_{index % _CLASSES}"
        folder.mkdir(exist_ok=True)
        (folder / f"{index:06}{Path(path).suffix}").symlink_to(Path(path).resolve())


def images_per_second(loader: Iterable[Any]) -> float:
    """The rate of one epoch."""
    started = time.perf_counter()
    images = sum(len(batch[0]) for batch in loader)
    return images / (time.perf_counter() - started)


def compare(theirs: Any, ours: Any, rounds: int) -> dict[str, float]:
    """Rates of both, a turn each by turns."""
    turns = [(images_per_second(theirs), images_per_second(ours)) for _ in range(rounds + 1)][1:]
    return {
        "dataloader": max(turn[0] for turn in turns),
        "accelerated": max(turn[1] for turn in turns),
        "ratio": statistics.median(mine / other for other, mine in turns),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all recipes, or some."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accelerate", description=__doc__)
    parser.add_argument("--recipes", help="some of them, by comma")
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, default=256, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="timed turns (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    torch, _ = import_torchvision()
    torch.set_num_threads(1)
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # or importing it asks the network for a newer one
    from benchmarks.accelerate.albumentations_recipes import ALBUMENTATIONS_RECIPES
    from benchmarks.accelerate.recipes import RECIPES, Setting

    recipes = RECIPES | ALBUMENTATIONS_RECIPES
    names = options.recipes.split(",") if options.recipes else list(recipes)
    unknown = sorted(set(names) - set(recipes))
    if unknown:
        parser.error(f"no recipe {', '.join(unknown)}; there are {', '.join(recipes)}.")
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_class_folders(image_paths(options.data or default_folder(), options.images), root)
        for name in names:
            theirs = recipes[name](Setting(root, workers=1))
            measured[name] = compare(theirs, accelerate(theirs, threads=1), options.rounds)
            if not options.json:
                rates = measured[name]
                print(
                    f"{name:20} {rates['dataloader']:7,.0f} -> {rates['accelerated']:7,.0f} "
                    f"images/s   {rates['ratio']:5.2f}x",
                    flush=True,
                )
    if options.json:
        json.dump(measured, sys.stdout, indent=2)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
