"""Random weights that sum to 1."""

from __future__ import annotations

import math

import numpy as np

from penstock.geometry import Floats
from penstock.rng import Draws

_TRIES = 16  # each fits nineteen times in twenty or more often


def draw_weights(draws: Draws, alpha: float, count: int) -> Floats:
    """Dirichlet weights with `count` equal parameters, for each sample: (count, samples).

    The first of two is Beta(alpha, alpha).
    """
    logs = np.stack([_draw_log_gamma(draws, alpha) for _ in range(count)])
    parts = np.exp(logs - logs.max(axis=0))
    share: Floats = parts / parts.sum(axis=0)
    return share


def _draw_log_gamma(draws: Draws, alpha: float) -> Floats:
    """Logarithms of gamma variates by Marsaglia and Tsang's method (2000), the first try that fits.

    Below 1, by way of alpha + 1; the variates themselves would often be too small for a double.
    All tries are drawn at once, so that every sample uses the same number of draws.
    """
    if alpha == 1:
        smallest = np.finfo(np.float64).tiny
        exponential: Floats = np.log(np.maximum(-np.log1p(-draws.uniform()), smallest))
        return exponential
    boosted = alpha + 1 if alpha < 1 else alpha
    d = boosted - 1 / 3
    drawn = draws.units(3 * _TRIES + 1)
    radius, turn, judge = (1 - drawn[part:-1:3] for part in range(3))
    normal = np.sqrt(-2 * np.log(radius)) * np.cos(2 * math.pi * turn)
    cube = np.maximum(1 + normal / math.sqrt(9 * d), 1e-100) ** 3
    fits = np.log(judge) < 0.5 * normal**2 + d - d * cube + d * np.log(cube)
    first = fits.argmax(axis=0)
    log_gamma: Floats = np.log(d * cube[first, np.arange(cube.shape[1])])
    return log_gamma + np.log(1 - drawn[-1]) / alpha if alpha < 1 else log_gamma
