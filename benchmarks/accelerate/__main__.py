"""`python -m benchmarks.accelerate`: each recipe before and after, by turns, on the same cores.

The DataLoader has as many worker processes as there are cores, kept from epoch to epoch, and the
accelerated loader as many threads. A turn is one epoch over a folder of photos; the first of each
is not counted.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import PIL

import penstock
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import aligned
from penstock.demo.torchvision_import import import_torchvision
from penstock.usable_cores import usable_cores

HEADINGS = ("recipe", "DataLoader, images/s", "accelerated, images/s", "times")
RESULT = CHECKOUT / "benchmarks" / "results" / "accelerate.md"
_CLASSES = 10


@dataclass(frozen=True, slots=True)
class Compared:
    """Images per second of one recipe, one value a round."""

    recipe: str
    theirs: tuple[float, ...]
    ours: tuple[float, ...]

    @property
    def row(self) -> tuple[str, ...]:
        """Medians, with the least and the largest beside them."""
        times = ratio_in_each_round(self.ours, self.theirs)
        return (
            self.recipe,
            _cell(Spread.of(self.theirs), 0),
            _cell(Spread.of(self.ours), 0),
            _cell(times, 2),
        )


def make_class_folders(paths: Sequence[str], root: Path) -> None:
    """Link photos into folders of classes, as ImageFolder wants them."""
    for index, path in enumerate(paths):
        folder = root / f"class_{index % _CLASSES}"
        folder.mkdir(exist_ok=True)
        (folder / f"{index:06}{Path(path).suffix}").symlink_to(Path(path).resolve())


def images_per_second(loader: Iterable[Any]) -> float:
    """Return the rate of one epoch."""
    started = time.perf_counter()
    images = sum(len(batch[0]) for batch in loader)
    return images / (time.perf_counter() - started)


def compare(recipe: str, theirs: Any, cores: int, rounds: int) -> Compared:
    """Measure a DataLoader and what it becomes, a turn each by turns."""
    ours = penstock.accelerate(theirs, threads=cores)
    turns = [(images_per_second(theirs), images_per_second(ours)) for _ in range(rounds + 1)][1:]
    ours.close()
    return Compared(recipe, tuple(turn[0] for turn in turns), tuple(turn[1] for turn in turns))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all recipes, or some."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accelerate", description=__doc__)
    parser.add_argument("--recipes", help="some of them, by comma")
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, default=512, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--write", action="store_true", help=f"write results/{RESULT.name}")
    args = parser.parse_args(arguments)
    for name in ("images", "rounds"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be at least 1, got {getattr(args, name)}.")
    torch, torchvision = import_torchvision()
    torch.set_num_threads(1)
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # or importing it asks the network for a newer one
    from benchmarks.accelerate.albumentations_recipes import ALBUMENTATIONS_RECIPES
    from benchmarks.accelerate.recipes import RECIPES, Setting

    recipes = RECIPES | ALBUMENTATIONS_RECIPES
    names = args.recipes.split(",") if args.recipes else list(recipes)
    unknown = sorted(set(names) - set(recipes))
    if unknown:
        parser.error(f"no recipe {', '.join(unknown)}; there are {', '.join(recipes)}.")
    cores = usable_cores()
    folder = args.data or default_folder()
    compared = []
    with tempfile.TemporaryDirectory() as linked:
        root = Path(linked)
        make_class_folders(image_paths(folder, args.images), root)
        for name in names:
            theirs = recipes[name](Setting(root, workers=cores))
            compared.append(compare(name, theirs, cores, args.rounds))
            print("  ".join(compared[-1].row), file=sys.stderr, flush=True)
    libraries = (PIL, penstock, torch, torchvision)
    lines = [
        "Images per second of a DataLoader, and of `penstock.accelerate(dataloader)`.",
        "",
        f"- {cpu_name()}; {system_name()}; Python {platform.python_version()}",
        f"- {', '.join(f'{each.__name__} {each.__version__}' for each in libraries)}",
        f"- {cores} cores: as many worker processes, kept from epoch to epoch; as many threads",
        f"- {args.rounds} alternating epochs over {args.images} images from {folder.name}",
        "- one epoch of each to warm up is not counted; cells are median (least-largest)",
        "",
        *aligned([HEADINGS, *(one.row for one in compared)]),
    ]
    print("\n".join(lines))
    if args.write:
        command = f"python -m benchmarks.accelerate {' '.join(arguments or sys.argv[1:])}"
        text = "\n".join(["# accelerate", "", *lines, "", f"Made by `{command}`.", ""])
        RESULT.write_text(text, encoding="utf-8")
    return 0


def _cell(spread: Spread, digits: int) -> str:
    median, least, largest = (
        f"{value:,.{digits}f}" for value in (spread.median, spread.least, spread.largest)
    )
    return f"{median} ({least}-{largest})"


if __name__ == "__main__":
    sys.exit(main())
