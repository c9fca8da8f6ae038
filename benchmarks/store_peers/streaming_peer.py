"""MosaicML Streaming: shards are downloaded into a folder, samples are shuffled within blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.store_peers.common import import_torchvision, main, make_transform


def write(told: dict[str, Any]) -> None:
    """Write the shards."""
    import_torchvision()  # which the library imports itself
    from streaming import MDSWriter

    columns = {"image": "bytes", "label": "int"}
    with MDSWriter(out=told["target"], columns=columns, size_limit=told["shard_bytes"]) as out:
        for number, name in enumerate(told["files"]):
            out.write({"image": Path(name).read_bytes(), "label": number % 1000})


def load(told: dict[str, Any]) -> Any:
    """Return the loader."""
    transform = make_transform()  # first, for the library imports torchvision itself
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory
    from torch.utils.data import DataLoader

    clean_stale_shared_memory()  # of a process that was killed

    class Photos(StreamingDataset):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Any:
            sample = super().__getitem__(index)
            return transform(sample["image"]), sample["label"]

    data = Photos(
        remote=f"s3://{told['bucket']}/mds",
        local=told["local"],
        shuffle=True,
        batch_size=told["batch_size"],
    )
    return DataLoader(data, batch_size=told["batch_size"], num_workers=told["workers"])


if __name__ == "__main__":
    main("streaming", write, load)
