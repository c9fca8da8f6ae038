"""Tests of whether two samples come from one distribution; by chance they fail once in 100,000."""

from collections import Counter

import numpy as np


def assert_same_frequencies(drawn, expected):
    """Two-sample chi-square test of categories; those too rare to judge are counted together."""
    ours, theirs = Counter(drawn), Counter(expected)
    common = [key for key, count in (ours + theirs).items() if count >= 24]
    a, b = (
        np.array([counts[key] for key in common] + [sum(counts.values())], dtype=float)
        for counts in (ours, theirs)
    )
    a[-1] -= a[:-1].sum()
    b[-1] -= b[:-1].sum()
    if a[-1] + b[-1] < 24:
        a, b = a[:-1], b[:-1]
    ratio = np.sqrt(b.sum() / a.sum())
    statistic = ((ratio * a - b / ratio) ** 2 / (a + b)).sum()
    assert statistic < chi_square_limit(max(len(a) - 1, 1))


def assert_same_distribution(drawn, expected):
    """Two-sample Kolmogorov-Smirnov test of numbers."""
    both = np.union1d(drawn, expected)
    ours_below = np.searchsorted(np.sort(drawn), both, side="right") / len(drawn)
    theirs_below = np.searchsorted(np.sort(expected), both, side="right") / len(expected)
    critical = np.sqrt(-np.log(1e-5 / 2) / 2) * np.sqrt(1 / len(drawn) + 1 / len(expected))
    assert np.abs(ours_below - theirs_below).max() < critical


def chi_square_limit(degrees_of_freedom):
    """The value exceeded once in 100,000, by Wilson and Hilferty's approximation."""
    spread = 2 / (9 * degrees_of_freedom)
    return degrees_of_freedom * (1 - spread + 4.265 * np.sqrt(spread)) ** 3
