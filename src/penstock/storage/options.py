"""How a store is asked: how long, how often, how much at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from penstock.errors import LoaderError

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """How `Loader` and `pack` ask a store; the defaults suit buckets in the same region.

    - `attempts`: how often a request is tried. Between two attempts it waits about twice as long
      as before, from `first_backoff_s` up to `longest_backoff_s`, each time a random part of that.
    - `stall_s`: a request that brings no byte for so long has failed; `request_s`: so has one that
      takes longer in all.
    - `deadline_s`: a read with all its attempts ends after this time, with data or an error.
    - `in_flight`: requests at the same time, of one process.
    - `gap_bytes`: two ranges that are no further apart are read by one request.
    - `most_bytes`: larger ranges are read by several requests.
    """

    attempts: int = 10
    first_backoff_s: float = 0.1
    longest_backoff_s: float = 5.0
    stall_s: float = 10.0
    request_s: float = 60.0
    deadline_s: float = 180.0
    in_flight: int = 64
    gap_bytes: int = 64 << 10
    most_bytes: int = 16 << 20

    def __post_init__(self) -> None:
        for name in ("attempts", "in_flight", "most_bytes"):
            _require(name, getattr(self, name), 1, whole=True)
        _require("gap_bytes", self.gap_bytes, 0, whole=True)
        for name in ("first_backoff_s", "longest_backoff_s", "stall_s", "request_s", "deadline_s"):
            _require(name, getattr(self, name), 1e-3, whole=False)


def _require(name: str, value: Any, least: float, *, whole: bool) -> None:
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < 2**62:
        raise LoaderError(
            f"StorageOptions: {name} must be a {'whole ' if whole else ''}number from {least:g} "
            f"on, got {value!r}."
        )


def read_size(name: str, value: Any) -> int:
    """Read a number of bytes: a whole number, or a text such as "50 GB" or "1.5 GiB"."""
    size: int | None = None
    if isinstance(value, str):
        match = _SIZE.fullmatch(value)
        unit = None if match is None else _UNITS.get(match[2].lower())
        if match is not None and unit is not None:
            size = int(float(match[1]) * unit)
    elif isinstance(value, int) and not isinstance(value, bool):
        size = value
    if size is None or not 1 <= size < 2**62:
        raise LoaderError(
            f'{name} must be a number of bytes, such as 50_000_000_000 or "50 GB" (units: B, KB, '
            f"MB, GB, TB, KiB, MiB, GiB, TiB), got {value!r}."
        )
    return size
