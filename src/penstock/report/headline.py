"""The few figures that sum an analysis up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.results.records import Analysis, CoreRate


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


def _asked_about(rates: Sequence[CoreRate]) -> CoreRate | None:
    measured = [rate for rate in rates if rate.is_measured]
    if measured:
        return max(measured, key=lambda rate: rate.cores)
    return min(rates, key=lambda rate: rate.cores, default=None)
