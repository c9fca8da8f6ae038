"""Long series made shorter: neighbours become their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from penstock.results.records import Analysis, Steps, Utilisation

MOST_SAVED = 2_000  # values of a series that a page carries


def chunks(count: int, most: int) -> list[slice]:
    """Return at most `most` slices of equal length, but for the last, that cover `count` values."""
    size = -(-count // most)
    return [slice(at, min(at + size, count)) for at in range(0, count, size)] if count else []


def mean(values: Sequence[float]) -> float:
    """Return the mean of values, of which there is at least one."""
    return sum(values) / len(values)


def mean_busy(used: Utilisation, begin: float = 0.0) -> float:
    """Return the busy share over all intervals, the first of which starts at `begin`."""
    lengths = [max(right - left, 0.0) for left, right in pairwise((begin, *used.seconds))]
    total = sum(lengths)
    busy = sum(share * length for share, length in zip(used.busy, lengths, strict=True))
    return busy / total if total else 0.0


def thin_utilisation(used: Utilisation, most: int) -> Utilisation:
    """Return the same over longer intervals, if there are more than `most`."""
    begins = (0.0, *used.seconds[:-1])
    parts = chunks(len(used.seconds), most)
    return Utilisation(
        used.source,
        tuple(used.seconds[part.stop - 1] for part in parts),
        tuple(
            mean_busy(
                Utilisation(used.source, used.seconds[part], used.busy[part]), begins[part.start]
            )
            for part in parts
        ),
    )


def thin_for_saving(analysis: Analysis) -> Analysis:
    """Return an analysis whose series fit into a page."""
    used, steps = analysis.utilisation, analysis.steps
    if used is not None and len(used.seconds) > MOST_SAVED:
        used = thin_utilisation(used, MOST_SAVED)
    if steps is not None and len(steps.waited) > MOST_SAVED:
        parts = chunks(len(steps.waited), MOST_SAVED)
        steps = Steps(
            tuple(mean(steps.waited[part]) for part in parts),
            tuple(mean(steps.computed[part]) for part in parts),
        )
    return replace(analysis, utilisation=used, steps=steps)
