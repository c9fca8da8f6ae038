"""penstock reading the same photos from one packed file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.case import Case
from benchmarks.peers.penstock_pipeline import (
    loader_on,
    packed_of,
    unpack,
    verify,
    verify_originals,
    versions,
    write,
)

__all__ = ["batches", "label", "unpack", "verify", "verify_originals", "versions", "write"]

label = "penstock, .pen"


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a loader on the packed file."""
    return loader_on(packed_of(case), case, cores)
