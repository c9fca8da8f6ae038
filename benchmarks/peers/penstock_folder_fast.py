"""penstock on the files, allowed to decode large photos at reduced size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.case import Case
from benchmarks.peers.penstock_pipeline import loader_on, versions

__all__ = ["batches", "label", "versions"]

label = 'penstock, folder, fidelity="fast"'


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a loader on the files."""
    return loader_on(list(case.paths), case, cores, labels=list(case.labels), fidelity="fast")
