"""Grain with a thread for each core, torchvision on Pillow doing the work on an image.

Its worker processes took half as much CPU time again, since they copy batches; Pillow and torch let
other threads run meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grain
import numpy as np

from benchmarks.case import Case, refuse_unless
from benchmarks.peers.torchvision_pillow import from_bytes
from benchmarks.peers.torchvision_pillow import versions as versions_of_steps

label = "Grain + torchvision"

READY = 2  # batches that a thread prepares ahead


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"Grain": version("grain"), **versions_of_steps()}


class Prepare:
    """From a sample's number to arrays."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._transform = from_bytes(case)

    def __call__(self, index: int) -> tuple[Any, int]:
        """Return image and label."""
        content = Path(self._case.paths[index]).read_bytes()
        image = np.ascontiguousarray(self._transform(content).numpy())
        return image, self._case.labels[index]


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a data set that never ends."""
    refuse_unless(not case.arrays, "Grain", "source of tiny images in memory")

    return (  # type: ignore[no-any-return]
        grain.MapDataset.range(len(case.paths))
        .shuffle(seed=case.seed)
        .repeat()
        .map(Prepare(case))
        .batch(case.batch_size)
        .to_iter_dataset(grain.ReadOptions(num_threads=cores, prefetch_buffer_size=READY * cores))
    )
