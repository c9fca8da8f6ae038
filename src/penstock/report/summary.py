"""The few figures that sum an analysis up, for the page and the terminal alike.

Figures that are not numbers (NaN), such as a rate of 0 / 0, are left out before drawing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from statistics import median
from typing import Any

from penstock.report import wording
from penstock.results.records import Analysis, CoreRate, Prediction

BEYOND_MEASURE = 1e15  # sums and products below it stay finite


@dataclass(frozen=True, slots=True)
class Headline:
    """The rates of the run that was asked about: on the most cores that were measured."""

    synthetic: float | None
    pipeline: CoreRate | None
    end_to_end: CoreRate | None


def headline(analysis: Analysis) -> Headline:
    """Return the rates that the verdict speaks of."""
    return Headline(
        synthetic=None if analysis.synthetic is None else analysis.synthetic.median,
        pipeline=_asked_about(analysis.pipeline),
        end_to_end=_asked_about(analysis.end_to_end),
    )


def speed_up(before: Analysis, after: Analysis) -> float | None:
    """Return how many times as fast training is after a change, if both were measured."""
    old, new = headline(before).end_to_end, headline(after).end_to_end
    if before.banner or after.banner:  # doubtful rates cannot be compared
        return None
    if old is None or new is None or old.rate.median <= 0:
        return None
    return new.rate.median / old.rate.median


def loader_speed_up(before: Analysis, after: Analysis) -> float | None:
    """Return how many times as much the loader alone gives after a change, on the same cores."""
    old, new = headline(before).pipeline, headline(after).pipeline
    if old is None or new is None or old.rate.median <= 0 or old.cores != new.cores:
        return None
    return new.rate.median / old.rate.median


def errors_told(predictions: Sequence[Prediction]) -> tuple[int, str]:
    """Return how many predictions were checked, and in words how far they were off."""
    errors = [entry.error for entry in predictions if entry.error is not None]
    if not errors:
        return 0, ""
    middle, worst = wording.percent(median(errors)), wording.percent(max(errors))
    return len(errors), f"off by {middle} in the median, {worst} at worst"


def _asked_about(rates: Sequence[CoreRate]) -> CoreRate | None:
    measured = [rate for rate in rates if rate.is_measured]
    if measured:
        return max(measured, key=lambda rate: rate.cores)
    return min(rates, key=lambda rate: rate.cores, default=None)


def finite_parts(analysis: Analysis) -> Analysis:
    """Return the analysis without the records that hold a figure which is not a finite number."""
    changes: dict[str, Any] = {}
    for field in fields(analysis):
        value = getattr(analysis, field.name)
        if isinstance(value, tuple):
            changes[field.name] = tuple(entry for entry in value if _is_finite(entry))
        elif isinstance(value, Mapping):
            changes[field.name] = {k: entry for k, entry in value.items() if _is_finite(entry)}
        elif not _is_finite(value):
            changes[field.name] = None  # only what may be missing holds figures on its own
    return replace(analysis, **changes)


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return abs(value) < BEYOND_MEASURE  # false for what is no number, too
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    if is_dataclass(value) and not isinstance(value, type):
        return _is_finite(asdict(value))
    return True
