"""penstock reading the JPEG files as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.case import Case
from benchmarks.peers.penstock_pipeline import loader_on, versions

__all__ = ["batches", "label", "versions"]

label = "penstock, folder"


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a loader on the files."""
    return loader_on(list(case.paths), case, cores, labels=list(case.labels))
