"""Figures that are no numbers, such as a rate of nothing in no time, are not drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any

from penstock.results.records import Analysis

BEYOND_MEASURE = 1e15  # sums and products below it stay finite


def finite_parts(analysis: Analysis) -> Analysis:
    """Return the analysis without the records that hold a figure which is no number."""
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
