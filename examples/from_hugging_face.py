"""Train on a data set of Hugging Face's library, with batches as its models take them.

Run:  python examples/from_hugging_face.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from datasets import ClassLabel, Dataset, Features, Image
from torch import Tensor, nn

import penstock as ps
from penstock import transforms as T

IMAGES = 48


def make_table(folder: Path) -> Dataset:
    """Make a table of photos, as `load_dataset` would return one."""
    files = sorted(Path(ps.make_sample_set(folder, images=IMAGES)).glob("*/*.jpg"))
    classes = sorted({file.parent.name for file in files})
    rows = {
        "image": [{"bytes": file.read_bytes(), "path": file.name} for file in files],
        "label": [classes.index(file.parent.name) for file in files],
    }
    return Dataset.from_dict(rows, Features({"image": Image(), "label": ClassLabel(names=classes)}))


class Model(nn.Module):
    """A classifier whose arguments are named as in Hugging Face's models."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(classes)
        )

    def forward(self, pixel_values: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        return nn.functional.cross_entropy(self.layers(pixel_values), labels)


def main() -> None:
    """Train for three epochs, on a part of the table."""
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        table = make_table(Path(folder)).shuffle(seed=1).select(range(40))
    loader = ps.Loader(
        table,
        batch_size=8,
        shuffle=True,
        transform=T.classification(64),
        as_dict={"image": "pixel_values", "label": "labels"},
    )
    print(loader)
    model = Model(len(loader.classes or ()))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        losses = []
        for batch in loader:
            loss = model(**batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}")


if __name__ == "__main__":
    main()
