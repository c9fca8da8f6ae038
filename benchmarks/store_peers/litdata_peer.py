"""LitData: chunks are downloaded into a folder. It removes folders of TMPDIR: give it its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from benchmarks.store_peers.common import import_torchvision, main, make_transform


def read(name: str) -> dict[str, Any]:
    """Return what is stored of a sample."""
    return {"image": Path(name).read_bytes(), "label": 0}


def write(told: dict[str, Any]) -> None:
    """Write the chunks."""
    import_torchvision()  # which the library imports itself
    from litdata import optimize

    optimize(
        fn=read,
        inputs=told["files"],
        output_dir=told["target"],
        chunk_bytes=told["shard_bytes"],
        num_workers=1,
    )


def load(told: dict[str, Any]) -> Any:
    """Return the loader."""
    transform = make_transform()  # first, for the library imports torchvision itself
    from litdata import StreamingDataLoader, StreamingDataset
    from litdata.streaming import downloader

    # The server here has no TLS, which the library has no option for.
    downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = True  # noqa: SLF001

    class Photos(StreamingDataset):  # type: ignore[misc]
        def __getitem__(self, index: Any) -> Any:
            sample = super().__getitem__(index)
            return transform(sample["image"]), sample["label"]

    data = Photos(
        f"s3://{told['bucket']}/litdata",
        cache_dir=told["local"],
        shuffle=True,
        storage_options={
            "endpoint_url": os.environ["AWS_ENDPOINT_URL"],
            "aws_access_key_id": os.environ["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": os.environ["AWS_SECRET_ACCESS_KEY"],
        },
    )
    return StreamingDataLoader(data, batch_size=told["batch_size"], num_workers=told["workers"])


if __name__ == "__main__":
    main("litdata", write, load)
