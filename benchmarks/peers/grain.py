"""Grain with a worker process for each core, torchvision on Pillow doing the work on an image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grain
import torch

from benchmarks.case import Case, refuse_unless
from benchmarks.peers.endless import Endless
from benchmarks.peers.torchvision_pillow import from_bytes
from benchmarks.peers.torchvision_pillow import versions as versions_of_steps

label = "Grain + torchvision"

READY = 2  # batches that a worker prepares ahead


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"Grain": version("grain"), **versions_of_steps()}


class Prepare:
    """From a sample's number to arrays; Grain's workers are sent it by pickle."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._transform: Any = None

    def __call__(self, index: int) -> tuple[Any, int]:
        """Return image and label."""
        if self._transform is None:  # in the worker
            torch.set_num_threads(1)
            self._transform = from_bytes(self._case)
        content = Path(self._case.paths[index]).read_bytes()
        return self._transform(content).numpy(), self._case.labels[index]


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return an iterator that goes on from pass to pass."""
    refuse_unless(not case.arrays, "Grain", "source of tiny images in memory")

    def make() -> Iterator[Any]:
        data = (
            grain.MapDataset.range(len(case.paths))
            .shuffle(seed=case.seed)
            .map(Prepare(case))
            .batch(case.batch_size, drop_remainder=False)
            .repeat()
            .to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=READY))
            .mp_prefetch(grain.MultiprocessingOptions(cores, per_worker_buffer_size=READY))
        )
        return iter(data)

    return Endless(make, len(case.paths), cores * (2 * READY + 1))
