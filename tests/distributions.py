"""Whether two sets of numbers may have been drawn alike."""

import numpy as np


def assert_same_distribution(drawn, expected):
    """Two-sample Kolmogorov-Smirnov test; fails by chance once in 100,000 seeds."""
    both = np.union1d(drawn, expected)
    ours_below = np.searchsorted(np.sort(drawn), both, side="right") / len(drawn)
    theirs_below = np.searchsorted(np.sort(expected), both, side="right") / len(expected)
    critical = np.sqrt(-np.log(1e-5 / 2) / 2) * np.sqrt(1 / len(drawn) + 1 / len(expected))
    assert np.abs(ours_below - theirs_below).max() < critical
