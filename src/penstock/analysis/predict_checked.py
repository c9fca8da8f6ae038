"""Rates by number of cores, measured and predicted, and how far predictions were off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from penstock.analysis.measure import Measured, StepAlone, rate_of
from penstock.analysis.predict import (
    Point,
    fit_overlap,
    fit_share,
    predict,
    predict_shared,
)
from penstock.analysis.runs import Run
from penstock.analysis.verdict import many_cores
from penstock.analysis.what_if import BEYOND
from penstock.results.records import CoreRate, Prediction, Rate

# Times as fast together as alone: more than rounds of a quiet machine differ by, and so much that
# not even a verdict can be trusted.
UNLIKELY, IMPOSSIBLE = 1.15, 1.4


def core_points(alone: StepAlone, measured: Measured) -> list[Point]:
    """Return what was measured on each number of cores."""
    points = []
    for cores, runs in measured.end_to_end.items():
        step = measured.step_on(cores, alone)
        pipeline = rate_of(measured.pipeline[cores]).median
        points.append(Point(step.rate.median, pipeline, cores, step.cpu_s, rate_of(runs).median))
    return points


def contradiction(points: Sequence[Point], times: float = UNLIKELY) -> str:
    """Say where training came out so many times as fast as its step or its loader alone.

    Nothing if nowhere, as it has to be.
    """
    for point in points:
        limit = min(point.synthetic, point.pipeline)
        if point.end_to_end > times * limit:
            what = "the step" if limit == point.synthetic else "the pipeline"
            return (
                f"on {many_cores(point.cores)}, {point.end_to_end:,.0f} images/s end to end came "
                f"out above the {limit:,.0f} of {what} alone, which cannot be. The runs were too "
                "short, or other programs used the cores in some of them: repeat it on an idle "
                "machine, or for longer (--seconds)"
            )
    return ""


def core_rates(
    runs: Mapping[int, Sequence[Run]], predicted: Callable[[int], float] | None, cores: int
) -> tuple[CoreRate, ...]:
    """Return measured rates, then predicted ones for more cores than there are.

    Where nothing can be predicted, the rate on all cores stands alone.
    """
    if predicted is None:
        return (CoreRate(cores, rate_of(runs[cores]), is_measured=True),)
    found = [CoreRate(count, rate_of(some), is_measured=True) for count, some in runs.items()]
    for times in BEYOND:
        rate = predicted(cores * times)
        found.append(CoreRate(cores * times, Rate(rate, rate, rate), is_measured=False))
    return tuple(found)


def check_core_predictions(alone: StepAlone, measured: Measured) -> tuple[Prediction, ...]:
    """Predict each number of cores from what was measured on the others."""
    points = core_points(alone, measured)
    checks = []
    for point in points:
        others = [other for other in points if other is not point]
        if not alone.computes_here:
            predicted = predict(point, fit_overlap(others))
        elif others:
            predicted = predict_shared(point.synthetic, point.pipeline, fit_share(others))
        else:  # nothing is left to predict it from
            continue
        what = f"end to end on {many_cores(point.cores)}"
        checks.append(Prediction(what, predicted, point.end_to_end))
    return tuple(checks)
