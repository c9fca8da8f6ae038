"""MosaicML Streaming on local shards, torchvision on Pillow doing the work on an image."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader

from benchmarks.case import Case
from benchmarks.peers.torchvision_pillow import from_bytes  # before streaming, which imports it too
from benchmarks.peers.torchvision_pillow import versions as versions_of_steps

# isort: split
from streaming import MDSWriter, StreamingDataset
from streaming.base.util import clean_stale_shared_memory

label = "Streaming + torchvision"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"Streaming": version("mosaicml-streaming"), **versions_of_steps()}


def write(case: Case, folder: Path, _cores: int) -> None:
    """Write the shards."""
    columns = {"image": "bytes", "label": "int"}
    with MDSWriter(out=str(folder), columns=columns, exist_ok=True) as out:
        for path, label in zip(case.paths, case.labels, strict=True):
            out.write({"image": Path(path).read_bytes(), "label": label})


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    torch.set_num_threads(1)
    clean_stale_shared_memory()  # of a process that was killed
    transform = from_bytes(case)

    class Photos(StreamingDataset):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Any:
            sample = super().__getitem__(index)
            return transform(sample["image"]), sample["label"]

    return DataLoader(
        Photos(
            local=case.written,
            epoch_size=case.samples,
            shuffle=True,
            shuffle_seed=case.seed,
            batch_size=case.batch_size,
        ),
        batch_size=case.batch_size,
        num_workers=cores,
        persistent_workers=True,
    )
