"""Every figure of an analysis under its name in JSON, for the table at the end of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LONGEST_LIST = 40  # longer ones are for programs


def flatten(values: Any, name: str = "") -> Iterable[tuple[str, str]]:
    """Yield the name and the value of each entry, however deep it lies."""
    if isinstance(values, Mapping):
        for key, value in values.items():
            yield from flatten(value, f"{name}.{key}" if name else f"{key}")
    elif isinstance(values, list | tuple):
        if len(values) > LONGEST_LIST:
            yield name, f"{len(values):,} values"
            return
        for i, value in enumerate(values):
            yield from flatten(value, f"{name}[{i}]")
    elif isinstance(values, float):
        yield name, f"{values:,.6g}"
    elif values is not None and values != "":
        yield name, f"{values}"
