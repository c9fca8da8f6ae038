"""LitData on local chunks, torchvision on Pillow doing the work on an image.

It removes folders of TMPDIR without asking: its process is given one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks.case import Case
from benchmarks.peers.torchvision_pillow import from_bytes  # before litdata, which imports it too
from benchmarks.peers.torchvision_pillow import versions as versions_of_steps

# isort: split
from litdata import ParallelStreamingDataset, StreamingDataLoader, StreamingDataset, optimize

label = "LitData + torchvision"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"LitData": version("litdata"), **versions_of_steps()}


def read(sample: tuple[str, int]) -> dict[str, Any]:
    """Return what is stored of a sample."""
    return {"image": Path(sample[0]).read_bytes(), "label": sample[1]}


def write(case: Case, folder: Path, cores: int) -> None:
    """Write the chunks."""
    optimize(
        fn=read,
        inputs=list(zip(case.paths, case.labels, strict=True)),
        output_dir=str(folder),
        chunk_bytes="64MB",
        num_workers=cores,
    )


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return LitData's own loader with a worker for each core."""
    torch.set_num_threads(1)
    transform = from_bytes(case)

    class Photos(StreamingDataset):  # type: ignore[misc]
        def __getitem__(self, index: Any) -> Any:
            sample = super().__getitem__(index)
            return transform(sample["image"]), sample["label"]

    data = Photos(case.written, shuffle=True, seed=case.seed)
    if case.repeats > 1:
        data = ParallelStreamingDataset([data], length=case.samples, transform=_only)
    return StreamingDataLoader(  # type: ignore[no-any-return]
        data, batch_size=case.batch_size, num_workers=cores, persistent_workers=True
    )


def _only(samples: tuple[Any, ...]) -> Any:
    return samples[0]
