"""What reuse brings and what it costs in variety: `python -m benchmarks.reuse`.

Each pipeline crops and resizes photos to 224x224 first, which is what is kept; the last part is
flips alone, flips and colours, or flips and RandAugment. Loaders without and with reuse take turns,
an epoch each, after one epoch that fills the memory. Photos are read from files and from a packed
file: as they are in ImageNet, and large ones (`--large`), for which reuse pays most.

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
from time import perf_counter
from typing import Any

from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import aligned
from penstock import Echo, Loader, Reuse, pack
from penstock import transforms as T
from penstock.loading.reuse import ReuseCounts

RESULT = CHECKOUT / "benchmarks" / "results" / "reuse.md"
IMAGE_BYTES = 224 * 224 * 3 + 512
NORMALIZE = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
LAST_PARTS: dict[str, list[Any]] = {
    "flip": [T.RandomHorizontalFlip()],
    "flip, colours": [T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4)],
    "flip, RandAugment": [T.RandomHorizontalFlip(), T.RandAugment()],
}
HEADINGS = (
    *("photos", "from", "last part", "reuse", "images/s", "x without"),
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
        """Make a loader of it."""
        packed = isinstance(self.data, Path)
        return Loader(
            self.data if isinstance(self.data, Path) else list(self.data),
            labels=None if packed else [0] * self.images,
            batch_size=min(64, self.images // 4),
            shuffle=True,
            threads=threads,
            transform=T.Compose([T.RandomResizedCrop(224), *LAST_PARTS[self.last_part], NORMALIZE]),
            reuse=reuse,
        )

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
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for loader in loaders.values():
        images_per_s(loader)
    before = {name: loader.reuse_counts for name, loader in loaders.items()}
    for _ in range(rounds):
        for name, loader in loaders.items():
            rates[name].append(images_per_s(loader))
    for name, loader in loaders.items():
        yield (
            setting.photos,
            "packed file" if isinstance(setting.data, Path) else "files",
            setting.last_part,
            name,
            _spread(Spread.of(rates[name]), ",.0f"),
            _spread(ratio_in_each_round(rates[name], rates["none"]), ".2f"),
            *variety(loader, ways[name], before[name]),
        )
        loader.close()


def images_per_s(loader: Loader) -> float:
    """Go through one epoch."""
    started_s = perf_counter()
    images = sum(len(labels) for _, labels in loader)
    return images / (perf_counter() - started_s)


def variety(
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


def _spread(spread: Spread, form: str) -> str:
    return f"{spread.median:{form}} ({spread.least:{form}}-{spread.largest:{form}})"


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
    parser.add_argument("--images", type=int, default=512)
    parser.add_argument("--large", type=int, default=32, metavar="N", help="how many; 0 for none")
    parser.add_argument("--last-part", choices=list(LAST_PARTS), help="only with this one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4, help="epochs of each loader")
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
            f"{args.rounds} epochs of each loader, in turns, after one that fills the memory.",
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
