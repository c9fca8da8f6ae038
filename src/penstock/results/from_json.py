"""Analyses from JSON, checked entry by entry: the file may come from anybody."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from penstock.errors import AnalysisError
from penstock.results.records import Analysis


def read_analysis(path: str) -> Analysis:
    """Return the analysis that `penstock analyze --json` wrote into a file."""
    try:
        with open(path, encoding="utf-8") as file:
            values = json.load(file)
    except OSError as error:
        raise AnalysisError(f"{path}: {error.strerror}. Check the path.") from error
    except (ValueError, RecursionError) as error:
        raise AnalysisError(
            f"{path}: not JSON ({error}). Give the file that `penstock analyze --json` wrote."
        ) from error
    try:
        return analysis_from_dict(values)
    except AnalysisError as error:
        raise AnalysisError(f"{path}: {error}") from error


def analysis_from_dict(values: Any) -> Analysis:
    """Return what `Analysis.to_dict` wrote, as an analysis again."""
    analysis: Analysis = _read(Analysis, values, "analysis")
    if analysis.utilisation is not None:
        _check_same_length("utilisation", analysis.utilisation, "seconds", "busy")
    if analysis.steps is not None:
        _check_same_length("steps", analysis.steps, "waited", "computed")
    return analysis


def _read(kind: Any, value: Any, where: str) -> Any:
    if kind is float:
        return _number(value, where)
    if kind in _PLAIN:
        is_right, expected = _PLAIN[kind]
        if not is_right(value):
            raise _wrong(expected, value, where)
        return value
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _read_enum(kind, value, where)
    if is_dataclass(kind):
        return _read_record(kind, value, where)
    origin = get_origin(kind)
    if origin in {Union, types.UnionType}:  # every union here is "or None"
        inner = next(option for option in get_args(kind) if option is not types.NoneType)
        return None if value is None else _read(inner, value, where)
    if origin is tuple:
        return _read_tuple(get_args(kind), value, where)
    if origin is Mapping:
        inner = get_args(kind)[1]
        entries = _mapping(value, where)
        return {name: _read(inner, entry, f"{where}.{name}") for name, entry in entries.items()}
    raise TypeError(f"{where}: no reader for {kind}")


def _read_record(kind: Any, value: Any, where: str) -> Any:
    entries = _mapping(value, where)
    known = {field.name: field for field in fields(kind)}
    unknown = sorted(entries.keys() - known.keys())
    if unknown:
        raise AnalysisError(
            f"{where}: unknown entry {unknown[0]!r}. A newer penstock may have written this; "
            "upgrade, or remove the entry."
        )
    for name, field in known.items():
        is_needed = field.default is MISSING and field.default_factory is MISSING
        if is_needed and name not in entries:
            raise AnalysisError(f"{where}: entry {name!r} is missing.")
    hints = get_type_hints(kind)
    return kind(
        **{name: _read(hints[name], entry, f"{where}.{name}") for name, entry in entries.items()}
    )


def _read_tuple(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _wrong("a list", value, where)
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(value) != len(kinds):
        raise AnalysisError(f"{where}: expected {len(kinds)} entries, got {len(value)}.")
    return tuple(
        _read(kind, entry, f"{where}[{i}]")
        for i, (kind, entry) in enumerate(zip(kinds, value, strict=True))
    )


def _read_enum(kind: type[Enum], value: Any, where: str) -> Enum:
    for member in kind:
        if member.value == value:
            return member
    known = ", ".join(repr(member.value) for member in kind)
    raise AnalysisError(f"{where}: must be one of {known}, got {value!r}.")


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong("an object", value, where)
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong("a number", value, where)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _wrong("a finite number", value, where)
    return number


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# What a plain value must be, and how to say so.
_PLAIN: Mapping[Any, tuple[Callable[[Any], bool], str]] = {
    str: (lambda value: isinstance(value, str), "text"),
    bool: (lambda value: isinstance(value, bool), "true or false"),
    int: (_is_whole, "a whole number of 0 or more"),
}


def _wrong(expected: str, value: Any, where: str) -> AnalysisError:
    got = repr(value)
    shown = got if len(got) <= 60 else f"{got[:60]}..."
    return AnalysisError(f"{where}: expected {expected}, got {shown}.")


def _check_same_length(where: str, record: Any, first: str, second: str) -> None:
    counts = len(getattr(record, first)), len(getattr(record, second))
    if counts[0] != counts[1]:
        raise AnalysisError(
            f"analysis.{where}: {counts[0]} entries in {first!r} but {counts[1]} in {second!r}."
        )
