"""Figures in words: rates, shares, factors and times as people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

NO_BREAK = "\u00a0"  # a space that keeps a unit beside its figure
UNKNOWN = "–"  # noqa: RUF001 (a dash in a table)


def number(value: float) -> str:
    """Return a figure with three significant digits, or all of them before the point."""
    if not math.isfinite(value):
        return UNKNOWN
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 6)}f}"


def rate(images_per_s: float) -> str:
    """Return a rate with its unit."""
    return f"{number(images_per_s)} images/s"


def microseconds(value: float) -> str:
    """Return a time; below one microsecond it is not stated more precisely."""
    return "<1 µs" if 0 < value < 1 else f"{number(value)} µs"


def percent(share: float) -> str:
    """Return a share as a percentage."""
    if not math.isfinite(share):
        return UNKNOWN
    in_percent = 100 * share
    text = f"{in_percent:.1f}" if 0 < abs(in_percent) < 9.95 else f"{in_percent:.0f}"
    return f"{text}{NO_BREAK}%"


def factor(value: float) -> str:
    """Return how many times as much."""
    if not math.isfinite(value):
        return UNKNOWN
    return f"{value:.1f}×" if value >= 9.95 else f"{value:.2f}×"  # noqa: RUF001 (the sign itself)


def count(items: int, noun: str) -> str:
    """Return a number of things, with the noun in the plural where needed."""
    return f"{items:,} {noun}" if items == 1 else f"{items:,} {noun}s"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return names with commas: if they are many, the first ones and the number of the others."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def shortened(text: str, most: int) -> str:
    """Return text of at most `most` characters; the middle of a longer one is left out."""
    if len(text) <= most:
        return text
    front = (most - 1) // 2
    return f"{text[:front]}…{text[len(text) - (most - 1 - front) :]}"
