"""The rate model: the end-to-end rate from the step, the pipeline and the CPU that the step needs.

Per image: the accelerator needs 1/S, the pipeline on c cores 1/P(c), the training process u
seconds of one core. The cores do both jobs, so they manage X = 1 / (1/P + u/c).
Accelerator and cores work side by side as well as the loop lets them:

    E = (S^-p + X^-p)^(-1/p)

p = 1 means one after the other, a very large p means min(S, X). p is fitted to the measurements.

A step that computes on the same cores is another matter: what loading takes, the step loses.

    1/E = 1/S + k/P

k is the share of the loading that it has to wait for: 1 if the step keeps all cores busy, less if
some are idle meanwhile. It follows from measured S, P and E.

Predictions are checked against what was measured wherever that is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from penstock.analysis.measure import Run, RunsByCores, StepAlone, rate_of
from penstock.analysis.verdict import many_cores
from penstock.results.records import CoreRate, Prediction, Rate

DEFAULT_OVERLAP = 8.0
_OVERLAPS = np.geomspace(1.0, 32.0, 61)
_TRUST_IN_DEFAULT = 0.1  # an overlap e times off the default is as odd as a rate that is 10 % off
BEYOND = (2, 4, 8)  # times the available cores; the fit says nothing about still more
# Times as fast together as alone: more than rounds of a quiet machine differ by, and so much that
# not even a verdict can be trusted.
UNLIKELY, IMPOSSIBLE = 1.15, 1.4
FED = 0.95  # an accelerator that gets this share of what it could take is fed


@dataclass(frozen=True, slots=True)
class Point:
    """One setting, and what came out end to end where it was measured."""

    synthetic: float
    pipeline: float
    cores: int
    step_cpu_s: float  # of the training process, per image
    end_to_end: float = 0.0


def predict(point: Point, overlap: float) -> float:
    """Return the end-to-end rate in images per second."""
    by_cores = 1 / (1 / point.pipeline + point.step_cpu_s / point.cores)
    slower = min(point.synthetic, by_cores)
    faster = max(point.synthetic, by_cores)
    # As a ratio, since a rate to the power of -32 would be too small for a float.
    return float(slower * (1 + (slower / faster) ** overlap) ** (-1 / overlap))


def predict_shared(synthetic: float, pipeline: float, share: float) -> float:
    """Return the end-to-end rate of a step that computes on the cores that load."""
    return 1 / (1 / synthetic + share / pipeline)


def fit_share(points: Sequence[Point]) -> float:
    """Return the share of loading that a step on the same cores waits for: the median of some."""
    shares = [(1 / one.end_to_end - 1 / one.synthetic) * one.pipeline for one in points]
    return max(0.0, float(np.median(shares)))


def fit_overlap(points: Sequence[Point]) -> float:
    """Return the overlap that explains the measured points best, by their logarithms.

    A point where one side is much slower than the other says little, and a noisy one misleads; so
    the default has a say.
    """

    def error(overlap: float) -> float:
        misses = [np.log(predict(point, overlap) / point.end_to_end) for point in points]
        oddness = _TRUST_IN_DEFAULT * np.log(overlap / DEFAULT_OVERLAP)
        return float(np.sum(np.square(misses)) + oddness**2)

    return min((float(overlap) for overlap in _OVERLAPS), key=error)


@dataclass(frozen=True, slots=True)
class CoreModel:
    """The pipeline's rate on any number of cores: 1/P(c) = serial + parallel / c, per image."""

    serial_s: float
    parallel_s: float

    def rate(self, cores: int) -> float:
        """Images per second on this number of cores."""
        return 1 / (self.serial_s + self.parallel_s / cores)

    def through(self, cores: int, rate: float) -> CoreModel:
        """Return a model that scales the same way and gives `rate` on this number of cores."""
        factor = self.rate(cores) / rate
        return CoreModel(self.serial_s * factor, self.parallel_s * factor)


def fit_cores(rates: Mapping[int, float]) -> CoreModel:
    """Fit to measured rates by number of cores; a single one is taken to scale freely."""
    cores = np.array(list(rates), dtype=float)
    seconds = np.array([1 / rate for rate in rates.values()])
    if len(rates) == 1:
        return CoreModel(0.0, float(seconds[0] * cores[0]))
    terms = np.stack([np.ones_like(cores), 1 / cores], axis=1)
    serial, parallel = np.linalg.lstsq(terms, seconds, rcond=None)[0]
    if serial <= 0:
        return CoreModel(0.0, float(np.mean(seconds * cores)))
    if parallel <= 0:
        return CoreModel(float(np.mean(seconds)), 0.0)
    return CoreModel(float(serial), float(parallel))


