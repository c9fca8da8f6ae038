"""WebDataset: tar files are streamed by curl; shards are shuffled, and samples within a buffer."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

from benchmarks.store_peers.common import main, make_transform

BUFFER = 1000  # samples that are shuffled


def write(told: dict[str, Any]) -> None:
    """Write the tar files."""
    target = Path(told["target"])
    target.mkdir(parents=True, exist_ok=True)
    shards: list[list[str]] = []
    held = told["shard_bytes"]
    for name in told["files"]:
        size = Path(name).stat().st_size
        if held + size > told["shard_bytes"]:
            shards.append([])
            held = 0
        shards[-1].append(name)
        held += size
    number = 0
    for shard, names in enumerate(shards):
        with tarfile.open(target / f"{shard:05d}.tar", "w") as out:
            for name in names:
                label = str(number % 1000).encode()
                for ending, data in (("jpg", Path(name).read_bytes()), ("cls", label)):
                    member = tarfile.TarInfo(f"{number:08d}.{ending}")
                    member.size = len(data)
                    out.addfile(member, io.BytesIO(data))
                number += 1


def load(told: dict[str, Any]) -> Any:
    """Return the loader."""
    import webdataset

    transform = make_transform()
    urls = [f"pipe:curl -s -f '{url}'" for url in told["urls"]]
    data = (
        webdataset.WebDataset(urls, shardshuffle=len(urls))
        .shuffle(BUFFER)
        .to_tuple("jpg", "cls")
        .map_tuple(transform, int)
        .batched(told["batch_size"])
    )
    return webdataset.WebLoader(data, batch_size=None, num_workers=told["workers"])


if __name__ == "__main__":
    main("webdataset", write, load)
