"""How good predictions are: end to end predicted and measured, for accelerators slow and fast.

`python -m benchmarks.predictions` measures the pipeline alone for 0 to 3 layers of RandAugment on
one core and on two; then both together with accelerators of 100 to 20,000 images/s, and with some
that are about as fast as the pipeline. Each is predicted from what was measured with the others.
`--html FILE` writes a report with all of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import penstock
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from penstock import Loader
from penstock import transforms as T
from penstock.analysis.device.devices import EmulatedDevice
from penstock.analysis.measure import Effort, first_batch, measure_step, run_pipeline
from penstock.analysis.rate_model import Point, fit_overlap, predict
from penstock.analysis.subject.subject import PenstockSubject
from penstock.analysis.sweeps.pipeline_changes import LAYERS
from penstock.results.records import Prediction
from penstock.usable_cores import usable_cores

RATES = (100, 300, 1_000, 3_000, 10_000, 20_000)
NEAR = (0.6, 0.8, 1.0, 1.25, 1.7)  # of the pipeline's rate: far ones prove little
CLOSE = 2.0
FITTED_TO = 3  # settings that say most of how well both work side by side
BATCH_SIZE = 16
IMAGES = 1_024
RESULT = CHECKOUT / "benchmarks" / "results" / "predictions.md"


@dataclass(frozen=True, slots=True)
class Check:
    """One setting, predicted and measured."""

    cores: int
    layers: int
    accelerator: float
    pipeline: float
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """Share by which the prediction is off."""
        return abs(self.predicted / self.measured - 1)

    @property
    def is_close(self) -> bool:
        """Whether accelerator and pipeline are about as fast, where predicting is hard."""
        ratio = self.accelerator / self.pipeline
        return 1 / CLOSE <= ratio <= CLOSE

    def as_prediction(self) -> Prediction:
        """Return it as a report shows it."""
        what = (
            f"{self.cores} core{'' if self.cores == 1 else 's'}, {self.layers} "
            f"layer{'' if self.layers == 1 else 's'}, accelerator of {self.accelerator:,.0f}"
        )
        return Prediction(what, self.predicted, self.measured)


def make_subject(data: Sequence[str]) -> PenstockSubject:
    """Make the pipeline to predict: crop, flip, RandAugment, normalise."""
    transform = T.Compose(
        [
            T.RandomResizedCrop(224),
            T.RandomHorizontalFlip(),
            T.RandAugment(),
            T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
    labels = [0] * len(data)
    loader = Loader(data, labels=labels, batch_size=BATCH_SIZE, transform=transform, shuffle=True)
    return PenstockSubject(loader)


def check_setting(subject: PenstockSubject, cores: int, layers: int, effort: Effort) -> list[Check]:
    """Measure the pipeline and every accelerator, in turn; predict each from the others' fit."""
    one = Effort(1, effort.seconds)
    batch = first_batch(subject)
    step_cpu_s = measure_step(EmulatedDevice(1e6), batch, Effort(1, 0.2)).cpu_s
    pipelines = [run_pipeline(subject, None, cores, one, cores).images_per_s]
    rates = sorted({*RATES, *(round(share * pipelines[0]) for share in NEAR)})
    measured: dict[int, list[float]] = {rate: [] for rate in rates}
    for _ in range(effort.rounds):
        for rate, found in measured.items():
            pipelines.append(run_pipeline(subject, None, cores, one, cores).images_per_s)
            device = EmulatedDevice(rate)
            found.append(run_pipeline(subject, device, cores, one, cores).images_per_s)
    pipeline = median(pipelines)
    points = {
        rate: Point(rate, pipeline, cores, step_cpu_s, median(found))
        for rate, found in measured.items()
    }
    checks = []
    for rate, point in points.items():
        others = [other for other in points.values() if other is not point]
        overlap = fit_overlap(sorted(others, key=_distance)[:FITTED_TO])
        predicted = predict(point, overlap)
        checks.append(Check(cores, layers, rate, pipeline, predicted, point.end_to_end))
    return checks


def _distance(point: Point) -> float:
    """Return how many times the accelerator is faster than the pipeline, or slower."""
    ratio = point.synthetic / point.pipeline
    return max(ratio, 1 / ratio)


def summary(checks: Sequence[Check]) -> list[str]:
    """Return how far predictions are off, in all and where they are hard."""
    close = [check for check in checks if check.is_close]
    lines = []
    for name, some in (("all settings", checks), (f"S and P within {CLOSE:g}x", close)):
        if some:
            errors = [check.error for check in some]
            lines.append(
                f"Error, {name} ({len(some)}): {median(errors):.1%} in the median, "
                f"{max(errors):.1%} at worst."
            )
    return lines


def table(checks: Sequence[Check]) -> str:
    """Return the table in Markdown, with the median and the worst error."""
    lines = [
        f"{cpu_name()}, {system_name()}; batches of {BATCH_SIZE}; rates in images/s.",
        *summary(checks),
        "",
        "| cores | layers | accelerator | pipeline | predicted | measured | error |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {c.cores} | {c.layers} | {c.accelerator:,.0f} | {c.pipeline:,.0f} | "
        f"{c.predicted:,.0f} | {c.measured:,.0f} | {c.error:.1%} |"
        for c in checks
    ]
    return "\n".join(lines) + "\n"


def write_report(subject: PenstockSubject, checks: Sequence[Check], path: Path) -> None:
    """Analyze the pipeline, and write its report with all predictions in it."""
    from penstock.report import write_html

    found = penstock.analyze(subject.loader, title="Predictions and what was measured")
    predictions = (*found.predictions, *(check.as_prediction() for check in checks))
    write_html(replace(found, predictions=predictions), path)
    print(f"wrote {path}", file=sys.stderr)


def main() -> int:
    """Check all settings, print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predictions")
    parser.add_argument("--data", type=Path, help="a folder of JPEG files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.6, help="of one run")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a report with the table")
    args = parser.parse_args()

    paths = image_paths(args.data or default_folder(), IMAGES)
    subject = make_subject(paths)
    effort = Effort(args.rounds, args.seconds)
    checks: list[Check] = []
    for cores in range(1, min(2, usable_cores()) + 1):
        for layers in LAYERS:
            print(f"{cores} cores, {layers} layers", file=sys.stderr)
            checks += check_setting(subject.with_layers(layers), cores, layers, effort)
    text = table(checks)
    print(text)
    if args.html:
        write_report(subject, checks, args.html)
    if args.write:
        command = f"python -m benchmarks.predictions {' '.join(sys.argv[1:])}".strip()
        RESULT.write_text(f"# Predictions\n\n{text}\nMade by `{command}`.\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
