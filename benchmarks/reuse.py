"""What reuse brings and what it costs in diversity: `python -m benchmarks.reuse`.

Each pipeline crops and resizes photos to 224x224 first, which is what is kept; the last part is
flips alone, or flips and colours. Loaders without and with reuse take turns, some epochs each,
after one epoch that fills the memory. Photos are read from files and from a packed file: as they
are in ImageNet, and large ones (`--large`), for which reuse pays most.

Speeds are compared by CPU time, which other work on the machine changes less than the time that
passes. "Predicted" is what `Loader.explain` says of the same ratio.

"New first parts" is the share of an epoch's images whose first part was never seen before; "uses
that differ" says how many of the images that share a first part differ in the last part.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import aligned
from penstock import Echo, Loader, Reuse, pack
from penstock import transforms as T
from penstock.loading.reuse import ReuseCounts

RESULT = CHECKOUT / "benchmarks" / "results" / "reuse.md"
EPOCHS = 4  # of each loader in a round: whole turns of reuse, since epochs differ a little
IMAGE_BYTES = 224 * 224 * 3 + 512
NORMALIZE = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
LAST_PARTS: dict[str, list[Any]] = {
    "flip": [T.RandomHorizontalFlip()],
    "flip, colours": [T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4)],
}
HEADINGS = (
    *("photos", "from", "last part", "reuse", "images/s", "us of CPU", "x without", "predicted"),
    *("found", "new first parts", "uses that differ"),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One pipeline over one data set."""

    photos: str
    data: Sequence[str] | Path
    images: int
    last_part: str

    def loader(self, reuse: Reuse | Echo | None, threads: int) -> Loader:
        """Make a loader of it, which begins no epoch before it is asked for it."""
        packed = isinstance(self.data, Path)
        loader = Loader(
            self.data if isinstance(self.data, Path) else list(self.data),
            labels=None if packed else [0] * self.images,
            batch_size=min(64, self.images // 4),
            shuffle=True,
            threads=threads,
            transform=T.Compose([T.RandomResizedCrop(224), *LAST_PARTS[self.last_part], NORMALIZE]),
            reuse=reuse,
        )
        return loader.replica() if reuse is None else loader

    def ways(self) -> dict[str, Reuse | Echo | None]:
        """Return without and with reuse; once with room for about a third of the images."""
        return {
            "none": None,
            "Reuse(2)": Reuse(2),
            "Reuse(4)": Reuse(4),
            "Reuse(4), a third fits": Reuse(4, memory=self.images * IMAGE_BYTES // 4),
            "Reuse(4), none fits": Reuse(4, memory=1),
            "Echo(2)": Echo(2, window=max(64, self.images // 4)),
        }


def measure(setting: Setting, threads: int, rounds: int) -> Iterator[tuple[str, ...]]:
    """Run all loaders in turns; give a row of the table for each."""
    ways = setting.ways()
    loaders = {name: setting.loader(reuse, threads) for name, reuse in ways.items()}
    passes: dict[str, list[Pass]] = {name: [] for name in ways}
    for loader in loaders.values():
        run_epochs(loader, 1)
    before = {name: loader.reuse_counts for name, loader in loaders.items()}
    for _ in range(rounds):
        for name, loader in loaders.items():
            passes[name].append(run_epochs(loader, EPOCHS))
    costs_us = {name: [one.cpu_us for one in each] for name, each in passes.items()}
    for name, loader in loaders.items():
        yield (
            setting.photos,
            "packed file" if isinstance(setting.data, Path) else "files",
            setting.last_part,
            name,
            f"{median(one.images_per_s for one in passes[name]):,.0f}",
            _spread(Spread.of(costs_us[name]), ",.0f"),
            _spread(ratio_in_each_round(costs_us["none"], costs_us[name]), ".2f"),
            predicted(loader),
            *diversity(loader, ways[name], before[name]),
        )
        loader.close()


@dataclass(frozen=True, slots=True)
class Pass:
    """How fast some epochs went."""

    images_per_s: float
    cpu_us: float  # per image, of all threads


def run_epochs(loader: Loader, epochs: int) -> Pass:
    """Go through some epochs."""
    started_s, cpu_s = perf_counter(), process_time()
    images = sum(len(labels) for _ in range(epochs) for _, labels in loader)
    cpu_us = (process_time() - cpu_s) / images * 1e6
    return Pass(images / (perf_counter() - started_s), cpu_us)


def _spread(spread: Spread, form: str) -> str:
    return f"{spread.median:{form}} ({spread.least:{form}}-{spread.largest:{form}})"


def predicted(loader: Loader) -> str:
    """Return how many times as fast `explain` says that it is."""
    forecast = loader.reuse_forecast()
    return "-" if forecast is None else f"{forecast.speedup:.2f}"


def diversity(
    loader: Loader, reuse: Reuse | Echo | None, before: ReuseCounts | None
) -> tuple[str, str, str]:
    """Return the share of first parts found since `before`, and of those new in an epoch."""
    after, cut = loader.reuse_counts, loader.reuse_cut
    if reuse is None or before is None or after is None or cut is None:
        return "-", "100%", "-"
    found, computed = after.found - before.found, after.computed - before.computed
    return (
        f"{found / (found + computed):.0%}",
        f"{1 / reuse.times:.0%}",
        f"{cut.finishes:.1f} of {reuse.times}",
    )


def settings(
    photos: str, folder: Path, images: int, scratch: Path, last_parts: Sequence[str]
) -> Iterator[Setting]:
    """Return the settings for one set of photos; packs it first."""
    paths = image_paths(folder, images)
    packed = scratch / f"{photos}.pen"
    pack(list(paths), packed, labels=[0] * images)
    for data in (paths, packed):
        for last_part in last_parts:
            yield Setting(photos, data, images, last_part)


def main() -> int:
    """Measure, print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reuse")
    parser.add_argument("--data", type=Path, help="a folder of JPEG files")
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--large", type=int, default=12, metavar="N", help="how many; 0 for none")
    parser.add_argument("--last-part", choices=list(LAST_PARTS), help="only with this one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    args = parser.parse_args()

    last_parts = [args.last_part] if args.last_part else list(LAST_PARTS)
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as scratch:
        sets = [("photos", args.data or default_folder(), args.images)]
        if args.large:
            sets.append(("large photos", default_folder("large"), args.large))
        for photos, folder, images in sets:
            for setting in settings(photos, folder, images, Path(scratch), last_parts):
                print(photos, setting.last_part, file=sys.stderr)
                rows += measure(setting, args.threads, args.rounds)
    text = "\n".join(
        [
            f"{cpu_name()}, {system_name()}; {args.threads} threads.",
            f"Median, least and largest of {args.rounds} rounds of {EPOCHS} epochs of each loader.",
            "",
            *aligned([HEADINGS, *rows]),
            "",
        ]
    )
    print(text)
    if args.write:
        command = f"python -m benchmarks.reuse {' '.join(sys.argv[1:])}".strip()
        RESULT.write_text(f"# Reuse\n\n{text}\nMade by `{command}`.\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
