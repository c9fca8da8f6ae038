"""penstock, in three ways of reading: windows of blocks, a cache, single records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.store_peers.common import MEAN, STD, run, settings


def write(told: dict[str, Any]) -> None:
    """Pack the files."""
    import penstock

    labels = [number % 1000 for number in range(len(told["files"]))]
    Path(told["target"]).mkdir(parents=True, exist_ok=True)
    penstock.pack(told["files"], Path(told["target"]) / "train.pen", labels=labels, progress=False)


def load(told: dict[str, Any]) -> Any:
    """Return the loader."""
    import penstock
    from penstock import transforms as T

    ways: dict[str, dict[str, Any]] = {
        "penstock, windows": {"sampling": penstock.WindowShuffle(16)},
        "penstock, cache": {"cache": told["local"], "cache_limit": "10 GB"},
        "penstock, single records": {},
    }
    crops = [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.Normalize(MEAN, STD)]
    return penstock.Loader(
        f"s3://{told['bucket']}/penstock/train.pen",
        batch_size=told["batch_size"],
        transform=T.Compose(crops),
        shuffle=True,
        threads=told["workers"],
        **ways[told["name"]],
    )


if __name__ == "__main__":
    asked = settings()
    if asked["do"] == "write":
        write(asked)
    else:
        import obstore  # noqa: F401  so that the clock does not count it
        import torch  # noqa: F401  the same

        from penstock import Loader, WindowShuffle, transforms  # noqa: F401  the same

        run(lambda: load(asked), asked)
