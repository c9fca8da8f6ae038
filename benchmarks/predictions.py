"""How good predictions are: end to end predicted and measured, for accelerators slow and fast.

`python -m benchmarks.predictions` measures the pipeline alone for 0 to 3 layers of RandAugment on
one core and on two, fits the overlap to one accelerator a setting that is about as fast as the
pipeline, and predicts all others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from penstock import Loader
from penstock import transforms as T
from penstock.analysis.cores import available_cores
from penstock.analysis.devices import EmulatedDevice
from penstock.analysis.layers import LAYERS
from penstock.analysis.measure import Effort, first_batch, measure_step, run_pipeline
from penstock.analysis.penstock_subject import PenstockSubject
from penstock.analysis.predict import Point, fit_overlap, predict

RATES = (100, 300, 1_000, 3_000, 10_000, 20_000)
BATCH_SIZE = 32
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
    device_of = {rate: EmulatedDevice(rate) for rate in RATES}
    batch = first_batch(subject)
    step_cpu_s = measure_step(EmulatedDevice(1e6), batch, Effort(1, 0.2)).cpu_s
    pipelines: list[float] = []
    measured: dict[int, list[float]] = {rate: [] for rate in RATES}
    for _ in range(effort.rounds):
        for rate, device in device_of.items():
            pipelines.append(run_pipeline(subject, None, cores, one, cores).images_per_s)
            measured[rate].append(run_pipeline(subject, device, cores, one, cores).images_per_s)
    pipeline = median(pipelines)
    points = {
        rate: Point(rate, pipeline, cores, step_cpu_s, median(found))
        for rate, found in measured.items()
    }
    nearest = sorted(RATES, key=lambda rate: max(rate / pipeline, pipeline / rate))[:2]
    checks = []
    for rate, point in points.items():
        overlap = fit_overlap([points[other] for other in nearest if other != rate])
        predicted = predict(point, overlap)
        checks.append(Check(cores, layers, rate, pipeline, predicted, point.end_to_end))
    return checks


def table(checks: Sequence[Check]) -> str:
    """Return the table in Markdown, with the median and the worst error."""
    errors = [check.error for check in checks]
    lines = [
        f"{cpu_name()}, {system_name()}; batches of {BATCH_SIZE}; rates in images/s.",
        f"Error: {median(errors):.1%} in the median, {max(errors):.1%} at worst.",
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


def main() -> int:
    """Check all settings, print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predictions")
    parser.add_argument("--data", type=Path, help="a folder of JPEG files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one run")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    args = parser.parse_args()

    paths = image_paths(args.data or default_folder(), IMAGES)
    subject = make_subject(paths)
    effort = Effort(args.rounds, args.seconds)
    checks: list[Check] = []
    for cores in range(1, min(2, available_cores()) + 1):
        for layers in LAYERS:
            print(f"{cores} cores, {layers} layers", file=sys.stderr)
            checks += check_setting(subject.with_layers(layers), cores, layers, effort)
    text = table(checks)
    print(text)
    if args.write:
        command = f"python -m benchmarks.predictions {' '.join(sys.argv[1:])}".strip()
        RESULT.write_text(f"# Predictions\n\n{text}\nMade by `{command}`.\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
