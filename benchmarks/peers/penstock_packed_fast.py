"""penstock on the packed file, allowed to decode large photos at reduced size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.case import Case
from benchmarks.peers.penstock_pipeline import loader_on, packed_of, versions, write

__all__ = ["batches", "label", "versions", "write"]

label = 'penstock, .pen, fidelity="fast"'


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a loader on the packed file."""
    return loader_on(packed_of(case), case, cores, fidelity="fast")
