"""What plans cost, predicted and measured: `python -m benchmarks.plan_costs`.

Calibrates the planner's prices on this machine, asks the loader of each of 40 pipelines what an
image will cost, and compares that with what it takes on one core and one thread. The calibration
runs none of these pipelines and none of their photos. Rounds of both take turns, so that the
machine's slow and fast minutes fall on both sides.

`--ship` measures no pipelines, but writes the prices that the package comes with: this machine's,
for each instruction set that it has.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import PIL.Image

import penstock
from benchmarks.dataset import CHECKOUT, default_folder, image_paths, shared_data_folder
from benchmarks.environment import cpu_name, system_name
from benchmarks.plan_pipelines import LARGE, PHOTOS, TINY, Pipeline, pipelines
from benchmarks.summary import Spread
from benchmarks.table import aligned
from penstock import Loader
from penstock._core import force_isa, supported_isas
from penstock.costs.calibrate import Calibration, fit
from penstock.costs.trial_pictures import LARGE as LARGE_SIZE
from penstock.costs.trial_pictures import as_jpeg, make_photo
from penstock.geometry import Size
from penstock.planner.amounts import Unit
from penstock.planner.prices import SHIPPED_PRICES, remember
from penstock.usable_cores import pinned_to

RESULT = CHECKOUT / "benchmarks" / "results" / "plan_costs"
HEADINGS = ("pipeline", "data", "plan", "predicted us", "measured us", "error")
TINY_SIZE = Size(32, 32)
# As many as the planner looks at: how well some photos stand for others is another question.
IMAGES = {PHOTOS: 48, LARGE: 24, TINY: 2_048}
EPOCHS = {PHOTOS: 4, LARGE: 1, TINY: 1}
BATCH = {PHOTOS: 48, LARGE: 4, TINY: 256}
BETWEEN = 10  # pipelines from one round of the calibration to the next


@dataclass(frozen=True, slots=True)
class Check:
    """A pipeline, predicted and measured; microseconds an image."""

    pipeline: str
    data: str
    plan: str
    predicted: float
    measured: float
    least: float
    largest: float

    @property
    def error(self) -> float:
        """The share by which the prediction is off, with its sign."""
        return self.predicted / self.measured - 1


def make_data(folder: Path) -> dict[tuple[str, str], list[str] | Path]:
    """Find or make the photos of each kind, and pack them: data by kind and form."""
    large = (shared_data_folder() or Path()) / "large"
    photos = {
        PHOTOS: spread(default_folder(), IMAGES[PHOTOS]),
        LARGE: image_paths(large if large.is_dir() else made_large(folder), IMAGES[LARGE]),
        TINY: image_paths(made_tiny(folder), IMAGES[TINY]),
    }
    found: dict[tuple[str, str], list[str] | Path] = {}
    for kind, paths in photos.items():
        packed = folder / f"{kind}.pen"
        penstock.pack(list(paths), packed, progress=False)
        found[kind, "files"], found[kind, ".pen"] = list(paths), packed
    return found


def spread(folder: Path, count: int) -> tuple[str, ...]:
    """Return `count` photos from all over a folder."""
    every = image_paths(folder, sum(path.is_file() for path in folder.rglob("*")))
    return every[:: max(1, len(every) // count)][:count]


def made_large(folder: Path) -> Path:
    """Make photos for a machine that has none."""
    (folder / "large").mkdir()
    for number, times in enumerate((1, 2)):
        photo = make_photo(Size(LARGE_SIZE.height // 2, LARGE_SIZE.width // 2), 100 + number)
        image = PIL.Image.fromarray(photo)
        sides = image.width * 2 * times, image.height * 2 * times
        image.resize(sides).save(folder / "large" / f"{number}.jpg", quality=90)
    return folder / "large"


def made_tiny(folder: Path) -> Path:
    """Make images of the size that small benchmarks have."""
    (folder / "tiny").mkdir()
    for number in range(16):
        jpeg = as_jpeg(make_photo(TINY_SIZE, 200 + number), "4:4:4")
        (folder / "tiny" / f"{number}.jpg").write_bytes(jpeg)
    return folder / "tiny"


def open_loader(pipeline: Pipeline, data: dict[tuple[str, str], list[str] | Path]) -> Loader:
    """Open a loader of one thread, which begins no epoch before it is asked for it."""
    loader = Loader(
        data[pipeline.data, pipeline.form],
        batch_size=BATCH[pipeline.data],
        transform=pipeline.transform,
        threads=1,
        output="numpy",
        targets="none",
        fidelity=pipeline.fidelity,
        plan=pipeline.plan,
    )
    return loader.replica()


def microseconds(loader: Loader, epochs: int) -> float:
    """Return what an image takes: CPU time of all threads, which share one core."""
    started, images = time.process_time(), 0
    for _ in range(epochs):
        for batch in loader:
            images += len(batch)
    return (time.process_time() - started) / images * 1e6


def check_all(
    chosen: Sequence[Pipeline],
    data: dict[tuple[str, str], list[str] | Path],
    rounds: int,
    calibration: Calibration,
) -> Iterator[Check]:
    """Measure all of them and the calibration's trials in turns, then predict them.

    The first round warms up.
    """
    loaders = [open_loader(pipeline, data) for pipeline in chosen]
    spent: list[list[float]] = [[] for _ in chosen]
    for number in range(rounds + 1):
        print(f"round {number} of {rounds}", file=sys.stderr)
        for place, pipeline in enumerate(chosen):
            if number and place % BETWEEN == 0:
                calibration.run_round()
            with pinned_to(1):
                took = microseconds(loaders[place], EPOCHS[pipeline.data])
            if number:
                spent[place].append(took)
    remember(fit(calibration.measured()))
    for pipeline, loader, found in zip(chosen, loaders, spent, strict=True):
        times = Spread.of(found)
        form = f"{pipeline.data}, {pipeline.form}"
        figures = loader.explain().planned_us, times.median, times.least, times.largest
        yield Check(pipeline.name, form, pipeline.setting, *figures)


def summary(checks: Sequence[Check]) -> str:
    """Return the median and the worst error as a sentence."""
    errors = [abs(check.error) for check in checks]
    worst = max(checks, key=lambda check: abs(check.error))
    return (
        f"Error of {len(checks)} predictions: {median(errors):.1%} in the median, "
        f"{max(errors):.1%} at worst ({worst.pipeline}; {worst.data}; {worst.plan})."
    )


def table(checks: Sequence[Check]) -> list[str]:
    """Return a row for each pipeline."""
    rows = [
        (
            check.pipeline,
            check.data,
            check.plan,
            f"{check.predicted:,.0f}",
            f"{check.measured:,.0f} ({check.least:,.0f}-{check.largest:,.0f})",
            f"{check.error:+.0%}",
        )
        for check in checks
    ]
    return aligned([HEADINGS, *rows])


def report(checks: Sequence[Check], rounds: int) -> list[str]:
    """Return what is printed and written."""
    return [
        "Microseconds that an image takes on one core, as the planner predicts and as measured.",
        "",
        f"- {cpu_name()}; {system_name()}; penstock {penstock.__version__}",
        f"- {rounds} alternating rounds, one thread: median (least-largest)",
        "",
        summary(checks),
        "",
        *table(checks),
    ]


def write(checks: Sequence[Check], lines: Sequence[str], command: str) -> None:
    """Write the table, and the same for programs."""
    text = "\n".join(["# What plans cost", "", *lines, "", f"Made by `{command}`.", ""])
    RESULT.with_suffix(".md").write_text(text, encoding="utf-8")
    rows = [{**asdict(check), "error": round(check.error, 4)} for check in checks]
    content = {"cpu": cpu_name(), "penstock": penstock.__version__, "checks": rows}
    RESULT.with_suffix(".json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def ship(rounds: int) -> None:
    """Write the shipped prices; those of instruction sets that this CPU lacks stay as they are."""
    shipped = json.loads(SHIPPED_PRICES.read_text(encoding="utf-8"))
    for name in supported_isas():
        print(name, file=sys.stderr)
        force_isa(name)
        with Calibration() as calibration:
            for _ in range(rounds):
                calibration.run_round()
            nanoseconds = fit(calibration.measured()).nanoseconds
        shipped[name] = {unit.name.lower(): float(f"{nanoseconds[unit]:.4g}") for unit in Unit}
    SHIPPED_PRICES.write_text(json.dumps(shipped, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Predict, measure, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plan_costs", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--only", default="", help="pipelines that have this in their names")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}.md and .json")
    parser.add_argument("--ship", action="store_true", help=f"write {SHIPPED_PRICES.name}")
    args = parser.parse_args(arguments)
    chosen = [pipeline for pipeline in pipelines() if args.only in pipeline.name]
    if args.rounds < 1 or not chosen:
        parser.error("at least one round of at least one pipeline is needed.")
    if args.ship:
        ship(args.rounds)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["PENSTOCK_CACHE"] = scratch  # a calibration of our own, for this run only
        data = make_data(Path(scratch))
        with Calibration() as calibration:
            checks = list(check_all(chosen, data, args.rounds, calibration))
        lines = report(checks, args.rounds)
    print("\n".join(lines))
    if args.write:
        given = sys.argv[1:] if arguments is None else arguments
        write(checks, lines, f"python -m benchmarks.plan_costs {' '.join(given)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
