"""Rates by number of cores, measured and predicted, and how far predictions were off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from penstock.analysis.measure import Measured, StepAlone, rate_of
from penstock.analysis.predict import Point, fit_overlap, predict
from penstock.analysis.results import CoreRate, Prediction, Rate
from penstock.analysis.runs import Run

_BEYOND = (2, 4, 8)  # times the cores there are


def core_points(alone: StepAlone, measured: Measured) -> list[Point]:
    """Return what was measured on each number of cores."""
    points = []
    for cores, runs in measured.end_to_end.items():
        step = measured.step_on(cores, alone)
        pipeline = rate_of(measured.pipeline[cores]).median
        points.append(Point(step.rate.median, pipeline, cores, step.cpu_s, rate_of(runs).median))
    return points


def core_rates(
    runs: Mapping[int, Sequence[Run]], predicted: Callable[[int], float], cores: int
) -> tuple[CoreRate, ...]:
    """Return measured rates, then predicted ones for more cores than there are."""
    found = [CoreRate(count, rate_of(some), is_measured=True) for count, some in runs.items()]
    for times in _BEYOND:
        rate = predicted(cores * times)
        found.append(CoreRate(cores * times, Rate(rate, rate, rate), is_measured=False))
    return tuple(found)


def check_core_predictions(alone: StepAlone, measured: Measured) -> tuple[Prediction, ...]:
    """Predict each number of cores from what was measured on the others."""
    points = core_points(alone, measured)
    checks = []
    for point in points:
        overlap = fit_overlap([other for other in points if other is not point])
        many = "1 core" if point.cores == 1 else f"{point.cores} cores"
        checks.append(
            Prediction(f"end to end on {many}", predict(point, overlap), point.end_to_end)
        )
    return tuple(checks)
