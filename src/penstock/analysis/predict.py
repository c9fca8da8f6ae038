"""Predicting the end-to-end rate from the step, the pipeline and the CPU that the step needs.

Per image: the accelerator needs 1/S, the pipeline on c cores 1/P(c), the training process u
seconds of one core. The cores do both jobs, so they manage X = 1 / (1/P + u/c).
Accelerator and cores work side by side as well as the loop lets them:

    E = (S^-p + X^-p)^(-1/p)

p = 1 is one after the other, p without end is min(S, X). It is fitted to what was measured.

A step that computes on the same cores is another matter: what loading takes, the step loses.

    1/E = 1/S + k/P

k is the share of the loading that it has to wait for: 1 if the step keeps all cores busy, less if
some are idle meanwhile. It follows from measured S, P and E.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DEFAULT_OVERLAP = 8.0
_OVERLAPS = np.geomspace(1.0, 32.0, 61)
_TRUST_IN_DEFAULT = 0.1  # an overlap e times off the default is as odd as a rate that is 10 % off
FED = 0.95  # an accelerator that gets this share of what it could take is fed


@dataclass(frozen=True, slots=True)
class Point:
    """One setting, and what came out end to end where it was measured."""

    synthetic: float
    pipeline: float
    cores: int
    step_cpu_s: float  # of the training process, an image
    end_to_end: float = 0.0


def predict(point: Point, overlap: float) -> float:
    """Return the end-to-end rate in images a second."""
    by_cores = 1 / (1 / point.pipeline + point.step_cpu_s / point.cores)
    slower = min(point.synthetic, by_cores)
    faster = max(point.synthetic, by_cores)
    # As a ratio, since a rate to the power of -32 is no number a float can hold well.
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
    """The pipeline's rate on any number of cores: 1/P(c) = serial + parallel / c, an image."""

    serial_s: float
    parallel_s: float

    def rate(self, cores: int) -> float:
        """Images a second on so many cores."""
        return 1 / (self.serial_s + self.parallel_s / cores)

    def through(self, cores: int, rate: float) -> CoreModel:
        """Return a model that scales the same way and gives `rate` on so many cores."""
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
