"""Train on tar archives that webdataset wrote, with the batches that it would give.

Run:  python examples/webdataset_tars.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
import webdataset
from torch import nn

import penstock as ps
import penstock.webdataset
from penstock import transforms as T

IMAGES, SHARDS = 48, 3


def write_shards(folder: Path) -> str:
    """Write photos into archives, as a user of webdataset does; return their pattern."""
    files = sorted(Path(ps.make_sample_set(folder / "photos", images=IMAGES)).glob("*/*.jpg"))
    classes = sorted({file.parent.name for file in files})
    for shard in range(SHARDS):
        with webdataset.TarWriter(str(folder / f"train-{shard:03}.tar")) as writer:
            for file in files[shard::SHARDS]:
                writer.write(
                    {
                        "__key__": file.stem,
                        "jpg": file.read_bytes(),
                        "cls": classes.index(file.parent.name),
                        "json": {"class": file.parent.name},
                    }
                )
    return str(folder / f"train-{{000..{SHARDS - 1:03}}}.tar")


def main() -> None:
    """Train for three epochs, and look into one batch of dictionaries."""
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        shards = write_shards(Path(folder))
        loader = penstock.webdataset.loader(
            shards,
            keys=("jpg", "cls"),
            batch_size=8,
            shuffle=True,
            transform=T.classification(64),
        )
        print(loader)
        model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64 * 64, 8))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for epoch in range(3):
            losses = []
            for images, labels in loader:
                loss = nn.functional.cross_entropy(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}")
        loader.close()

        whole = penstock.webdataset.loader(shards, transform=T.Resize((64, 64)), batch_size=2)
        batch = next(iter(whole))
        print(f"keys: {', '.join(batch)}; {batch['__key__'][0]} is {batch['json'][0]}")
        whole.close()


if __name__ == "__main__":
    main()
