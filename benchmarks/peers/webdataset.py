"""WebDataset on local tar files, torchvision on Pillow doing the work on an image."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import webdataset

from benchmarks.case import Case
from benchmarks.peers.torchvision_pillow import from_bytes
from benchmarks.peers.torchvision_pillow import versions as versions_of_steps

label = "WebDataset + torchvision"

SHARDS = 8
BUFFER = 1000  # samples that are shuffled


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"WebDataset": version("webdataset"), **versions_of_steps()}


def write(case: Case, folder: Path, _cores: int) -> None:
    """Write the tar files."""
    for shard in range(SHARDS):
        with tarfile.open(folder / f"{shard:05d}.tar", "w") as out:
            for number in range(shard, len(case.paths), SHARDS):
                label = str(case.labels[number]).encode()
                content = Path(case.paths[number]).read_bytes()
                for ending, data in (("jpg", content), ("cls", label)):
                    member = tarfile.TarInfo(f"{number:08d}.{ending}")
                    member.size = len(data)
                    out.addfile(member, io.BytesIO(data))


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return WebDataset's own loader with a worker for each core."""
    torch.set_num_threads(1)
    # Shards drawn without end, as its documents advise for training; or each of them once.
    endless = case.repeats > 1
    files = [str(path) for path in sorted(Path(case.written).glob("*.tar"))]
    data = (
        webdataset.WebDataset(
            files,
            resampled=endless,
            shardshuffle=False if endless else len(files),
            seed=case.seed,
        )
        .shuffle(BUFFER)
        .to_tuple("jpg", "cls")
        .map_tuple(from_bytes(case), int)
        .batched(case.batch_size)
    )
    return webdataset.WebLoader(  # type: ignore[no-any-return]
        data, batch_size=None, num_workers=cores, persistent_workers=True
    )