def cores_needed(
    synthetic: float, model: CoreModel, step_cpu_s: float, overlap: float, most: int
) -> int | None:
    """Return the fewest cores that feed the accelerator; None if not even `most` do."""
    for cores in range(1, most + 1):
        point = Point(synthetic, model.rate(cores), cores, step_cpu_s)
        if predict(point, overlap) >= FED * synthetic:
            return cores
    return None


@dataclass(frozen=True, slots=True)
class Model:
    """What predictions rest on."""

    cores: CoreModel  # of the loader as it is
    step_cpu_s: float
    overlap: float
    with_workers: CoreModel | None = None  # with as many workers as cores, if that is more
    steps: CoreModel | None = None  # of the step alone, if it computes on these cores
    shared: float | None = None  # of such a step: the share of loading that it has to wait for
    knows_scaling: bool = True  # whether more than one number of cores was measured

    def synthetic(self, cores: int, measured: float) -> float:
        """Return the rate of the step alone on some cores, given its rate on all available ones."""
        return measured if self.steps is None else self.steps.rate(cores)

    def end_to_end(
        self, synthetic: float, pipeline: float, cores: int, step_cpu_s: float | None = None
    ) -> float:
        """Predict the rate for a step and a pipeline on this number of cores.

        `step_cpu_s` is of another step than the one that was measured.
        """
        if self.shared is not None:
            return predict_shared(synthetic, pipeline, self.shared)
        cpu_s = self.step_cpu_s if step_cpu_s is None else step_cpu_s
        return predict(Point(synthetic, pipeline, cores, cpu_s), self.overlap)


def fit_model(
    alone: StepAlone, measured: RunsByCores, pipeline: float, cores: int, workers: int
) -> Model:
    """Fit the model to what was measured; `pipeline` is the loader's rate on all `cores`."""
    # How a pipeline scales shows best in the rounds that nobody else disturbed.
    best = {count: rate_of(runs).largest for count, runs in measured.pipeline.items()}
    points = core_points(alone, measured)
    return Model(
        fit_cores(best).through(cores, pipeline),
        alone.cpu_s,
        fit_overlap(points),
        _with_workers(best, measured, workers, cores),
        _fit_steps(measured, alone, cores),
        fit_share(points) if alone.computes_here else None,
        knows_scaling=len(best) > 1,
    )


def _with_workers(
    best: dict[int, float], measured: RunsByCores, workers: int, cores: int
) -> CoreModel | None:
    """Fit what the pipeline does with a worker for each core, where it has fewer."""
    if not measured.other_workers or workers > cores:
        return None
    return fit_cores(best | {cores: rate_of(measured.other_workers).largest})


def _fit_steps(measured: RunsByCores, alone: StepAlone, cores: int) -> CoreModel | None:
    """Fit how a step scales that computes on these cores."""
    if not measured.steps:
        return None
    best = {
        count: max(step.rate.largest for step in steps) for count, steps in measured.steps.items()
    }
    return fit_cores(best).through(cores, alone.rate.median)


def core_points(alone: StepAlone, measured: RunsByCores) -> list[Point]:
    """Return what was measured on each number of cores."""
    points = []
    for cores, runs in measured.end_to_end.items():
        step = measured.step_on(cores, alone)
        pipeline = rate_of(measured.pipeline[cores]).median
        points.append(Point(step.rate.median, pipeline, cores, step.cpu_s, rate_of(runs).median))
    return points


def contradiction(points: Sequence[Point], times: float = UNLIKELY) -> str:
    """Say where training came out `times` as fast as its step or its loader alone.

    An empty text if nowhere, as it should be.
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
    runs: Mapping[int, Sequence[Run]],
    predicted: Callable[[int], float] | None,
    cores: int,
    beyond: Sequence[int] | None = None,
) -> tuple[CoreRate, ...]:
    """Return measured rates, then predicted ones for more cores than this machine has.

    `beyond` are those to predict; None is some multiples of what there is. Where nothing can be
    predicted, the rate on all cores stands alone.
    """
    if predicted is None:
        return (CoreRate(cores, rate_of(runs[cores]), is_measured=True),)
    found = [CoreRate(count, rate_of(some), is_measured=True) for count, some in runs.items()]
    more = [cores * times for times in BEYOND] if beyond is None else beyond
    found += [CoreRate(count, Rate.of(predicted(count)), is_measured=False) for count in more]
    return tuple(found)


def check_core_predictions(alone: StepAlone, measured: RunsByCores) -> tuple[Prediction, ...]:
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
